#include "tools/ir_opt/convert.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>

#include "ir/base/escape.h"
#include "ir/base/suggest.h"
#include "ir/builder.h"
#include "ir/walk.h"
#include "kernels/reference/reference.h"
#include "kernels/runtime/random_inputs.h"
#include "kernels/runtime/session.h"
#include "tools/cli/process.h"
#include "tools/cli/program_main.h"
#include "tools/cli/tables/table.h"
#include "tools/onnx/element_types.h"

namespace weft::tools {
namespace {

using kernels::Session;
using kernels::Tensor;
using kernels::TensorView;

constexpr uint64_t kSeed = 1;
// What bf16 came with for Conv, the pools, Resize and others; MatMul, Add and the like have it from 13.
constexpr int64_t kBf16Opset = 22;

bool IsOfDefaultDomain(ir::Operation op) {
  const ir::OpInfo* info = op.def() ? op.def()->info : nullptr;
  return info && !info->onnx.empty() && info->onnx_domain.empty();
}

// Of convert-floats; a pass that counted nothing of the kind gives 0.
uint64_t CountOf(const std::vector<passes::PassReport>& reports, std::string_view what) {
  uint64_t sum = 0;
  for (const passes::PassReport& report : reports)
    for (const auto& [name, count] : report.statistics)
      if (report.pass == "convert-floats" && name == what) sum += count;
  return sum;
}

// Operators of which some operand or result is f32 or f16 and cannot be `to` in `opset`.
std::set<std::string_view> WithoutType(ir::Program& program, ir::DataType to, int64_t opset) {
  std::set<std::string_view> names;
  ir::Walk(program, [&](ir::Operation op) {
    const auto check = [&](ir::Value value, bool is_result, uint32_t index) {
      if (!value || !value.type().IsTensor()) return;
      const ir::DataType dtype = value.type().dtype();
      if (dtype != ir::DataType::kF32 && dtype != ir::DataType::kF16) return;
      const ir::OpInfo& info = *op.def()->info;
      if (!onnx::TakesElementType({info.onnx, is_result, index}, to, opset))
        names.insert(info.onnx);
    };
    if (!IsOfDefaultDomain(op)) return;
    for (uint32_t i = 0; i < op.num_operands(); ++i) check(op.operand(i), false, i);
    for (uint32_t i = 0; i < op.num_results(); ++i) check(op.result(i), true, i);
  });
  return names;
}

// The same numbers as elements of another type.
absl::StatusOr<Tensor> WithType(const Tensor& tensor, ir::DataType dtype) {
  WEFT_ASSIGN_OR_RETURN(Tensor result,
                        Tensor::Create(dtype, {tensor.dims().begin(), tensor.dims().end()}));
  std::byte* to = result.view().data;
  for (const double value : kernels::reference::ReadDoubles(tensor.view()))
    for (const std::byte byte : ir::ElementBytes(dtype, value)) *to++ = byte;
  return result;
}

struct Run {
  std::unique_ptr<Session> session;
  std::vector<Tensor> outputs;
};

absl::StatusOr<std::vector<Tensor>> RunOn(Session& session, const std::vector<Tensor>& inputs) {
  std::vector<TensorView> views;
  for (size_t i = 0; i < inputs.size(); ++i)
    views.push_back(session.inputs()[i].default_value ? TensorView() : inputs[i].view());
  return session.Run(views);
}

// Both programs on the numbers that the inputs of `after` can hold.
absl::Status RunBoth(const ir::Program& before, const ir::Program& after, Run* a, Run* b) {
  WEFT_ASSIGN_OR_RETURN(a->session, Session::Create(before, {}));
  WEFT_ASSIGN_OR_RETURN(b->session, Session::Create(after, {}));
  WEFT_ASSIGN_OR_RETURN(const std::vector<Tensor> inputs,
                        kernels::RandomInputs(b->session->inputs(), kSeed));
  std::vector<Tensor> inputs_before;
  for (size_t i = 0; i < inputs.size(); ++i) {
    WEFT_ASSIGN_OR_RETURN(Tensor input, WithType(inputs[i], a->session->inputs()[i].type.dtype()));
    inputs_before.push_back(std::move(input));
  }
  WEFT_ASSIGN_OR_RETURN(a->outputs, RunOn(*a->session, inputs_before));
  WEFT_ASSIGN_OR_RETURN(b->outputs, RunOn(*b->session, inputs));
  return absl::OkStatus();
}

void AddRow(const std::string& name, const Tensor& before, const Tensor& after, Table* table) {
  if (before.dtype() == ir::DataType::kString)
    return table->AddRow(
        {name, std::ranges::equal(before.values<std::string>(), after.values<std::string>())
                   ? "the same strings"
                   : "other strings"});
  const std::vector<double> x = kernels::reference::ReadDoubles(before.view()),
                            y = kernels::reference::ReadDoubles(after.view());
  if (x.size() != y.size()) return table->AddRow({name, "another shape"});
  double largest = 0, difference = 0, relative = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i]))) continue;
    const double distance = std::fabs(x[i] - y[i]);
    difference = std::isnan(distance) ? INFINITY : std::max(difference, distance);
    relative = std::isnan(distance) || x[i] == 0 ? INFINITY
                                                 : std::max(relative, distance / std::fabs(x[i]));
  }
  for (const double value : x)
    if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
  table->AddRow({name, fmt::format("{:.4g}", largest), fmt::format("{:.3g}", difference),
                 largest > 0 ? fmt::format("{:.3g}", difference / largest) : "-",
                 fmt::format("{:.3g}", relative)});
}

