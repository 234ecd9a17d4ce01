#include "tools/ir_run/check_outputs.h"

#include <fmt/format.h>

#include <memory>

#include "ir/base/escape.h"
#include "ir/base/suggest.h"
#include "tools/cli/exit_code.h"
#include "tools/cli/values/tensors.h"
#include "weft/base/files.h"

namespace weft::tools {
namespace {

using kernels::RuntimeValue;
using kernels::TensorInfo;

constexpr const char* kReference = "reference";

std::optional<size_t> PlaceOf(const std::string& name, const std::vector<TensorInfo>& infos) {
  for (size_t i = 0; i < infos.size(); ++i)
    if (infos[i].name == name) return i;
  return std::nullopt;
}

}  // namespace

absl::Status CheckComparisonFlags(const ComparisonFlags& flags) {
  if (flags.tolerance && !(*flags.tolerance >= 0))
    return ir::InvalidArgument(
        fmt::format("--tolerance {}: expected a number of at least 0", *flags.tolerance));
  const std::string with[] = {kReference};
  if (flags.with.empty() || ModelFormatOf(flags.with).ok()) return absl::OkStatus();
  return ir::CheckName("comparison", flags.with, with);
}

absl::Status OutputCheck::Check(size_t output, const RuntimeValue& expected,
                                const std::string& with) {
  const std::string& name = runner_.output_infos()[output].name;
  WEFT_ASSIGN_OR_RETURN(const Comparison comparison,
                        Compare(name, runner_.outputs()[output], expected,
                                {.step = steps_[output], .tolerance = tolerance_}));
  compared_.push_back({name, comparison.relative, comparison.Text(with)});
  std::fprintf(lines_, "%s: %s\n", ir::EscapeControl(name).c_str(),
               ir::EscapeControl(compared_.back().text).c_str());
  disagreement_.Add(comparison);
  return absl::OkStatus();
}

absl::Status OutputCheck::WithReference(const ir::Program& original) {
  WEFT_ASSIGN_OR_RETURN(auto reference,
                        Runner::Create(original, {.threads = 1, .provider = kReference}));
  WEFT_RETURN_IF_ERROR(reference->Bind(inputs_));
  WEFT_RETURN_IF_ERROR(reference->Run());
  for (size_t i = 0; i < runner_.outputs().size(); ++i)
    WEFT_RETURN_IF_ERROR(Check(i, reference->outputs()[i], "the reference"));
  return absl::OkStatus();
}

absl::Status OutputCheck::WithModel(ir::IrContext& context, const std::string& path,
                                    const LoadOptions& load,
                                    const kernels::SessionOptions& options) {
  WEFT_ASSIGN_OR_RETURN(const auto program, LoadModel(context, path, load));
  WEFT_ASSIGN_OR_RETURN(auto other, Runner::Create(*program, options));
  std::vector<RuntimeValue> inputs;
  for (const TensorInfo& info : other->inputs()) {
    const auto place = PlaceOf(info.name, runner_.inputs());
    if (!place)
      return ir::InvalidArgument(
          fmt::format("{}: has an input '{}', which the model has not", path, info.name));
    inputs.push_back(inputs_[*place]);
  }
  for (const TensorInfo& info : runner_.output_infos())
    if (!PlaceOf(info.name, other->output_infos()))
      return ir::InvalidArgument(
          fmt::format("{}: has no output '{}', which the model has", path, info.name));
  WEFT_RETURN_IF_ERROR(ir::Annotate(other->Bind(inputs), path));
  WEFT_RETURN_IF_ERROR(ir::Annotate(other->Run(), path));
  for (size_t i = 0; i < runner_.outputs().size(); ++i) {
    const size_t place = *PlaceOf(runner_.output_infos()[i].name, other->output_infos());
    WEFT_RETURN_IF_ERROR(Check(i, other->outputs()[place], path));
  }
  return absl::OkStatus();
}

absl::Status OutputCheck::WithFiles(ir::IrContext& context, const std::vector<std::string>& files) {
  WEFT_ASSIGN_OR_RETURN(const auto expected, ReadExpected(context, runner_.output_infos(), files));
  for (size_t i = 0; i < expected.size(); ++i)
    if (expected[i]) WEFT_RETURN_IF_ERROR(Check(i, *expected[i], "what is expected"));
  return absl::OkStatus();
}

absl::Status OutputCheck::Verdict() const {
  return disagreement_.empty() ? absl::OkStatus() : CheckFailed("outputs " + disagreement_.Text());
}

}  // namespace weft::tools
