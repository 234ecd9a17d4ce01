#include "ir/dialects/onnx/control.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "ir/dialects/builtin.h"
#include "ir/dialects/onnx/infer/either.h"
#include "ir/dialects/onnx/infer/infer_util.h"

namespace weft::ir::ops {
namespace {

constexpr std::array<std::string_view, 2> kBranches = {"then_branch", "else_branch"};
constexpr std::array<std::string_view, 1> kBody = {"body"};

bool Refuse(std::string* error, std::string message) {
  *error = std::move(message);
  return false;
}

// The builtin.return of a region of one block; null where there is none.
Operation EndOf(Operation op, uint32_t region) {
  if (region >= op.num_regions() || op.region(region).empty()) return {};
  const Block block = op.region(region).front();
  const Operation end = block.next() ? Operation() : block.Terminator();
  return end && end.Is<ReturnOp>() ? end : Operation();
}

Type ReturnedType(Operation end, uint32_t i) {
  return i < end.num_operands() && end.operand(i) ? end.operand(i).type() : Type();
}

DataType KnownDtype(Type type) { return type.IsTensor() ? type.dtype() : DataType::kNull; }

// The element type of tensors must not change between the two places, nor a tensor become a sequence.
// What is an optional in one place may be its element in the other.
bool CheckKinds(Type from, Type to, std::string_view what, std::string* error) {
  if (!from || !to) return true;
  if (from.IsOptional()) return CheckKinds(from.element(), to, what, error);
  if (to.IsOptional()) return CheckKinds(from, to.element(), what, error);
  if (from.IsSequence() && to.IsSequence())
    return CheckKinds(from.element(), to.element(), what, error);
  const bool same = from.IsTensor() == to.IsTensor() && from.IsSequence() == to.IsSequence() &&
                    (KnownDtype(from) == KnownDtype(to) || KnownDtype(from) == DataType::kNull ||
                     KnownDtype(to) == DataType::kNull);
  // A type that is nothing but unknown may be anything.
  const auto unknown = [](Type t) {
    return t.IsTensor() && !t.HasRank() && t.dtype() == DataType::kNull;
  };
  if (same || unknown(from) || unknown(to)) return true;
  return Refuse(error,
                fmt::format("{} is {} but must be {}", what, from.ToString(), to.ToString()));
}

bool CheckElement(Type type, DataType want, std::string_view what, std::string* error) {
  if (!type) return true;
  if (!type.IsTensor() || (type.dtype() != DataType::kNull && type.dtype() != want))
    return Refuse(error, fmt::format("{} is {} but must be of {}", what, type.ToString(),
                                     DataTypeName(want)));
  return true;
}

// One block with that many arguments, which returns at least `returned` values, all given.
bool CheckRegion(Operation op, uint32_t i, size_t arguments, size_t returned, std::string* error) {
  const std::string_view name = RegionNames(op.opcode())[i];
  const Operation end = EndOf(op, i);
  if (!end)
    return Refuse(error, fmt::format("{} is not one block that ends in builtin.return", name));
  const Block block = op.region(i).front();
  if (block.num_arguments() != arguments)
    return Refuse(error, fmt::format("{} has {} arguments but needs {}", name,
                                     block.num_arguments(), arguments));
  if (end.num_operands() < returned)
    return Refuse(error, fmt::format("{} returns {} values but {} are needed", name,
                                     end.num_operands(), returned));
  for (uint32_t r = 0; r < end.num_operands(); ++r)
    if (!end.operand(r)) return Refuse(error, fmt::format("{} returns no value {}", name, r));
  return true;
}

uint32_t NumCarried(Operation loop) {
  return loop.num_operands() < Loop::kFirstCarried ? 0 : loop.num_operands() - Loop::kFirstCarried;
}

// Whether arguments `first`... of the body take, and its returned values `first_returned`... give,
// what the operands `first`... are.
bool CheckCarried(Operation op, uint32_t first, uint32_t count, uint32_t first_returned,
                  std::string* error) {
  const Operation end = EndOf(op, 0);
  const Block body = op.region(0).front();
  for (uint32_t k = 0; k < count; ++k) {
    if (!op.operand(first + k))
      return Refuse(error, fmt::format("operand {} is required but not given", first + k));
    const Type initial = op.operand(first + k).type();
    if (!CheckKinds(body.argument(first + k).type(), initial,
                    fmt::format("argument {} of body", first + k), error) ||
        !CheckKinds(ReturnedType(end, first_returned + k), initial,
                    fmt::format("value {} that body returns", first_returned + k), error))
      return false;
  }
  return true;
}

bool CheckResults(Operation op, std::string* error) {
  std::vector<Type> types(op.num_results());
  if (!InferFromRegions(op, types, error)) return false;
  for (uint32_t i = 0; i < types.size(); ++i)
    if (!Compatible(op.result(i).type(), types[i]))
      return Refuse(error, fmt::format("result {} is {} but its regions say {}", i,
                                       op.result(i).type().ToString(), types[i].ToString()));
  return true;
}

// --- Scan -----------------------------------------------------------------------

struct ScanCounts {
  uint32_t states = 0, inputs = 0;
};
bool CountsOf(int64_t num_scan_inputs, size_t num_operands, ScanCounts* counts,
              std::string* error) {
  if (num_scan_inputs < 1 || static_cast<uint64_t>(num_scan_inputs) > num_operands)
    return Refuse(error, fmt::format("num_scan_inputs is {}, expected 1 to {}, the operands",
                                     num_scan_inputs, num_operands));
  counts->inputs = static_cast<uint32_t>(num_scan_inputs);
  counts->states = static_cast<uint32_t>(num_operands) - counts->inputs;
  return true;
}

bool CheckList(const std::optional<Ints>& list, size_t size, bool is_direction,
               std::string_view name, std::string* error) {
  if (!list) return true;
  if (list->size() != size)
    return Refuse(error, fmt::format("{} has {} entries, expected {}", name, list->size(), size));
  for (const int64_t entry : *list)
    if (is_direction && entry != 0 && entry != 1)
      return Refuse(error, fmt::format("{} has the entry {}, expected 0 or 1", name, entry));
  return true;
}

// Entry i of a list of axes, from 0 to rank - 1.
bool AxisOf(const std::optional<Ints>& list, size_t i, size_t rank, int64_t* axis,
            std::string* error) {
  *axis = list && i < list->size() ? (*list)[i] : 0;
  if (*axis < -static_cast<int64_t>(rank) || *axis >= static_cast<int64_t>(rank))
    return Refuse(error, fmt::format("axis {} is outside of a tensor of rank {}", *axis, rank));
  *axis = NormalAxis(*axis, rank);
  return true;
}

// The size of the scanned axes; kUnknownDim when no input tells.
bool ScanLength(const Scan::Attrs<Plain>& attrs, std::span<const Type> inputs, int64_t* length,
                std::string* error) {
  *length = kUnknownDim;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].HasRank()) continue;
    int64_t axis;
    if (!AxisOf(attrs.scan_input_axes, i, inputs[i].rank(), &axis, error)) return false;
    const std::optional<int64_t> merged = MergeDim(*length, inputs[i].dims()[axis]);
    if (!merged)
      return Refuse(error, fmt::format("scan input {} has {} slices but another has {}", i,
                                       inputs[i].dims()[axis], *length));
    *length = *merged;
  }
  return true;
}

