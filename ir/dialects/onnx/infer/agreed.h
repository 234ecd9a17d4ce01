// Sizes that several operands share: where one leaves a size open another may state it, and a third
// contradict that.
#pragma once

#include <string_view>

#include "ir/dialects/onnx/infer/infer_util.h"

namespace weft::ir {

// One size, for messages like "k has 3 heads but v has 2".
class AgreedDim {
 public:
  explicit AgreedDim(std::string_view name) : name_(name) {}
  int64_t dim() const { return dim_; }
  // Fails when operand i, which has `dim` of it, contradicts those seen before.
  bool Add(InferContext& c, size_t i, int64_t dim);

 private:
  std::string_view name_;
  int64_t dim_ = kUnknownDim;
  size_t from_ = 0;
};

// CheckShape and CheckBroadcastsTo, after which `dims` holds the sizes that only operand i states, too.
bool AgreeOnShape(InferContext& c, size_t i, std::span<int64_t> dims);
bool AgreeOnBroadcast(InferContext& c, size_t i, std::span<int64_t> dims);

}  // namespace weft::ir
