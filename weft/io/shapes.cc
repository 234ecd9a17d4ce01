#include "weft/io/shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "ir/analysis/shape_inference.h"
#include "ir/base/suggest.h"
#include "ir/dialects/builtin.h"
#include "ir/dim/dim_sizes.h"

namespace weft {
namespace {

constexpr int64_t kMaxElements = int64_t{1} << 48;  // of an input: what no memory holds is a slip

absl::Status CheckShape(const InputShape& shape) {
  int64_t elements = 1;
  for (const int64_t size : shape.dims) {
    if (size < 0)
      return ir::InvalidArgument(fmt::format("shape of '{}': {} is not a size", shape.input, size));
    if (size > 0 && elements > kMaxElements / size)
      return ir::InvalidArgument(fmt::format("shape of '{}': too many elements", shape.input));
    elements *= std::max<int64_t>(size, 1);
  }
  return absl::OkStatus();
}

// What an input of this type and shape says of symbols.
absl::Status Learn(const InputShape& shape, ir::Type type, ir::DimSizes* sizes) {
  if (!type.HasRank() || type.rank() != shape.dims.size()) return absl::OkStatus();
  for (size_t i = 0; i < shape.dims.size(); ++i)
    if (std::string why;
        ir::IsSymbolicDim(type.dims()[i]) && !sizes->Add(type.dims()[i], shape.dims[i], &why))
      return ir::InvalidArgument(fmt::format("shape of '{}': {}", shape.input, why));
  return absl::OkStatus();
}

absl::Status SetShapes(bool overwrite, const std::vector<InputShape>& shapes,
                       const std::map<std::string, ir::Type>& types, ir::Program& program,
                       ir::DimSizes* sizes) {
  std::vector<std::string> names;
  for (const ProgramInput& input : InputsOf(program)) names.push_back(input.name);
  for (const InputShape& shape : shapes) {
    WEFT_RETURN_IF_ERROR(ir::CheckName("input", shape.input, names));
    WEFT_RETURN_IF_ERROR(CheckShape(shape));
    WEFT_RETURN_IF_ERROR(overwrite ? ir::OverwriteInputShape(program, shape.input, shape.dims)
                                   : ir::SetInputShape(program, shape.input, shape.dims));
    ir::DimSizes learnt = *sizes;
    const absl::Status status = Learn(shape, types.at(shape.input), &learnt);
    // What is overwritten may part inputs that shared a symbol.
    if (!status.ok() && overwrite) continue;
    WEFT_RETURN_IF_ERROR(status);
    *sizes = std::move(learnt);
  }
  return absl::OkStatus();
}

// What is said of dimensions, each once.
absl::Status ReadDims(const std::vector<std::pair<std::string, int64_t>>& dims,
                      const std::vector<std::string>& symbols, ir::DimSizes* sizes) {
  std::set<std::string> given;
  for (const auto& [name, size] : dims) {
    WEFT_RETURN_IF_ERROR(ir::CheckName("dimension", name, symbols));
    if (!given.insert(name).second)
      return ir::InvalidArgument(fmt::format("dimension '{}' is given twice", name));
    if (size < 0)
      return ir::InvalidArgument(fmt::format("dimension {}={}: not a size", name, size));
    if (std::string why; !sizes->Add(ir::SymbolicDim(name), size, &why))
      return ir::InvalidArgument(fmt::format("dimension {}={}: {}", name, size, why));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ApplyShapes(const ShapeOptions& options, ir::Program& program) {
  if (options.dims.empty() && options.input_shapes.empty() && options.overwritten_shapes.empty())
    return absl::OkStatus();
  std::map<std::string, ir::Type> types;
  for (const ProgramInput& input : InputsOf(program)) types.emplace(input.name, input.type);
  const std::vector<std::string> symbols = SymbolsOf(program);
  ir::DimSizes sizes;  // as all options together say
  WEFT_RETURN_IF_ERROR(SetShapes(false, options.input_shapes, types, program, &sizes));
  WEFT_RETURN_IF_ERROR(SetShapes(true, options.overwritten_shapes, types, program, &sizes));
  WEFT_RETURN_IF_ERROR(ReadDims(options.dims, symbols, &sizes));
  const std::vector<std::string> open = SymbolsOf(program);
  for (const ir::DimBinding& binding : sizes.bindings()) {
    const std::string_view name = ir::SymbolName(binding.symbol);
    if (std::find(open.begin(), open.end(), name) != open.end())
      WEFT_RETURN_IF_ERROR(ir::SetDim(program, name, binding.size));
  }
  return ir::PropagateTypes(program);
}

std::vector<ProgramInput> InputsOf(ir::Program& program) {
  const auto names = program.module().attrs_of<ir::ModuleOp>().input_names;
  std::vector<ProgramInput> inputs;
  const ir::Block body = program.body();
  for (uint32_t i = 0; i < body.num_arguments(); ++i) {
    const bool named = names && i < names->size();
    inputs.push_back({named ? (*names)[i] : fmt::format("input_{}", i), body.argument(i).type()});
  }
  return inputs;
}

std::vector<std::string> SymbolsOf(ir::Program& program) {
  std::vector<int64_t> symbols;
  for (const ProgramInput& input : InputsOf(program)) {
    if (!input.type.HasRank()) continue;
    for (const int64_t dim : input.type.dims()) ir::DimExpr::OfDim(dim).CollectSymbols(&symbols);
  }
  std::set<std::string> names;
  for (const int64_t symbol : symbols) names.emplace(ir::SymbolName(symbol));
  return {names.begin(), names.end()};
}

}  // namespace weft
