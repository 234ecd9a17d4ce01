#include "tools/cli/shape_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>

#include "tools/cli/program_main.h"
#include "weft/io/shapes.h"

namespace weft::tools {
namespace {

absl::StatusOr<int64_t> ParseSize(const std::string& option, std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty() || value < 0)
    return ir::InvalidArgument(fmt::format("{}: '{}' is not a size", option, text));
  return value;
}

// "1x3x224x224" or "1,3,224,224".
absl::StatusOr<ir::Shape> ParseShape(const std::string& option, const std::string& text) {
  ir::Shape shape;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find_first_of("x,", begin), text.size());
    WEFT_ASSIGN_OR_RETURN(const int64_t size,
                          ParseSize(option, std::string_view(text).substr(begin, end - begin)));
    shape.push_back(size);
    begin = end + 1;
  }
  return shape;
}

absl::Status ParseShapes(const std::string& option, const std::vector<std::string>& flags,
                         std::vector<InputShape>* shapes) {
  for (const std::string& flag : flags) {
    WEFT_ASSIGN_OR_RETURN(const auto assignment, SplitNamed(option, flag));
    WEFT_ASSIGN_OR_RETURN(ir::Shape dims, ParseShape(option, assignment.second));
    shapes->push_back({assignment.first, std::move(dims)});
  }
  return absl::OkStatus();
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

absl::Status ApplyShapes(const ShapeFlags& flags, ir::Program& program) {
  ShapeOptions options;
  WEFT_RETURN_IF_ERROR(ParseShapes("--input-shape", flags.input_shapes, &options.input_shapes));
  WEFT_RETURN_IF_ERROR(ParseShapes("--overwrite-input-shape", flags.overwritten_shapes,
                                   &options.overwritten_shapes));
  for (const std::string& flag : flags.dims) {
    WEFT_ASSIGN_OR_RETURN(const auto assignment, SplitAssignment("--dim", flag));
    WEFT_ASSIGN_OR_RETURN(const int64_t size, ParseSize("--dim", assignment.second));
    options.dims.emplace_back(assignment.first, size);
  }
  return weft::ApplyShapes(options, program);
}

}  // namespace weft::tools