bool InferScan(Operation op, Operation end, std::span<Type> types, std::string* error) {
  const auto attrs = op.attrs_of<Scan>();
  ScanCounts counts;
  if (!CountsOf(attrs.num_scan_inputs, op.num_operands(), &counts, error)) return false;
  std::vector<Type> inputs;
  for (uint32_t i = 0; i < counts.inputs; ++i) {
    const Value value = op.operand(counts.states + i);
    inputs.push_back(value ? value.type() : Type());
  }
  int64_t length;
  if (!ScanLength(attrs, inputs, &length, error)) return false;
  for (uint32_t i = 0; i < types.size(); ++i) {
    const Type returned = ReturnedType(end, i);
    if (i < counts.states) {
      const Type initial = op.operand(i) ? op.operand(i).type() : Type();
      if (returned && !Compatible(initial, returned))
        return Refuse(error, fmt::format("state {} is {} and becomes {}", i, initial.ToString(),
                                         returned.ToString()));
      types[i] = Merge(op.context(), initial, returned);
    } else if (returned && returned.HasElement()) {
      return Refuse(error, fmt::format("scan output {} is {}, not a tensor", i - counts.states,
                                       returned.ToString()));
    } else if (returned.HasRank()) {
      Shape dims = returned.shape();
      int64_t axis;
      if (!AxisOf(attrs.scan_output_axes, i - counts.states, dims.size() + 1, &axis, error))
        return false;
      dims.insert(dims.begin() + axis, length);
      if (!IsCountable(dims) || dims.size() > kMaxRank)
        return Refuse(error, fmt::format("result {} is too large", i));
      types[i] = op.context()->TensorType(returned.dtype(), dims);
    } else if (returned.IsTensor()) {
      types[i] = returned;
    }
  }
  return true;
}

}  // namespace

