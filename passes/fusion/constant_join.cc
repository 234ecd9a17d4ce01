#include "passes/fusion/constant_join.h"

#include <cstring>

#include "ir/base/check.h"
#include "ir/context.h"

namespace weft::passes {
namespace {

// Of every part in turn one row, `rows` times.
ir::Attribute Interleave(std::span<const ir::Attribute> parts, size_t rows, ir::Type type) {
  size_t size = 0;
  for (const ir::Attribute part : parts) size += part.num_bytes();
  WEFT_CHECK(static_cast<int64_t>(size) == type.NumBytes(), "the parts must fill the constant");
  ir::IrContext* context = type.context();
  std::vector<std::byte> joined(size);
  size_t at = 0;
  for (size_t row = 0; row < rows; ++row)
    for (const ir::Attribute part : parts) {
      const size_t length = part.num_bytes() / rows;
      if (length == 0) continue;  // an empty part has no address
      std::memcpy(joined.data() + at, part.bytes().data() + row * length, length);
      at += length;
    }
  return context->DenseAttr(type, joined);
}

}  // namespace

ir::Attribute JoinConstants(std::span<const ir::Attribute> parts, size_t axis) {
  const ir::Type first = parts.front().dense_type();
  ir::Shape dims = first.shape();
  dims[axis] = 0;
  for (const ir::Attribute part : parts) dims[axis] += part.dense_type().dims()[axis];
  size_t rows = 1;
  for (size_t i = 0; i < axis; ++i) rows *= static_cast<size_t>(dims[i]);
  return Interleave(parts, rows, first.context()->TensorType(first.dtype(), dims));
}

ir::Attribute StackConstants(std::span<const ir::Attribute> parts, std::span<const int64_t> dims) {
  const ir::Type first = parts.front().dense_type();
  return Interleave(parts, 1, first.context()->TensorType(first.dtype(), dims));
}

}  // namespace weft::passes
