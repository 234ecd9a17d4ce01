// The words of the vocabulary (vocabulary.h) with the functions that evaluate them: the one table.
#pragma once

#include <vector>

#include "drr/rule/evaluation.h"
#include "drr/rule/vocabulary.h"
#include "ir/base/function.h"

namespace weft::drr::internal {

using Holds = ir::Function<bool(const MatchContext&)>;
using Compute = ir::Function<ir::Attribute(const MatchContext&)>;

struct Entry {
  VocabularyEntry entry;
  Holds (*bind)(const FormulaArguments&) = nullptr;              // of a constraint
  Compute (*bind_attribute)(const FormulaArguments&) = nullptr;  // of a computed attribute
};

const std::vector<Entry>& Entries();

}  // namespace weft::drr::internal
