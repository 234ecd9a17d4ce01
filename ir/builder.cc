#include "ir/builder.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "ir/dialects/builtin.h"
#include "ir/element/low_precision.h"
#include "ir/infer.h"

namespace weft::ir {
namespace {

template <class T>
std::vector<std::byte> BytesOf(T value) {
  std::vector<std::byte> bytes(sizeof(T));
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

// IEEE binary16, round to nearest even.
uint16_t ToHalf(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 16 & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);
  if (magnitude >= 0x47800000u) return static_cast<uint16_t>(sign | 0x7c00u);
  if (magnitude < 0x38800000u) {  // subnormal half: adding 0.5 puts the mantissa in place, rounded
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000u));
  }
  const uint32_t rounded = magnitude + 0xfffu + (magnitude >> 13 & 1u);
  return static_cast<uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
}

uint16_t ToBFloat16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>(bits >> 16 | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

template <typename T>
T Saturated(double value) {
  using Limits = std::numeric_limits<T>;
  if (std::isnan(value)) return 0;
  // 2^digits is the first number above, and unlike the largest one a double has it exactly.
  if (value >= std::ldexp(1.0, Limits::digits)) return Limits::max();
  if (value <= static_cast<double>(Limits::min())) return Limits::min();
  return static_cast<T>(value);
}

}  // namespace

std::vector<std::byte> ElementBytes(DataType dtype, double value) {
  switch (dtype) {
    case DataType::kF32:
      return BytesOf(static_cast<float>(value));
    case DataType::kF64:
      return BytesOf(value);
    case DataType::kF16:
      return BytesOf(ToHalf(static_cast<float>(value)));
    case DataType::kBF16:
      return BytesOf(ToBFloat16(static_cast<float>(value)));
    case DataType::kI8:
      return BytesOf(Saturated<int8_t>(value));
    case DataType::kU8:
      return BytesOf(Saturated<uint8_t>(value));
    case DataType::kI16:
      return BytesOf(Saturated<int16_t>(value));
    case DataType::kU16:
      return BytesOf(Saturated<uint16_t>(value));
    case DataType::kI32:
      return BytesOf(Saturated<int32_t>(value));
    case DataType::kU32:
      return BytesOf(Saturated<uint32_t>(value));
    case DataType::kI64:
      return BytesOf(Saturated<int64_t>(value));
    case DataType::kU64:
      return BytesOf(Saturated<uint64_t>(value));
    case DataType::kBool:
      return BytesOf(static_cast<uint8_t>(value != 0));
    default:
      if (IsLowPrecision(dtype)) return BytesOf(ToLowPrecision(dtype, value));
      return {};
  }
}

Builder::Builder(Program* program) : program_(program) {
  const Block body = program->body();
  if (const Operation end = body.Terminator()) {
    SetInsertionPoint(end);
  } else {
    SetInsertionPointToEnd(body);
  }
}

void Builder::SetInsertionPoint(Operation before) {
  block_ = before.block();
  before_ = before;
}
void Builder::SetInsertionPointAfter(Operation after) {
  block_ = after.block();
  before_ = after.next();
}
void Builder::SetInsertionPointToEnd(Block block) {
  block_ = block;
  before_ = Operation();
}
void Builder::SetInsertionPointToStart(Block block) {
  block_ = block;
  before_ = block.front();
}

Operation Builder::Create(OperationState state) {
  if (state.location.empty()) state.location = location_;
  const Operation op = Program::Mutator(program_).Create(state, block_, before_);
  if (listener_) listener_->OnInserted(op);
  return op;
}

bool Builder::TryCreate(OperationState state, size_t num_results, Operation* op,
                        std::string* error) {
  std::vector<Type> types;
  if (!InferResultTypes(context(), state, num_results, &types, error)) return false;
  for (Type& type : types)
    if (!type) type = context()->UnrankedTensorType(DataType::kNull);
  state.result_types = std::move(types);
  *op = Create(std::move(state));
  return true;
}

bool Builder::TryCreate(Opcode opcode, std::span<const Value> operands, AttrDict attrs,
                        Name location, std::span<Type> types, Operation* op, std::string* error) {
  if (!InferResultTypes(context(), opcode, operands, attrs, types, error)) return false;
  for (Type& type : types)
    if (!type) type = context()->UnrankedTensorType(DataType::kNull);
  *op = Program::Mutator(program_).Create(opcode, operands, attrs, types, block_, before_);
  if (location.empty()) location = location_;
  if (!location.empty()) program_->SetLocation(*op, location);
  if (listener_) listener_->OnInserted(*op);
  return true;
}

Operation Builder::CreateChecked(Opcode opcode, std::span<const Value> operands, AttrDict attrs,
                                 uint32_t num_regions, size_t num_results) {
  Operation op;
  std::string error;
  std::array<Type, 4> few;  // no memory is allocated for the usual op
  bool ok;
  if (num_regions == 0 && num_results <= few.size()) {
    ok =
        TryCreate(opcode, operands, attrs, Name(), std::span(few.data(), num_results), &op, &error);
  } else {
    ok = TryCreate({.opcode = opcode,
                    .operands = {operands.begin(), operands.end()},
                    .attrs = attrs,
                    .num_regions = num_regions},
                   num_results, &op, &error);
  }
  WEFT_CHECK(ok, error);
  return op;
}

Value Builder::Constant(Attribute dense) { return Make<ConstantOp>({}, {.value = dense}); }

Value Builder::ConstantInts(std::span<const int64_t> values) {
  const Type type = context()->TensorType(DataType::kI64, {static_cast<int64_t>(values.size())});
  return Constant(context()->DenseAttrOf(type, values));
}

Value Builder::ConstantScalar(DataType dtype, double value) {
  const Type type = context()->TensorType(dtype, std::span<const int64_t>());
  return Constant(context()->DenseAttr(type, ElementBytes(dtype, value)));
}

Value Builder::ConstantFilled(DataType dtype, std::span<const int64_t> dims, double value) {
  const Type type = context()->TensorType(dtype, dims);
  const auto element = ElementBytes(dtype, value);
  std::vector<std::byte> bytes;
  for (int64_t i = 0; i < type.NumElements(); ++i)
    bytes.insert(bytes.end(), element.begin(), element.end());
  return Constant(context()->DenseAttr(type, bytes));
}

Value Builder::ConstantFloats(std::span<const float> values, std::span<const int64_t> dims) {
  return Constant(context()->DenseAttrOf(context()->TensorType(DataType::kF32, dims), values));
}

Value Builder::AddInput(std::string_view name, Type type) {
  Program::Mutator mutator(program_);
  const Value argument = mutator.AddArgument(program_->body(), type);
  program_->SetName(argument, name);
  const Operation module = program_->module();
  Strings names = module.attrs_of<ModuleOp>().input_names.value_or(Strings());
  names.emplace_back(name);
  mutator.SetAttrs(
      module, context()->With(module.attrs(), Name("input_names"), context()->StringsAttr(names)));
  return argument;
}

void Builder::Return(std::vector<std::pair<std::string, Value>> outputs) {
  Strings names;
  OperationState state{.opcode = kOpcodeOf<ReturnOp>};
  for (auto& output : outputs) {
    names.push_back(std::move(output.first));
    state.operands.push_back(output.second);
  }
  SetInsertionPointToEnd(program_->body());
  const Operation end = Create(std::move(state));
  const Operation module = program_->module();
  Program::Mutator(program_).SetAttrs(
      module, context()->With(module.attrs(), Name("output_names"), context()->StringsAttr(names)));
  SetInsertionPoint(end);
}

}  // namespace weft::ir
