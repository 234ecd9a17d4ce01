// One size that several operands have, for messages like "k has 3 heads but v has 2".
#pragma once

#include <string_view>

#include "ir/dialects/onnx/infer/infer_util.h"

namespace weft::ir {

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

}  // namespace weft::ir
