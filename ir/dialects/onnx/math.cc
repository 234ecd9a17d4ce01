#include "ir/dialects/onnx/math.h"

#include <fmt/format.h>

#include <map>

#include "ir/builder.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/dialects/onnx/infer/einsum.h"
#include "ir/dialects/onnx/infer/infer_util.h"
#include "ir/dialects/onnx/infer/shape_value.h"

namespace weft::ir::ops {
namespace {

bool CheckInteger(InferContext& c, size_t i) {
  const DataType dtype = DtypeOf(c, i);
  if (dtype == DataType::kNull || IsInteger(dtype)) return true;
  return c.Fail(
      fmt::format("{} is {} but must be an integer", OperandName(c, i), DataTypeName(dtype)));
}

bool InferIntegers(InferContext& c) {
  return CheckInteger(c, 0) && CheckInteger(c, 1) && BinaryNumberOp::Infer(c);
}

bool IsFloat8(DataType dtype) {
  return dtype == DataType::kF8E4M3FN || dtype == DataType::kF8E4M3FNUZ ||
         dtype == DataType::kF8E5M2 || dtype == DataType::kF8E5M2FNUZ;
}

bool InferPredicate(InferContext& c) {
  return CheckTensors(c) && (IsFloat8(DtypeOf(c, 0)) || CheckFloat(c, 0)) &&
         SetTensor(c, 0, DataType::kBool, DimsOf(c, 0));
}

}  // namespace

bool BitwiseNot::Infer(InferContext& c) { return CheckInteger(c, 0) && UnaryNumberOp::Infer(c); }
bool BitwiseAnd::Infer(InferContext& c) { return InferIntegers(c); }
bool BitwiseOr::Infer(InferContext& c) { return InferIntegers(c); }
bool BitwiseXor::Infer(InferContext& c) { return InferIntegers(c); }
bool IsNaN::Infer(InferContext& c) { return InferPredicate(c); }
bool IsInf::Infer(InferContext& c) { return InferPredicate(c); }

bool BitShift::Infer(InferContext& c) {
  for (size_t i : {0, 1}) {
    const DataType dtype = DtypeOf(c, i);
    if (dtype != DataType::kNull && dtype != DataType::kU8 && dtype != DataType::kU16 &&
        dtype != DataType::kU32 && dtype != DataType::kU64)
      return c.Fail(fmt::format("{} is {} but must be an unsigned integer", OperandName(c, i),
                                DataTypeName(dtype)));
  }
  return BinaryNumberOp::Infer(c);
}

bool Mod::Infer(InferContext& c) {
  const int64_t fmod = c.attrs_of<Mod>().fmod;
  if (fmod != 0 && fmod != 1) return c.Fail(fmt::format("fmod is {} but must be 0 or 1", fmod));
  if (fmod == 0 && IsFloat(DtypeOf(c, 0)))
    return c.Fail(fmt::format("x is {}, for which fmod must be 1", DataTypeName(DtypeOf(c, 0))));
  return BinaryNumberOp::Infer(c);
}

bool Mean::Infer(InferContext& c) {
  for (size_t i = 0; i < c.num_operands(); ++i)
    if (!CheckFloat(c, i)) return false;
  return BinaryNumberOp::Infer(c);
}

bool CastLike::Infer(InferContext& c) {
  return CheckTensors(c) && SetTensor(c, 0, DtypeOf(c, 1), DimsOf(c, 0));
}

std::vector<Value> CastLike::Decompose(Builder& b, std::span<const Value> operands,
                                       const Attrs<Plain>& attrs) {
  const Type target = operands[1].type();
  if (!target.IsTensor() || target.dtype() == DataType::kNull) return {};
  std::optional<int64_t> saturate;
  std::optional<ScaleRounding> round_mode;
  if (IsLowPrecision(target.dtype())) {
    if (attrs.saturate != 1) saturate = attrs.saturate;
    if (attrs.round_mode != ScaleRounding::kUp) round_mode = attrs.round_mode;
  }
  return {b.Make<Cast>({operands[0]}, {target.dtype(), saturate, round_mode})};
}

bool BitCast::Infer(InferContext& c) {
  if (!CheckTensors(c)) return false;
  if (!c.attrs().Get("to")) return c.Unknown();
  const DataType from = DtypeOf(c, 0), to = c.attrs_of<BitCast>().to;
  if (ElementBits(to) == 0) return c.Fail("to is no element type of a fixed size");
  if (from != DataType::kNull && ElementBits(from) != ElementBits(to))
    return c.Fail(fmt::format("x is {} but to is {}, which has another size", DataTypeName(from),
                              DataTypeName(to)));
  return SetTensor(c, 0, to, DimsOf(c, 0));
}

bool CumulativeOp::Infer(InferContext& c) {
  if (!CheckTensors(c) || !CheckNumber(c, 0) || !CheckScalar(c, 1) || !CheckIndex(c, 1))
    return false;
  const auto axis = KnownInts(c, 1);
  if (c.Ranked(0) && axis && axis->size() == 1) {
    int64_t value = axis->front();
    if (!NormalizeAxis(c, &value, c.operand_type(0).rank())) return false;
  }
  return SetSameAs(c, 0, 0);
}

bool Einsum::Infer(InferContext& c) {
  if (!CheckTensors(c)) return false;
  std::vector<size_t> all, ranks;
  bool ranked = true;
  for (size_t i = 0; i < c.num_operands(); ++i) {
    if (!CheckNumber(c, i)) return false;
    all.push_back(i);
    ranked &= c.Ranked(i);
    if (ranked) ranks.push_back(c.operand_type(i).rank());
  }
  DataType dtype;
  if (!SameDtype(c, all, &dtype)) return false;
  if (!c.attrs().Get("equation")) return c.Unknown();
  if (!ranked) return SetTensor(c, 0, dtype, std::nullopt);
  EinsumLabels labels;
  std::string error;
  if (!ReadEinsum(c.attrs_of<Einsum>().equation, ranks, &labels, &error)) return c.Fail(error);
  std::map<int, int64_t> sizes;
  for (size_t i : all) {
    const Dims dims = DimsOf(c, i);
    for (size_t d = 0; d < dims->size(); ++d) {
      const auto [it, is_new] = sizes.emplace(labels.operands[i][d], (*dims)[d]);
      const auto joint = BroadcastDim(it->second, (*dims)[d]);
      if (!joint)
        return c.Fail(fmt::format("dimension {} of {} is {} but its label stands for {}", d,
                                  OperandName(c, i), (*dims)[d], it->second));
      it->second = *joint;
    }
  }
  Shape result;
  for (int label : labels.result) result.push_back(sizes[label]);
  return SetTensor(c, 0, dtype, result);
}

bool Det::Infer(InferContext& c) {
  if (!CheckTensors(c) || !CheckFloat(c, 0) || !CheckRank(c, 0, 2, SIZE_MAX)) return false;
  Dims dims = DimsOf(c, 0);
  if (dims) {
    const size_t r = dims->size();
    if (!MergeDim((*dims)[r - 2], (*dims)[r - 1]))
      return c.Fail(fmt::format("x is {}, no square matrices", ToString(*dims)));
    dims->resize(r - 2);
  }
  return SetTensor(c, 0, DtypeOf(c, 0), dims);
}

void LoadMathOps(IrContext& context) {
  AddOps<Acos, Acosh, Asin, Asinh, Atan, Atanh, Cos, Cosh, Sin, Sinh, Tan, Ceil, Floor, Round, Sign,
         BitwiseNot, IsNaN, IsInf, Mod, Mean, BitwiseAnd, BitwiseOr, BitwiseXor, BitShift, CastLike,
         BitCast, CumSum, CumProd, Einsum, Det>(context);
}

}  // namespace weft::ir::ops
