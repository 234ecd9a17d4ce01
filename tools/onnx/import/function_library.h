// The local functions of a model, checked: unique names, no recursion, bounded depth.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tuple>

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
};

// What a function is known by, and a node that calls it names.
struct FunctionKey {
  std::string domain;  // normal
  std::string name;
  std::string overload;  // since IR version 10
  bool operator<(const FunctionKey& other) const {
    return std::tie(domain, name, overload) < std::tie(other.domain, other.name, other.overload);
  }
};
FunctionKey KeyOfCall(const pb::NodeProto& node);

class FunctionLibrary {
 public:
  static absl::StatusOr<FunctionLibrary> Read(const pb::ModelProto& model,
                                              const ImportLimits& limits);
  // Null when the model defines no such function; an error when the node names an overload, which
  // nothing but a function has.
  absl::StatusOr<const LocalFunction*> Find(const pb::NodeProto& node) const;

 private:
  absl::Status CheckCalls(const FunctionKey& key, int depth, int max_depth,
                          std::map<FunctionKey, int>* height) const;
  std::map<FunctionKey, LocalFunction> functions_;
};

}  // namespace weft::onnx
