#include "ir/dialects/fused/normalization.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/dialects/fused/operands.h"
#include "ir/dialects/onnx.h"
#include "ir/dialects/onnx/infer/agreed.h"

namespace weft::ir::fused {

namespace {

// The sum is that of x and operand `residual`.
bool CheckSum(InferContext& c, size_t residual) {
  return c.num_results() < 2 || c.HasOperand(residual) || c.Fail("has no residual, so no sum");
}

// out and, where it is asked for, the sum.
std::vector<Value> WithSum(Value out, Value sum, size_t num_results) {
  return num_results < 2 ? std::vector{out} : std::vector{out, sum};
}

}  // namespace

bool MaskedSoftmax::Infer(InferContext& c) {
  DataType dtype;
  if (!CheckTensors(c) || !SameDtype(c, {0, 1}, &dtype) || !CheckFloat(c, 0) ||
      !CheckRank(c, 0, 1, SIZE_MAX))
    return false;
  const Dims dims = DimsOf(c, 0);
  return (!dims || CheckBroadcastsTo(c, 1, *dims)) && SetTensor(c, 0, dtype, dims);
}

std::vector<Value> MaskedSoftmax::Decompose(Builder& b, std::span<const Value> operands,
                                            const Attrs<Plain>&) {
  return {b.Make<ops::Softmax>({b.Make<ops::Add>({operands[0], operands[1]})}, {.axis = -1})};
}

bool LayerNorm::Infer(InferContext& c) {
  DataType dtype;
  if (!CheckTensors(c) || !SameDtype(c, {0, 1, 2, 3, 4}, &dtype) || !CheckFloat(c, 0) ||
      !CheckSum(c, 3))
    return false;
  Dims dims = DimsOf(c, 0);
  if (!dims) dims = DimsOf(c, 3);
  if (!dims) return SetTensor(c, 0, dtype, dims) && SetTensor(c, 1, dtype, dims);
  int64_t axis = c.attrs_of<LayerNorm>().axis;
  if (!NormalizeAxis(c, &axis, dims->size())) return false;
  if (!AgreeOnShape(c, 3, *dims)) return false;
  const auto last = std::span(*dims).subspan(static_cast<size_t>(axis));
  for (const size_t i : {1, 2, 4})
    if (!AgreeOnShape(c, i, last)) return false;
  return SetTensor(c, 0, dtype, dims) && SetTensor(c, 1, dtype, dims);
}

std::vector<Value> LayerNorm::Decompose(Builder& b, std::span<const Value> operands,
                                        const Attrs<Plain>& attrs, size_t num_results) {
  const Value sum = AddIfGiven(b, AddIfGiven(b, operands[0], operands, 3), operands, 4);
  std::vector<Value> inputs = {sum, operands[1]};
  if (const Value bias = OperandOrNull(operands, 2)) inputs.push_back(bias);
  const Value out =
      b.Make<ops::LayerNormalization>(inputs, {.axis = attrs.axis, .epsilon = attrs.epsilon});
  return WithSum(out, sum, num_results);
}

bool RmsNorm::Infer(InferContext& c) {
  DataType dtype;
  if (!CheckTensors(c) || !SameDtype(c, {0, 1, 2}, &dtype) || !CheckFloat(c, 0) ||
      !CheckRank(c, 0, 1, SIZE_MAX) || !CheckSum(c, 2))
    return false;
  Dims dims = DimsOf(c, 0);
  if (dims && (!AgreeOnShape(c, 2, *dims) || !AgreeOnShape(c, 1, std::span(*dims).last(1))))
    return false;
  return SetTensor(c, 0, dtype, dims) && SetTensor(c, 1, dtype, dims);
}

std::vector<Value> RmsNorm::Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs, size_t num_results) {
  const Value x = AddIfGiven(b, operands[0], operands, 2);
  const Value square = b.Make<ops::Mul>({x, x});
  const Value mean = b.Make<ops::ReduceMean>({square}, {.axes = Ints{-1}});
  const Value epsilon = b.ConstantScalar(x.type().dtype(), attrs.epsilon);
  const Value root = b.Make<ops::Sqrt>({b.Make<ops::Add>({mean, epsilon})});
  const Value out = b.Make<ops::Mul>({b.Make<ops::Div>({x, root}), operands[1]});
  return WithSum(out, x, num_results);
}

