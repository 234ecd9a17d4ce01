#include "ir/analysis/shape_inference.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/dialects/builtin.h"
#include "ir/dialects/onnx/control.h"
#include "ir/dialects/onnx/infer/infer_util.h"
#include "ir/dialects/pd/creation.h"
#include "ir/dim/dim_sizes.h"
#include "ir/infer.h"
#include "ir/rewriter.h"
#include "ir/walk.h"

namespace weft::ir {
namespace {

std::string Where(Operation op) {
  const std::string_view location = op.location().str();
  return location.empty() ? std::string(op.name()) : fmt::format("{} ({})", op.name(), location);
}

// The values of a program: block arguments and results, in regions too.
template <class F>
void VisitValues(Program& program, F&& visit) {
  const auto visit_arguments = [&](Operation op) {
    for (uint32_t i = 0; i < op.num_regions(); ++i)
      for (Block block : op.region(i).blocks())
        for (Value argument : block.arguments()) visit(argument);
  };
  visit_arguments(program.module());
  Walk(program, [&](Operation op) {
    for (Value result : op.results()) visit(result);
    visit_arguments(op);
  });
}

// `type` with f(dims) for its dims, in the elements of vectors too.
template <class F>
Type MapDims(IrContext* context, Type type, const F& f) {
  if (!type) return type;
  if (type.IsVector()) {
    std::vector<Type> elements;
    for (Type e : type.elements()) elements.push_back(MapDims(context, e, f));
    return context->VectorType(elements);
  }
  if (type.HasElement()) {
    const Type element = MapDims(context, type.element(), f);
    return type.IsSequence() ? context->SequenceType(element) : context->OptionalType(element);
  }
  return type.HasRank() ? f(type) : type;
}

// `type` with the symbol replaced.
Type ReplaceDim(IrContext* context, Type type, int64_t symbol, int64_t size) {
  const DimBinding binding[] = {{symbol, size}};
  return MapDims(context, type, [&](Type tensor) {
    Shape dims = tensor.shape();
    for (int64_t& dim : dims) dim = SubstituteDim(dim, binding);
    return context->TensorType(tensor.dtype(), dims);
  });
}

// `type` with nothing known of its shape.
Type WithoutShape(IrContext* context, Type type) {
  return MapDims(context, type,
                 [&](Type tensor) { return context->UnrankedTensorType(tensor.dtype()); });
}

bool IsCountableType(Type type) {
  if (type.HasRank()) return IsCountable(type.dims());
  if (type && type.HasElement()) return IsCountableType(type.element());
  if (!type.IsVector()) return true;
  const auto elements = type.elements();
  return std::all_of(elements.begin(), elements.end(), IsCountableType);
}

Value FindInput(Program& program, std::string_view name) {
  const auto names = program.module().attrs_of<ModuleOp>().input_names.value_or(Strings());
  for (uint32_t i = 0; i < program.body().num_arguments() && i < names.size(); ++i)
    if (names[i] == name) return program.body().argument(i);
  for (Operation op : program.body())
    if (op.Is<pd::Feed>() && op.num_results() == 1 && op.attrs_of<pd::Feed>().name == name)
      return op.result();
  return {};
}

// Ops with regions of their own say what follows from the operands alone.
bool InferTypesFromRegions(Operation op, std::span<Type> types, std::string* error) {
  std::vector<Type> returned(types.size());
  if (!ops::InferFromRegions(op, returned, error)) {
    *error = fmt::format("{}: {}", op.name(), *error);
    return false;
  }
  for (size_t i = 0; i < types.size(); ++i)
    if (returned[i]) types[i] = returned[i];
  return true;
}

}  // namespace

absl::Status RefineResultTypes(Operation op, Rewriter& rewriter) {
  const OpDef* def = op.def();
  if (!def || !def->infer) return absl::OkStatus();
  std::vector<Type> types(op.num_results());
  std::string error;
  if (!InferResultTypes(op.context(), op.opcode(), op.operands().vec(), op.attrs(), types,
                        &error) ||
      (op.num_regions() > 0 && !InferTypesFromRegions(op, types, &error))) {
    const std::string_view location = op.location().str();
    return InvalidArgument(location.empty() ? error : fmt::format("{}: {}", location, error));
  }
  for (uint32_t i = 0; i < op.num_results(); ++i) {
    const Type stated = op.result(i).type(), inferred = types[i];
    if (!inferred || stated == inferred) continue;
    if (!Compatible(stated, inferred))
      return InvalidArgument(fmt::format("{}: result {} is {} but its operands say {}", Where(op),
                                         i, stated.ToString(), inferred.ToString()));
    const Type merged = Merge(op.context(), inferred, stated);
    if (!(merged == stated)) rewriter.SetType(op.result(i), merged);
  }
  return absl::OkStatus();
}

absl::Status PropagateTypes(Program& program) {
  Rewriter rewriter(&program);
  absl::Status status;
  Walk(program, [&](Operation op) {
    if (status.ok()) status = RefineResultTypes(op, rewriter);
  });
  return status;
}

namespace {

// Fails where `dims` cannot be the shape of an input of this type. Sizes that are known may be
// others if they are to be overwritten. *sizes learns what symbols and expressions are then.
absl::Status CheckInputShape(Type type, std::string_view name, std::span<const int64_t> dims,
                             bool overwrite, DimSizes* sizes) {
  const auto refuse = [&](std::string_view why) {
    return InvalidArgument(fmt::format("input {} is {}: {}", name, type.ToString(), why));
  };
  if (!type.IsTensor()) return refuse("it has no shape");
  for (int64_t d : dims)
    if (!IsStaticDim(d)) return refuse(fmt::format("{} is no size", d));
  if (!IsCountable(dims)) return refuse(fmt::format("{} is too large", ToString(dims)));
  const bool ranked = type.HasRank();
  if (ranked && type.rank() != dims.size())
    return refuse(fmt::format("{} has another rank", ToString(dims)));
  for (size_t i = 0; ranked && i < dims.size(); ++i) {
    const int64_t d = type.dims()[i];
    if (IsStaticDim(d) && d != dims[i] && !overwrite)
      return refuse(fmt::format("dimension {} cannot be {}", i, dims[i]));
    const auto twin = std::find(type.dims().begin(), type.dims().end(), d) - type.dims().begin();
    if (IsSymbolicDim(d) && dims[static_cast<size_t>(twin)] != dims[i])
      return refuse(fmt::format("dimensions {} and {} are the same", twin, i));
    if (std::string why; IsSymbolicDim(d) && !sizes->Add(d, dims[i], &why)) return refuse(why);
  }
  return absl::OkStatus();
}

// Of results that are computed, and of the arguments of regions.
void ForgetShapes(Program& program) {
  Rewriter rewriter(&program);
  std::vector<Value> values;
  VisitValues(program, [&](Value value) { values.push_back(value); });
  for (const Value value : values) {
    const Operation op = value.DefiningOp();
    const bool is_input = op ? op.HasTrait(kConstantLike) || op.num_operands() == 0
                             : value.ParentBlock() == program.body();
    if (is_input) continue;
    const Type type = value.type(), forgotten = WithoutShape(program.context(), type);
    if (!(type == forgotten)) rewriter.SetType(value, forgotten);
  }
}

absl::Status GiveInputShape(Program& program, std::string_view name, std::span<const int64_t> dims,
                            bool overwrite) {
  const Value input = FindInput(program, name);
  if (!input) return NotFound(fmt::format("the program has no input {}", name));
  const Type type = input.type();
  DimSizes sizes;
  WEFT_RETURN_IF_ERROR(CheckInputShape(type, name, dims, overwrite, &sizes));
  const bool ranked = type.HasRank();
  bool contradicts = false;
  for (size_t i = 0; ranked && i < dims.size(); ++i)
    contradicts |= IsStaticDim(type.dims()[i]) && type.dims()[i] != dims[i];
  // Plain symbols first: expressions may follow from them.
  for (const bool expressions : {false, true})
    for (const DimBinding& binding : sizes.bindings()) {
      if (IsExpressionDim(binding.symbol) != expressions) continue;
      const Shape now = input.type().HasRank() ? input.type().shape() : Shape();
      if (!expressions || std::find(now.begin(), now.end(), binding.symbol) != now.end())
        WEFT_RETURN_IF_ERROR(SetDim(program, SymbolName(binding.symbol), binding.size));
    }
  Rewriter(&program).SetType(input, program.context()->TensorType(type.dtype(), dims));
  if (contradicts) ForgetShapes(program);
  return absl::OkStatus();
}

}  // namespace

absl::Status SetInputShape(Program& program, std::string_view name, std::span<const int64_t> dims) {
  return GiveInputShape(program, name, dims, false);
}

absl::Status OverwriteInputShape(Program& program, std::string_view name,
                                 std::span<const int64_t> dims) {
  return GiveInputShape(program, name, dims, true);
}

absl::Status SetDim(Program& program, std::string_view symbol, int64_t size) {
  if (!IsStaticDim(size)) return InvalidArgument(fmt::format("{} is no size for {}", size, symbol));
  const int64_t dim = SymbolicDim(symbol);
  std::vector<std::pair<Value, Type>> changes;
  absl::Status status;
  VisitValues(program, [&](Value value) {
    const Type type = value.type(), changed = ReplaceDim(program.context(), type, dim, size);
    if (changed == type) return;
    if (status.ok() && !IsCountableType(changed))
      status = InvalidArgument(fmt::format("with {} = {} a value of type {} is too large", symbol,
                                           size, type.ToString()));
    changes.emplace_back(value, changed);
  });
  WEFT_RETURN_IF_ERROR(status);
  if (changes.empty()) return NotFound(fmt::format("no type has a dimension {}", symbol));
  Rewriter rewriter(&program);
  for (const auto& [value, type] : changes) rewriter.SetType(value, type);
  return absl::OkStatus();
}

}  // namespace weft::ir
