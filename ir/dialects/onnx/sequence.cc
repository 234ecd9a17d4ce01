#include "ir/dialects/onnx/sequence.h"

#include <fmt/format.h>

#include "ir/dialects/onnx/infer/either.h"
#include "ir/dialects/onnx/infer/infer_util.h"
#include "ir/dialects/onnx/infer/shape_value.h"

namespace weft::ir::ops {
namespace {

// Of a value that may be a tensor, a sequence or an optional.
bool NothingKnown(Type type) {
  return !type || type.kind() == TypeKind::kOpaque ||
         (type.IsTensor() && !type.HasRank() && type.dtype() == DataType::kNull);
}

// Fails when operand 0 is no sequence of tensors; *element is null when nothing is known of it.
bool CheckSequence(InferContext& c, Type* element) {
  const Type type = c.operand_type(0);
  *element = Type();
  if (NothingKnown(type)) return true;
  if (!type.IsSequence())
    return c.Fail(fmt::format("{} is {}, not a sequence", OperandName(c, 0), type.ToString()));
  if (!type.element().IsTensor())
    return c.Fail(
        fmt::format("{} is {}, not a sequence of tensors", OperandName(c, 0), type.ToString()));
  *element = type.element();
  return true;
}

bool CheckTensor(InferContext& c, size_t i) {
  const Type type = c.operand_type(i);
  if (NothingKnown(type) || type.IsTensor()) return true;
  return c.Fail(fmt::format("{} is {}, not a tensor", OperandName(c, i), type.ToString()));
}

bool CheckIndexTensor(InferContext& c, size_t i) { return CheckTensor(c, i) && CheckIndex(c, i); }
bool CheckPosition(InferContext& c, size_t i) {
  return CheckIndexTensor(c, i) && CheckScalar(c, i);
}

bool CheckFlag(InferContext& c, std::string_view name, int64_t value) {
  if (value == 0 || value == 1) return true;
  return c.Fail(fmt::format("{} is {}, expected 0 or 1", name, value));
}

bool SetSequence(InferContext& c, Type element) {
  if (NothingKnown(element)) return c.Unknown();
  return c.SetResult(0, c.context()->SequenceType(element));
}

}  // namespace

bool SequenceEmpty::Infer(InferContext& c) {
  const DataType dtype = c.attrs_of<SequenceEmpty>().dtype.value_or(DataType::kF32);
  if (dtype == DataType::kNull) return c.Fail("dtype is no element type");
  return SetSequence(c, c.context()->UnrankedTensorType(dtype));
}

bool SequenceConstruct::Infer(InferContext& c) {
  if (c.num_operands() == 0) return c.Fail("has no operands");
  DataType dtype;
  std::vector<size_t> all;
  for (size_t i = 0; i < c.num_operands(); ++i) {
    if (!CheckTensor(c, i)) return false;
    if (!c.HasOperand(i)) return c.Fail(fmt::format("{} is not given", OperandName(c, i)));
    all.push_back(i);
  }
  if (!SameDtype(c, all, &dtype)) return false;
  Type element = c.operand_type(0);
  for (const size_t i : all) {
    if (NothingKnown(c.operand_type(i))) return c.Unknown();
    element = EitherType(c.context(), element, c.operand_type(i));
  }
  return SetSequence(c, element);
}

bool SequenceInsert::Infer(InferContext& c) {
  Type element;
  if (!CheckSequence(c, &element) || !CheckTensor(c, 1) || !CheckPosition(c, 2)) return false;
  const Type tensor = c.operand_type(1);
  if (NothingKnown(element) || NothingKnown(tensor)) return c.Unknown();
  if (element.dtype() != tensor.dtype() && element.dtype() != DataType::kNull &&
      tensor.dtype() != DataType::kNull)
    return c.Fail(fmt::format("tensor is {} but input_sequence has elements of {}",
                              DataTypeName(tensor.dtype()), DataTypeName(element.dtype())));
  return SetSequence(c, EitherType(c.context(), element, tensor));
}

bool SequenceErase::Infer(InferContext& c) {
  Type element;
  return CheckSequence(c, &element) && CheckPosition(c, 1) && SetSequence(c, element);
}

bool SequenceAt::Infer(InferContext& c) {
  Type element;
  if (!CheckSequence(c, &element) || !CheckPosition(c, 1)) return false;
  return element ? c.SetResult(0, element) : c.Unknown();
}

bool SequenceLength::Infer(InferContext& c) {
  Type element;
  return CheckSequence(c, &element) && c.SetResult(0, DataType::kI64, {});
}

bool SplitToSequence::Infer(InferContext& c) {
  if (!CheckTensor(c, 0) || !CheckIndexTensor(c, 1) || !CheckRank(c, 1, 0, 1)) return false;
  const auto attrs = c.attrs_of<SplitToSequence>();
  if (!CheckFlag(c, "keepdims", attrs.keepdims)) return false;
  const DataType dtype = DtypeOf(c, 0);
  Dims dims = DimsOf(c, 0);
  if (c.HasOperand(1)) {
    if (const std::optional<Ints> sizes = KnownInts(c, 1))
      for (const int64_t size : *sizes)
        if (size < 0) return c.Fail(fmt::format("split has the entry {}", size));
  }
  if (dtype == DataType::kNull) return c.Unknown();
  if (!dims) return SetSequence(c, c.context()->UnrankedTensorType(dtype));
  int64_t axis = attrs.axis;
  if (!NormalizeAxis(c, &axis, dims->size())) return false;
  if (c.HasOperand(1)) {
    (*dims)[axis] = kUnknownDim;
  } else if (attrs.keepdims == 1) {
    (*dims)[axis] = 1;
  } else {
    dims->erase(dims->begin() + axis);
  }
  return SetSequence(c, c.context()->TensorType(dtype, *dims));
}

bool ConcatFromSequence::Infer(InferContext& c) {
  Type element;
  const auto attrs = c.attrs_of<ConcatFromSequence>();
  if (!CheckSequence(c, &element) || !CheckFlag(c, "new_axis", attrs.new_axis)) return false;
  if (!element) return c.Unknown();
  if (!element.HasRank()) return SetTensor(c, 0, element.dtype(), std::nullopt);
  Shape dims = element.shape();
  int64_t axis = attrs.axis;
  if (!NormalizeAxis(c, &axis, dims.size() + static_cast<size_t>(attrs.new_axis))) return false;
  if (attrs.new_axis == 1) {
    dims.insert(dims.begin() + axis, kUnknownDim);
  } else {
    dims[static_cast<size_t>(axis)] = kUnknownDim;
  }
  return SetTensor(c, 0, element.dtype(), dims);
}

bool OptionalOp::Infer(InferContext& c) {
  const auto attrs = c.attrs_of<OptionalOp>();
  const Type stated = attrs.type.value_or(Type()), given = c.operand_type(0);
  if (!attrs.type && !c.HasOperand(0)) return c.Fail("has neither an operand nor a type");
  if (given && stated && !Compatible(given, stated))
    return c.Fail(fmt::format("input is {} but type says {}", given.ToString(), stated.ToString()));
  const Type element = NothingKnown(given) ? stated : given;
  if (NothingKnown(element)) return c.Unknown();
  if (!element.IsTensor() && !element.IsSequence())
    return c.Fail(fmt::format("an optional of {}, expected a tensor or a sequence of tensors",
                              element.ToString()));
  return c.SetResult(0, c.context()->OptionalType(element));
}

bool OptionalGetElement::Infer(InferContext& c) {
  const Type type = c.operand_type(0);
  if (NothingKnown(type)) return c.Unknown();
  if (!type.IsTensor() && !type.HasElement())
    return c.Fail(fmt::format("input is {}, not an optional, sequence or tensor", type.ToString()));
  return c.SetResult(0, type.IsOptional() ? type.element() : type);
}

bool OptionalHasElement::Infer(InferContext& c) {
  const Type type = c.operand_type(0);
  if (!NothingKnown(type) && !type.IsTensor() && !type.HasElement())
    return c.Fail(fmt::format("input is {}, not an optional, sequence or tensor", type.ToString()));
  return c.SetResult(0, DataType::kBool, {});
}

void LoadSequenceOps(IrContext& context) {
  AddOps<SequenceEmpty, SequenceConstruct, SequenceInsert, SequenceErase, SequenceAt,
         SequenceLength, SplitToSequence, ConcatFromSequence, OptionalOp, OptionalGetElement,
         OptionalHasElement>(context);
}

}  // namespace weft::ir::ops