std::span<const std::string_view> RegionNames(Opcode opcode) {
  if (opcode == kOpcodeOf<If>) return kBranches;
  if (opcode == kOpcodeOf<Loop> || opcode == kOpcodeOf<Scan> || opcode == kOpcodeOf<SequenceMap>)
    return kBody;
  return {};
}

bool InferFromRegions(Operation op, std::span<Type> types, std::string* error) {
  if (RegionNames(op.opcode()).empty()) return true;
  const Operation end = EndOf(op, 0);
  if (!end) return true;
  if (op.Is<Scan>()) return InferScan(op, end, types, error);
  if (op.Is<SequenceMap>()) {
    for (uint32_t i = 0; i < types.size(); ++i)
      if (const Type returned = ReturnedType(end, i); returned.IsTensor())
        types[i] = op.context()->SequenceType(returned);
    return true;
  }
  if (op.Is<If>()) {
    const Operation other = EndOf(op, 1);
    for (uint32_t i = 0; other && i < types.size(); ++i) {
      const Type a = ReturnedType(end, i), b = ReturnedType(other, i);
      if (!a || !b) continue;
      if (!CheckKinds(a, b, fmt::format("value {} of then_branch", i), error)) return false;
      types[i] = EitherType(op.context(), a, b);
    }
    return true;
  }
  const uint32_t carried = NumCarried(op);
  for (uint32_t i = 0; i < types.size(); ++i) {
    const Type returned = ReturnedType(end, i + 1);
    if (i < carried) {
      const Value initial = op.operand(Loop::kFirstCarried + i);
      if (initial && returned) types[i] = EitherType(op.context(), initial.type(), returned);
    } else if (returned && returned.HasElement()) {
      return Refuse(error, fmt::format("scan output {} is {}, not a tensor", i - carried,
                                       returned.ToString()));
    } else if (returned.HasRank()) {
      Shape dims = returned.shape();
      dims.insert(dims.begin(), kUnknownDim);
      if (dims.size() > kMaxRank)
        return Refuse(error, fmt::format("result {} has too many dimensions", i));
      types[i] = op.context()->TensorType(returned.dtype(), dims);
    } else if (returned.IsTensor()) {
      types[i] = returned;
    }
  }
  return true;
}

namespace {

// Of a condition or a trip count.
bool CheckOne(InferContext& c, size_t i, DataType dtype) {
  const Type type = c.operand_type(i);
  if (type && type.HasElement())
    return c.Fail(fmt::format("{} is {}, not a tensor", OperandName(c, i), type.ToString()));
  return CheckDtype(c, i, dtype) && CheckScalar(c, i);
}

}  // namespace

bool If::Infer(InferContext& c) { return CheckOne(c, 0, DataType::kBool) && c.Unknown(); }

bool If::Verify(Operation op, std::string* error) {
  for (uint32_t i = 0; i < 2; ++i)
    if (!CheckRegion(op, i, 0, op.num_results(), error)) return false;
  return CheckResults(op, error);
}

bool Loop::Infer(InferContext& c) {
  return CheckOne(c, 0, DataType::kI64) && CheckOne(c, 1, DataType::kBool) && c.Unknown();
}

bool Loop::Verify(Operation op, std::string* error) {
  const uint32_t carried = NumCarried(op);
  if (op.num_results() < carried)
    return Refuse(error, fmt::format("has {} results for {} values that are carried",
                                     op.num_results(), carried));
  if (!CheckRegion(op, 0, size_t{kFirstCarried} + carried, size_t{1} + op.num_results(), error))
    return false;
  const Block body = op.region(0).front();
  return CheckElement(body.argument(0).type(), DataType::kI64, "argument 0 of body", error) &&
         CheckElement(body.argument(1).type(), DataType::kBool, "argument 1 of body", error) &&
         CheckElement(ReturnedType(EndOf(op, 0), 0), DataType::kBool, "value 0 that body returns",
                      error) &&
         CheckCarried(op, kFirstCarried, carried, 1, error) && CheckResults(op, error);
}