namespace {

// Operand i of a group_norm is [C, 1, ...] or [1, C, 1, ...], for an x of shape `dims`; or, with channels last,
// [C] with any number of 1 in front.
bool AgreeOnChannels(InferContext& c, size_t i, bool channels_last, std::span<int64_t> dims) {
  if (!c.HasOperand(i) || !c.Ranked(i)) return true;
  const size_t rank = c.operand_type(i).rank();
  if (channels_last ? rank < 1 || rank > dims.size()
                    : rank + 1 != dims.size() && rank != dims.size())
    return c.Fail(
        fmt::format("{} has rank {} but must have one element per channel of an x of "
                    "rank {}",
                    OperandName(c, i), rank, dims.size()));
  Shape expected(rank, 1);
  int64_t& channels = channels_last ? expected.back() : expected[rank + 1 - dims.size()];
  int64_t& of_x = channels_last ? dims.back() : dims[1];
  channels = of_x;
  if (!AgreeOnShape(c, i, expected)) return false;
  of_x = channels;
  return true;
}

}  // namespace

bool GroupNorm::Infer(InferContext& c) {
  DataType dtype;
  const auto attrs = c.attrs_of<GroupNorm>();
  if (!CheckTensors(c) || !SameDtype(c, {0, 1, 2}, &dtype) || !CheckFloat(c, 0) ||
      !CheckRank(c, 0, 2, SIZE_MAX) || !CheckActivation(c, attrs.activation, {}))
    return false;
  if (attrs.groups < 1) return c.Fail(fmt::format("groups is {}", attrs.groups));
  Dims dims = DimsOf(c, 0);
  if (!dims) return SetTensor(c, 0, dtype, dims);
  for (const size_t i : {1, 2})
    if (!AgreeOnChannels(c, i, attrs.channels_last, *dims)) return false;
  const int64_t channels = attrs.channels_last ? dims->back() : (*dims)[1];
  if (channels >= 0 && channels % attrs.groups != 0)
    return c.Fail(fmt::format("x has {} channels, which are no {} groups", channels, attrs.groups));
  return SetTensor(c, 0, dtype, dims);
}

namespace {
constexpr int64_t kMaxGroups = 1 << 20;  // of a body, which has constants of that size
}  // namespace

// As frameworks write it to ONNX, which knows groups from opset 18 on; with channels last between transposes.
std::vector<Value> GroupNorm::Decompose(Builder& b, std::span<const Value> operands,
                                        const Attrs<Plain>& attrs) {
  const Value x = operands[0];
  if (!x.type().HasRank() || attrs.groups > kMaxGroups) return {};
  if (attrs.channels_last) {
    const int64_t rank = x.type().rank();
    Ints to_front = {0, rank - 1}, to_end = {0}, column(static_cast<size_t>(rank - 1), 1);
    for (int64_t axis = 1; axis + 1 < rank; ++axis) to_front.push_back(axis);
    for (int64_t axis = 2; axis < rank; ++axis) to_end.push_back(axis);
    to_end.push_back(1);
    column[0] = -1;
    std::vector<Value> plain = {b.Make<ops::Transpose>({x}, {.perm = to_front})};
    for (const Value v : operands.subspan(1))
      plain.push_back(v ? b.Make<ops::Reshape>({v, b.ConstantInts(column)}) : v);
    const Value y = b.Make<GroupNorm>(
        plain, {.groups = attrs.groups, .epsilon = attrs.epsilon, .activation = attrs.activation});
    return {b.Make<ops::Transpose>({y}, {.perm = to_end})};
  }
  const bool fixed = x.type().IsStatic();
  const std::span<const int64_t> dims = x.type().dims();
  const bool is_empty = std::find(dims.begin(), dims.end(), 0) != dims.end();
  Ints grouped = {0, attrs.groups, -1};
  if (fixed) {
    int64_t rest = dims[1] / attrs.groups;
    for (size_t i = 2; i < dims.size(); ++i) rest *= dims[i];
    grouped = {dims[0], attrs.groups, rest};
  }
  const auto per_group = [&](float value) {
    return b.ConstantFilled(x.type().dtype(), Ints{attrs.groups}, value);
  };
  const Value normal = b.Make<ops::InstanceNormalization>(
      {b.Make<ops::Reshape>({x, b.ConstantInts(grouped)}, {.allowzero = fixed && is_empty}),
       per_group(1), per_group(0)},
      {.epsilon = attrs.epsilon});
  const Value shape = fixed ? b.ConstantInts(dims) : b.Make<ops::Shape>({x});
  // Else a size of 0 copies that of what is reshaped.
  const Value back = b.Make<ops::Reshape>({normal, shape}, {.allowzero = is_empty});
  const Value y = AddIfGiven(b, b.Make<ops::Mul>({back, operands[1]}), operands, 2);
  return {BuildActivation(b, y, attrs.activation, {})};
}

}  // namespace weft::ir::fused
