// Where each long dense attribute lies in a program's side file. Printer and WriteWeights both ask
// for the layout, so that they agree without a word.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "ir/program.h"
#include "ir/text/printer.h"

namespace weft::ir::text {

// Whether the text form writes the elements of `dense` where it stands.
bool IsInline(Attribute dense, const PrintOptions& options);

class WeightLayout {
 public:
  // Contents of the program in text order, each once, aligned to 64 bytes.
  WeightLayout(Program& program, const PrintOptions& options);

  // The offset of contents that are not inline. They must be part of the program.
  uint64_t OffsetOf(Attribute dense) const;
  const std::vector<Attribute>& contents() const { return contents_; }  // by rising offset

 private:
  void Add(Attribute attr, const PrintOptions& options);
  using Key = std::pair<const std::byte*, size_t>;
  std::map<Key, uint64_t> offsets_;
  std::vector<Attribute> contents_;
  uint64_t end_ = 0;
};

}  // namespace weft::ir::text
