#include "tools/cli/shape_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "ir/analysis/shape_inference.h"
#include "ir/base/suggest.h"
#include "ir/dialects/builtin.h"
#include "ir/dim/dim_sizes.h"
#include "tools/cli/program_main.h"

namespace weft::tools {
namespace {

constexpr int64_t kMaxElements = int64_t{1} << 48;  // of an input: what no memory holds is a slip

absl::StatusOr<int64_t> ParseSize(const std::string& option, std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty() || value < 0)
    return ir::InvalidArgument(fmt::format("{}: '{}' is not a size", option, text));
  return value;
}

}  // namespace

void AddDimFlag(CLI::App& app, ShapeFlags* flags) {
  app.add_option("--dim", flags->dims, "the size of a symbolic dimension; repeatable")
      ->type_name("NAME=SIZE")
      ->allow_extra_args(false);
}

void AddInputShapeFlags(CLI::App& app, ShapeFlags* flags) {
  app.add_option("--input-shape", flags->input_shapes, "x=1x3x8 or x:1,3,8; repeatable")
      ->type_name("NAME=SHAPE")
      ->allow_extra_args(false);
  app.add_option("--overwrite-input-shape", flags->overwritten_shapes)
      ->type_name("NAME=SHAPE")
      ->allow_extra_args(false)
      ->group(kSameLine);
}

absl::StatusOr<ir::Shape> ParseShape(const std::string& option, const std::string& text) {
  ir::Shape shape;
  int64_t elements = 1;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find_first_of("x,", begin), text.size());
    WEFT_ASSIGN_OR_RETURN(const int64_t size,
                          ParseSize(option, std::string_view(text).substr(begin, end - begin)));
    if (size > 0 && elements > kMaxElements / size)
      return ir::InvalidArgument(fmt::format("{} {}: too many elements", option, text));
    elements *= std::max<int64_t>(size, 1);
    shape.push_back(size);
    begin = end + 1;
  }
  return shape;
}

namespace {

absl::StatusOr<std::pair<std::string, ir::Shape>> ParseInputShape(const std::string& option,
                                                                  const std::string& flag) {
  WEFT_ASSIGN_OR_RETURN(const auto assignment, SplitNamed(option, flag));
  WEFT_ASSIGN_OR_RETURN(ir::Shape shape, ParseShape(option, assignment.second));
  return std::pair(assignment.first, std::move(shape));
}

// What an input of this type and shape says of symbols.
absl::Status Learn(const std::string& option, const std::string& name, ir::Type type,
                   const ir::Shape& shape, ir::DimSizes* sizes) {
  if (!type.HasRank() || type.rank() != shape.size()) return absl::OkStatus();
  for (size_t i = 0; i < shape.size(); ++i)
    if (std::string why;
        ir::IsSymbolicDim(type.dims()[i]) && !sizes->Add(type.dims()[i], shape[i], &why))
      return ir::InvalidArgument(fmt::format("{} {}: {}", option, name, why));
  return absl::OkStatus();
}

// Sets the shapes of inputs that these flags give.
absl::Status SetShapes(bool overwrite, const std::vector<std::string>& flags,
                       const std::map<std::string, ir::Type>& types, ir::Program& program,
                       ir::DimSizes* sizes) {
  const std::string option = overwrite ? "--overwrite-input-shape" : "--input-shape";
  std::vector<std::string> names;
  for (const ProgramInput& input : InputsOf(program)) names.push_back(input.name);
  for (const std::string& flag : flags) {
    WEFT_ASSIGN_OR_RETURN(const auto input, ParseInputShape(option, flag));
    WEFT_RETURN_IF_ERROR(ir::CheckName("input", input.first, names));
    WEFT_RETURN_IF_ERROR(overwrite ? ir::OverwriteInputShape(program, input.first, input.second)
                                   : ir::SetInputShape(program, input.first, input.second));
    ir::DimSizes learnt = *sizes;
    const absl::Status status =
        Learn(option, input.first, types.at(input.first), input.second, &learnt);
    // What is overwritten may part inputs that shared a symbol.
    if (!status.ok() && overwrite) continue;
    WEFT_RETURN_IF_ERROR(status);
    *sizes = std::move(learnt);
  }
  return absl::OkStatus();
}

// What the flags say of dimensions, each once.
absl::Status ReadDims(const std::vector<std::string>& flags,
                      const std::vector<std::string>& symbols, ir::DimSizes* sizes) {
  std::set<std::string> given;
  for (const std::string& flag : flags) {
    WEFT_ASSIGN_OR_RETURN(const auto assignment, SplitAssignment("--dim", flag));
    WEFT_RETURN_IF_ERROR(ir::CheckName("dimension", assignment.first, symbols));
    if (!given.insert(assignment.first).second)
      return ir::InvalidArgument(fmt::format("dimension '{}' is given twice", assignment.first));
    WEFT_ASSIGN_OR_RETURN(const int64_t size, ParseSize("--dim", assignment.second));
    if (std::string why; !sizes->Add(ir::SymbolicDim(assignment.first), size, &why))
      return ir::InvalidArgument(fmt::format("--dim {}: {}", flag, why));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ApplyShapes(const ShapeFlags& flags, ir::Program& program) {
  if (flags.dims.empty() && flags.input_shapes.empty() && flags.overwritten_shapes.empty())
    return absl::OkStatus();
  std::map<std::string, ir::Type> types;
  for (const ProgramInput& input : InputsOf(program)) types.emplace(input.name, input.type);
  const std::vector<std::string> symbols = SymbolsOf(program);
  ir::DimSizes sizes;  // as all flags together say
  WEFT_RETURN_IF_ERROR(SetShapes(false, flags.input_shapes, types, program, &sizes));
  WEFT_RETURN_IF_ERROR(SetShapes(true, flags.overwritten_shapes, types, program, &sizes));
  WEFT_RETURN_IF_ERROR(ReadDims(flags.dims, symbols, &sizes));
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

}  // namespace weft::tools
