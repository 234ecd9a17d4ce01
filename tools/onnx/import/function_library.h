// The local functions of a model, checked: unique names, no recursion, bounded depth.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/base/status.h"
#include "tools/onnx/limits.h"
#include "tools/onnx/proto/proto.h"

namespace weft::onnx {

// Operator set versions by (normal) domain.
class OpsetImports {
 public:
  // Repeated domains and versions below 1 are errors; ai.onnx outside 7..17 is unsupported.
  template <class List>
  static absl::StatusOr<OpsetImports> Read(const List& imports) {
    OpsetImports result;
    for (const auto& import : imports)
      WEFT_RETURN_IF_ERROR(result.Add(import.domain(), import.version()));
    return result;
  }
  // An error when the domain is not imported.
  absl::StatusOr<int64_t> Version(std::string_view domain) const;
  const std::map<std::string, int64_t, std::less<>>& versions() const { return versions_; }

 private:
  absl::Status Add(const std::string& domain, int64_t version);
  std::map<std::string, int64_t, std::less<>> versions_;
};

struct LocalFunction {
  const pb::FunctionProto* proto = nullptr;
  OpsetImports opsets;
  // Of attributes that a call may leave out (IR version 9; libonnx 1.12 has no field for them).
  std::vector<pb::AttributeProto> defaults;
};

class FunctionLibrary {
 public:
  static absl::StatusOr<FunctionLibrary> Read(const pb::ModelProto& model,
                                              const ImportLimits& limits);
  // Null when the model defines no such function.
  const LocalFunction* Find(std::string_view domain, std::string_view name) const;

 private:
  using Key = std::pair<std::string, std::string>;
  absl::Status CheckCalls(const Key& key, int depth, int max_depth,
                          std::map<Key, int>* height) const;
  std::map<Key, LocalFunction> functions_;
};

}  // namespace weft::onnx