absl::Status PrintDifferences(const ir::Program& before, const ir::Program& after) {
  Run a, b;
  WEFT_RETURN_IF_ERROR(RunBoth(before, after, &a, &b));
  Table table({"output", "largest", "difference", "of the largest", "of its element"});
  for (size_t i = 0; i < a.outputs.size(); ++i)
    AddRow(a.session->outputs()[i].name, a.outputs[i], b.outputs[i], &table);
  std::fputs(table.ToString(stderr).c_str(), stderr);
  return absl::OkStatus();
}

}  // namespace

void AddConvertFlags(CLI::App& app, ConvertFlags* flags) {
  app.add_option("--convert", flags->to, "to f16|bf16|f32; not inputs and outputs; not OPS")
      ->type_name("T");
  app.add_flag("--keep-io", flags->keep_io)->group(kSameLine);
  app.add_option("--keep", flags->keep)
      ->type_name("OPS")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(kSameLine);
}

absl::Status CheckConvertFlags(const ConvertFlags& flags) {
  const std::string types[] = {"f16", "bf16", "f32"};
  if (!flags.to.empty()) return ir::CheckName("type of --convert", flags.to, types);
  if (flags.keep_io || !flags.keep.empty())
    return ir::InvalidArgument("--keep-io and --keep need --convert");
  return absl::OkStatus();
}

std::string FlagsText(const ConvertFlags& flags) {
  std::string text = " --convert " + flags.to;
  if (flags.keep_io) text += " --keep-io";
  if (!flags.keep.empty())
    text += " --keep " + ShellWord(fmt::format("{}", fmt::join(flags.keep, ",")));
  return text;
}

int64_t OpsetToConvertIn(const ConvertFlags& flags, ir::Program& program, int64_t opset) {
  if (flags.to != "bf16" || opset >= kBf16Opset) return opset;
  std::set<std::string_view> without = WithoutType(program, ir::DataType::kBF16, opset);
  for (const std::string_view name : WithoutType(program, ir::DataType::kBF16, kBf16Opset))
    without.erase(name);
  if (without.empty()) return opset;
  PrintWarning("ir-opt", fmt::format("opset {} has no bf16 for {}, so the model is written with "
                                     "opset {}; see --target-opset",
                                     opset, fmt::join(without, ", "), kBf16Opset));
  return kBf16Opset;
}

std::optional<passes::ConvertFloatsOptions> Conversion::options() {
  passes::ConvertFloatsOptions options{.keep_io = flags_.keep_io, .keep = flags_.keep};
  if (!ir::ParseDataType(flags_.to, &options.to)) return std::nullopt;
  options.takes = [this](const ir::FloatSlot& slot) {
    if (!IsOfDefaultDomain(slot.op)) return true;
    const std::string_view name = slot.op.def()->info->onnx;
    if (onnx::TakesElementType({name, slot.is_result, slot.index}, slot.to, opset_)) return true;
    refused_.emplace(name);
    return false;
  };
  return options;
}

void Conversion::Report(const ir::Program& before, const ir::Program& after,
                        const std::vector<passes::PassReport>& reports) const {
  const auto count = [&](std::string_view what) { return CountOf(reports, what); };
  std::string text =
      fmt::format("{} operations converted to {}", count(passes::kConvertedOps), flags_.to);
  if (count(passes::kKeptOps) > 0)
    text += fmt::format(", {} kept as named", count(passes::kKeptOps));
  if (!refused_.empty())
    text += fmt::format("; opset {} has no {} for operands or results of {}", opset_, flags_.to,
                        fmt::join(refused_, ", "));
  std::fputs((text + "\n").c_str(), stderr);
  const auto warn = [&](uint64_t weights, std::string_view what, std::string_view now) {
    if (weights > 0)
      PrintWarning("ir-opt", fmt::format("{} weight{} too {} for {} became its {}", weights,
                                         weights == 1 ? "" : "s", what, flags_.to, now));
  };
  warn(count(passes::kClampedWeights), "large", "largest");
  warn(count(passes::kLostWeights), "small", "smallest");
  if (const absl::Status status = PrintDifferences(before, after); !status.ok())
    std::fputs(fmt::format("difference not measured: {}\n", ir::EscapeControl(ir::Message(status)))
                   .c_str(),
               stderr);
}

}  // namespace weft::tools
