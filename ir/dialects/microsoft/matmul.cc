#include "ir/dialects/microsoft/matmul.h"

#include <fmt/format.h>

#include <numeric>

#include "ir/dialects/onnx/body.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/dialects/onnx/infer/indices.h"
#include "ir/dialects/onnx/infer/infer_util.h"
#include "ir/dialects/onnx/math.h"
#include "ir/dialects/onnx/matmul.h"
#include "ir/dialects/onnx/movement.h"
#include "ir/dialects/onnx/nn/activation.h"
#include "ir/dialects/onnx/nn/conv.h"

namespace weft::ir::microsoft {
namespace {

// How a transposed operand comes about; empty where it stays as it is.
Ints Permutation(size_t rank, bool batch, bool columns) {
  if (rank < 2 || (!batch && !columns)) return {};
  Ints perm(rank);
  std::iota(perm.begin(), perm.end(), int64_t{0});
  if (batch) std::rotate(perm.begin(), perm.begin() + 1, perm.end() - 1);
  if (columns) std::swap(perm[rank - 2], perm[rank - 1]);
  return perm;
}

}  // namespace

bool FusedMatMul::Infer(InferContext& c) {
  DataType dtype;
  const auto attrs = c.attrs_of<FusedMatMul>();
  if (!CheckTensors(c) || !SameDtype(c, {0, 1}, &dtype) || !CheckFloat(c, 0) ||
      !CheckRank(c, 0, 1, SIZE_MAX) || !CheckRank(c, 1, 1, SIZE_MAX))
    return false;
  Dims dims[2];
  for (size_t i : {0, 1}) {
    dims[i] = DimsOf(c, i);
    if (!dims[i]) return SetTensor(c, 0, dtype, std::nullopt);
    const bool batch = (i == 0 ? attrs.transBatchA : attrs.transBatchB) != 0;
    const Ints perm =
        Permutation(dims[i]->size(), batch, (i == 0 ? attrs.transA : attrs.transB) != 0);
    if (!perm.empty() && !PermuteDims(c, Shape(*dims[i]), perm, &dims[i])) return false;
  }
  Dims product;
  return MatMulDims(c, *dims[0], *dims[1], &product) && SetTensor(c, 0, dtype, product);
}

std::vector<Value> FusedMatMul::Decompose(Builder& b, std::span<const Value> operands,
                                          const Attrs<Plain>& attrs) {
  const auto transposed = [&](Value x, int64_t batch, int64_t columns) {
    const Ints perm = Permutation(x.type().rank(), batch != 0, columns != 0);
    return perm.empty() ? x : b.Make<ops::Transpose>({x}, {.perm = perm});
  };
  for (const Value x : operands)
    if (!x.type().HasRank() || ops::ElementTypeOf(x) == DataType::kNull) return {};
  const Value y = b.Make<ops::MatMul>({transposed(operands[0], attrs.transBatchA, attrs.transA),
                                       transposed(operands[1], attrs.transBatchB, attrs.transB)});
  return {ops::Scaled(b, y, attrs.alpha)};
}

// --- convolution --------------------------------------------------------------------

namespace {

size_t NumParams(std::optional<ConvActivation> activation) {
  if (!activation || *activation < ConvActivation::kLeakyRelu) return 0;
  return *activation == ConvActivation::kLeakyRelu ? 1 : 2;
}

}  // namespace

bool FusedConv::Infer(InferContext& c) {
  const auto attrs = c.attrs_of<FusedConv>();
  const size_t given = attrs.activation_params ? attrs.activation_params->size() : 0;
  if (given != NumParams(attrs.activation))
    return c.Fail(fmt::format("the activation takes {} activation_params but has {}",
                              NumParams(attrs.activation), given));
  DataType dtype;
  if (!CheckTensors(c) || !SameDtype(c, {0, 1, 2, 3}, &dtype)) return false;
  std::array<Type, 1> result;
  std::array<Value, 3> operands;
  for (size_t i = 0; i < operands.size(); ++i) operands[i] = c.operand(i);
  const size_t count = std::min<size_t>(c.num_operands(), operands.size());
  InferContext conv(c.context(), c.opcode(), std::span(operands.data(), count), c.attrs(), result);
  if (!ops::Conv::Infer(conv))
    return c.Fail(conv.error().substr(std::min(conv.error().size(), c.opcode().name().size() + 2)));
  if (!result[0].HasRank()) return SetTensor(c, 0, dtype, std::nullopt);
  return CheckShape(c, 3, result[0].dims()) && c.SetResult(0, result[0]);
}

std::vector<Value> FusedConv::Decompose(Builder& b, std::span<const Value> operands,
                                        const Attrs<Plain>& attrs) {
  ops::Conv::Attrs<BuilderSlot> same{.auto_pad = attrs.auto_pad, .group = attrs.group};
  if (attrs.dilations) same.dilations = *attrs.dilations;
  if (attrs.kernel_shape) same.kernel_shape = *attrs.kernel_shape;
  if (attrs.pads) same.pads = *attrs.pads;
  if (attrs.strides) same.strides = *attrs.strides;
  std::vector<Value> inputs = {operands[0], operands[1]};
  if (const Value bias = ops::OperandOrNull(operands, 2)) inputs.push_back(bias);
  Value y = b.Make<ops::Conv>(inputs, same);
  if (const Value z = ops::OperandOrNull(operands, 3)) y = b.Make<ops::Add>({y, z});
  const Floats params = attrs.activation_params.value_or(Floats());
  if (ops::ElementTypeOf(y) == DataType::kNull) return {};
  if (!attrs.activation) return {y};
  switch (*attrs.activation) {
    case ConvActivation::kRelu:
      return {b.Make<ops::Relu>({y})};
    case ConvActivation::kSigmoid:
      return {b.Make<ops::Sigmoid>({y})};
    case ConvActivation::kTanh:
      return {b.Make<ops::Tanh>({y})};
    case ConvActivation::kLeakyRelu:
      return {b.Make<ops::LeakyRelu>({y}, {.alpha = params[0]})};
    case ConvActivation::kClip:
      return {b.Make<ops::Clip>(
          {y, ops::ScalarLike(b, y, params[0]), ops::ScalarLike(b, y, params[1])})};
    case ConvActivation::kHardSigmoid:
      return {b.Make<ops::HardSigmoid>({y}, {.alpha = params[0], .beta = params[1]})};
  }
  return {};
}

// --- general matrix products -------------------------------------------------------

bool FusedGemm::Infer(InferContext& c) {
  return CheckTensors(c) && CheckFloat(c, 0) && ops::Gemm::Infer(c);
}

std::vector<Value> FusedGemm::Decompose(Builder& b, std::span<const Value> operands,
                                        const Attrs<Plain>& attrs) {
  const Value y = b.Make<ops::Gemm>(
      std::vector<Value>(operands.begin(), operands.end()),
      {.alpha = attrs.alpha, .beta = attrs.beta, .transA = attrs.transA, .transB = attrs.transB});
  if (!attrs.activation) return {y};
  if (ops::ElementTypeOf(y) == DataType::kNull) return {};
  const std::optional<float> alpha = attrs.activation_alpha, beta = attrs.activation_beta;
  switch (*attrs.activation) {
    case GemmActivation::kRelu:
      return {b.Make<ops::Relu>({y})};
    case GemmActivation::kSigmoid:
      return {b.Make<ops::Sigmoid>({y})};
    case GemmActivation::kTanh:
      return {b.Make<ops::Tanh>({y})};
    case GemmActivation::kSoftplus:
      return {b.Make<ops::Softplus>({y})};
    case GemmActivation::kSoftsign:
      return {b.Make<ops::Softsign>({y})};
    case GemmActivation::kLeakyRelu:
      return {b.Make<ops::LeakyRelu>({y}, {.alpha = alpha.value_or(0.01f)})};
    case GemmActivation::kElu:
      return {b.Make<ops::Elu>({y}, {.alpha = alpha.value_or(1)})};
    case GemmActivation::kThresholdedRelu:
      return {b.Make<ops::ThresholdedRelu>({y}, {.alpha = alpha.value_or(1)})};
    case GemmActivation::kHardSigmoid:
      return {b.Make<ops::HardSigmoid>(
          {y}, {.alpha = alpha.value_or(0.2f), .beta = beta.value_or(0.5f)})};
    case GemmActivation::kSelu:
      return {b.Make<ops::Selu>({y}, {.alpha = alpha.value_or(1.6732632f),
                                      .gamma = attrs.activation_gamma.value_or(1.050701f)})};
  }
  return {};
}

// --- weights of few bits -----------------------------------------------------------

namespace {

constexpr int64_t kMaxSize = INT32_MAX, kMaxWeights = int64_t{1} << 40;

struct Blocks {
  explicit Blocks(const MatMulNBits::Attrs<Plain>& attrs)
      : count((attrs.K + attrs.block_size - 1) / attrs.block_size),
        bytes(attrs.block_size * attrs.bits / 8),
        zero_bytes((count * attrs.bits + 7) / 8) {}
  int64_t count, bytes, zero_bytes;  // of a row; of a block; of the zero points of a row
};

// Fails when operand i is known to have another number of elements.
bool CheckElements(InferContext& c, size_t i, int64_t count) {
  const Dims dims = DimsOf(c, i);
  if (!dims) return true;
  const auto actual = ProductOf(*dims);
  if (actual && (!IsStaticDim(*actual) || *actual == count)) return true;
  return c.Fail(
      fmt::format("{} is {} but must have {} elements", OperandName(c, i), ToString(*dims), count));
}

bool CheckSizes(InferContext& c, const MatMulNBits::Attrs<Plain>& attrs) {
  if (attrs.bits != 2 && attrs.bits != 4 && attrs.bits != 8)
    return c.Fail(fmt::format("bits is {} but must be 2, 4 or 8", attrs.bits));
  for (const auto& [name, size] :
       {std::pair("K", attrs.K), {"N", attrs.N}, {"block_size", attrs.block_size}})
    if (size < 1 || size > kMaxSize) return c.Fail(fmt::format("{} is {}", name, size));
  if (Blocks(attrs).count > kMaxWeights / attrs.block_size / attrs.N)
    return c.Fail(fmt::format("{} times {} weights are too many", attrs.N, attrs.K));
  if (attrs.block_size % 8 != 0)
    return c.Fail(fmt::format("block_size is {}, no multiple of 8", attrs.block_size));
  return true;
}

// One for each of the columns, which may be filled up to whole blocks.
bool CheckGroups(InferContext& c, const MatMulNBits::Attrs<Plain>& attrs) {
  if (!CheckDtype(c, 4, DataType::kI32) || !CheckRank(c, 4, 1)) return false;
  const Dims dims = DimsOf(c, 4);
  const int64_t columns = Blocks(attrs).count * attrs.block_size;
  if (!dims || !IsStaticDim((*dims)[0]) || (*dims)[0] == attrs.K || (*dims)[0] == columns)
    return true;
  return c.Fail(fmt::format("g_idx is {} but K is {}", ToString(*dims), attrs.K));
}

}  // namespace

bool MatMulNBits::Infer(InferContext& c) {
  DataType dtype;
  if (!CheckTensors(c) || !SameDtype(c, {0, 2, 5}, &dtype) || !CheckFloat(c, 0) ||
      !CheckDtype(c, 1, DataType::kU8) || !CheckRank(c, 0, 1, SIZE_MAX))
    return false;
  for (std::string_view name : {"K", "N", "block_size"})
    if (!c.attrs().Get(name)) return c.Unknown();
  const auto attrs = c.attrs_of<MatMulNBits>();
  if (!CheckSizes(c, attrs)) return false;
  const Blocks blocks(attrs);
  const bool packed = DtypeOf(c, 3) == DataType::kU8;
  if (!packed && c.HasOperand(3) && !SameDtype(c, {0, 3}, &dtype)) return false;
  if (!CheckElements(c, 1, attrs.N * blocks.count * blocks.bytes) ||
      !CheckElements(c, 2, attrs.N * blocks.count) ||
      !CheckElements(c, 3, attrs.N * (packed ? blocks.zero_bytes : blocks.count)) ||
      !CheckGroups(c, attrs) || !CheckIndices(c, 4, blocks.count, "blocks") ||
      !CheckShape(c, 5, {&attrs.N, 1}))
    return false;
  Dims dims = DimsOf(c, 0);
  if (dims && !MergeDim(dims->back(), attrs.K))
    return c.Fail(fmt::format("a has {} columns but K is {}", dims->back(), attrs.K));
  if (dims) dims->back() = attrs.N;
  return SetTensor(c, 0, dtype, dims);
}

namespace {

// [rows, bytes] of u8 as [rows, bytes * 8 / bits] numbers of the type, low bits first.
Value Unpack(Builder& b, Value x, int64_t rows, int64_t bytes, int64_t bits, DataType dtype) {
  x = ops::ReshapeTo(b, x, {b.ConstantInts({rows, bytes})});
  std::vector<Value> parts;
  const auto number = [&](int64_t n) {
    return b.ConstantScalar(DataType::kU8, static_cast<double>(n));
  };
  for (int64_t shift = 0; shift < 8; shift += bits) {
    const Value high = shift == 0 ? x : b.Make<ops::Div>({x, number(int64_t{1} << shift)});
    const bool is_last = shift + bits == 8;
    const Value part = is_last ? high : b.Make<ops::Mod>({high, number(int64_t{1} << bits)});
    parts.push_back(ops::UnsqueezeAt(b, ops::CastTo(b, part, dtype), {2}));
  }
  const Value all = parts.size() == 1 ? parts[0] : b.Make<ops::Concat>(parts, {.axis = 2});
  return ops::ReshapeTo(b, all, {b.ConstantInts({rows, bytes * 8 / bits})});
}

// [N, blocks], or one number.
Value ZeroPoints(Builder& b, Value given, const MatMulNBits::Attrs<Plain>& attrs, DataType dtype) {
  const Blocks blocks(attrs);
  if (!given) return b.ConstantScalar(dtype, double(int64_t{1} << (attrs.bits - 1)));
  if (ops::ElementTypeOf(given) == DataType::kU8) {
    given = Unpack(b, given, attrs.N, blocks.zero_bytes, attrs.bits, dtype);
    given = ops::SliceOf(b, given, 0, blocks.count, 1);
  }
  return ops::ReshapeTo(b, given, {b.ConstantInts({attrs.N, blocks.count})});
}

// What each weight takes from x, [N, blocks] or one number: that of its block, or of the block that
// `groups` names for its column.
Value OfWeights(Builder& b, Value x, Value groups) {
  if (x.type().rank() == 0) return x;
  return groups ? b.Make<ops::Gather>({x, groups}, {.axis = 1}) : ops::UnsqueezeAt(b, x, {2});
}

}  // namespace

std::vector<Value> MatMulNBits::Decompose(Builder& b, std::span<const Value> operands,
                                          const Attrs<Plain>& attrs) {
  const DataType dtype = ops::ElementTypeOf(operands[0]);
  const Value zero_points = ops::OperandOrNull(operands, 3);
  Value groups = ops::OperandOrNull(operands, 4);
  if (dtype == DataType::kNull || attrs.weight_prepacked.value_or(0) != 0) return {};
  for (const Value v : {operands[1], operands[2], zero_points, groups})
    if (v && !v.type().IsStatic()) return {};
  const Blocks blocks(attrs);
  const int64_t columns = blocks.count * attrs.block_size;
  const auto first = [&](Value x, int64_t axis) {  // K of the columns
    if (x.type().dim(axis) == attrs.K) return x;
    return ops::SliceOf(b, x, 0, attrs.K, axis);
  };
  Value w = Unpack(b, operands[1], attrs.N, blocks.count * blocks.bytes, attrs.bits, dtype);
  if (groups) {
    w = first(w, 1);
    groups = first(groups, 0);
  } else {
    w = ops::ReshapeTo(b, w, {b.ConstantInts({attrs.N, blocks.count, attrs.block_size})});
  }
  w = b.Make<ops::Sub>({w, OfWeights(b, ZeroPoints(b, zero_points, attrs, dtype), groups)});
  const Value scales = ops::ReshapeTo(b, operands[2], {b.ConstantInts({attrs.N, blocks.count})});
  w = b.Make<ops::Mul>({w, OfWeights(b, scales, groups)});
  if (!groups) w = first(ops::ReshapeTo(b, w, {b.ConstantInts({attrs.N, columns})}), 1);
  const Value y = b.Make<ops::MatMul>({operands[0], b.Make<ops::Transpose>({w}, {.perm = {1, 0}})});
  const Value bias = ops::OperandOrNull(operands, 5);
  return {bias ? b.Make<ops::Add>({y, bias}) : y};
}

void LoadMatmulOps(IrContext& context) {
  AddOps<FusedMatMul, FusedConv, FusedGemm, MatMulNBits>(context);
}

}  // namespace weft::ir::microsoft