bool Scan::Infer(InferContext& c) {
  if (!CheckTensors(c)) return false;
  const auto attrs = c.attrs_of<Scan>();
  std::string error;
  ScanCounts counts;
  if (!CountsOf(attrs.num_scan_inputs, c.num_operands(), &counts, &error) ||
      !CheckList(attrs.scan_input_axes, counts.inputs, false, "scan_input_axes", &error) ||
      !CheckList(attrs.scan_input_directions, counts.inputs, true, "scan_input_directions", &error))
    return c.Fail(std::move(error));
  std::vector<Type> inputs;
  for (uint32_t i = 0; i < counts.inputs; ++i) inputs.push_back(c.operand_type(counts.states + i));
  int64_t length;
  return ScanLength(attrs, inputs, &length, &error) ? c.Unknown() : c.Fail(std::move(error));
}

bool Scan::Verify(Operation op, std::string* error) {
  const auto attrs = op.attrs_of<Scan>();
  ScanCounts counts;
  if (!CountsOf(attrs.num_scan_inputs, op.num_operands(), &counts, error)) return false;
  if (op.num_results() < counts.states)
    return Refuse(error,
                  fmt::format("has {} results for {} states", op.num_results(), counts.states));
  if (!CheckRegion(op, 0, op.num_operands(), op.num_results(), error)) return false;
  const size_t outputs = EndOf(op, 0).num_operands() - counts.states;
  if (!CheckList(attrs.scan_output_axes, outputs, false, "scan_output_axes", error) ||
      !CheckList(attrs.scan_output_directions, outputs, true, "scan_output_directions", error) ||
      !CheckCarried(op, 0, counts.states, 0, error))
    return false;
  const Block body = op.region(0).front();
  for (uint32_t i = counts.states; i < op.num_operands(); ++i) {
    if (!op.operand(i))
      return Refuse(error, fmt::format("operand {} is required but not given", i));
    const DataType dtype = KnownDtype(op.operand(i).type());
    if (dtype != DataType::kNull &&
        !CheckElement(body.argument(i).type(), dtype, fmt::format("argument {} of body", i), error))
      return false;
  }
  return CheckResults(op, error);
}

bool SequenceMap::Infer(InferContext& c) {
  for (size_t i = 0; i < c.num_operands(); ++i) {
    const Type type = c.operand_type(i);
    const bool may_be_sequence =
        !type || type.kind() == TypeKind::kOpaque ||
        (type.IsTensor() && type.dtype() == DataType::kNull && !type.HasRank()) ||
        (type.IsSequence() && type.element().IsTensor());
    if (may_be_sequence || (i > 0 && type.IsTensor())) continue;
    return c.Fail(
        fmt::format("{} is {}, not a sequence of tensors", OperandName(c, i), type.ToString()));
  }
  return c.Unknown();
}

bool SequenceMap::Verify(Operation op, std::string* error) {
  if (!CheckRegion(op, 0, op.num_operands(), op.num_results(), error)) return false;
  const Block body = op.region(0).front();
  const Operation end = EndOf(op, 0);
  for (uint32_t i = 0; i < op.num_operands(); ++i) {
    if (!op.operand(i))
      return Refuse(error, fmt::format("operand {} is required but not given", i));
    const Type type = op.operand(i).type();
    if (!CheckKinds(body.argument(i).type(), type.IsSequence() ? type.element() : type,
                    fmt::format("argument {} of body", i), error))
      return false;
  }
  for (uint32_t i = 0; i < op.num_results(); ++i)
    if (const Type type = ReturnedType(end, i); type && type.HasElement())
      return Refuse(
          error, fmt::format("value {} that body returns is {}, not a tensor", i, type.ToString()));
  return CheckResults(op, error);
}

void LoadControlOps(IrContext& context) { AddOps<If, Loop, Scan, SequenceMap>(context); }

}  // namespace weft::ir::ops
