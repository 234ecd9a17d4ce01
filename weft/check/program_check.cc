#include "weft/check/program_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "ir/base/escape.h"
#include "kernels/runtime/missing_kernels.h"
#include "kernels/runtime/registry.h"
#include "weft/base/check_failed.h"
#include "weft/check/extract.h"
#include "weft/check/random_run.h"

namespace weft {
namespace {

using drr::NumericClass;
using ir::Operation;
using kernels::RuntimeValue;
using kernels::Session;

constexpr double kApproximate = 1e-3;

// Without `missing`: what those read is returned behind the outputs, and what they make is given
// behind the inputs.
absl::StatusOr<std::unique_ptr<ir::Program>> Cut(ir::Program& program,
                                                 const std::vector<Operation>& missing) {
  const Operation end = program.body().Terminator();
  if (!end) return ir::Unsupported("check: a program without builtin.return cannot be cut");
  Extraction extraction{.ops = {}, .outputs = {}, .inputs = program.body().arguments().vec()};
  for (const Operation op : program.body())
    if (!(op == end) && std::find(missing.begin(), missing.end(), op) == missing.end())
      extraction.ops.push_back(op);
  const auto names = program.module().attr("output_names");
  for (uint32_t i = 0; i < end.num_operands(); ++i)
    extraction.outputs.emplace_back(names.Is(ir::AttrKind::kStrings) && i < names.AsStrings().size()
                                        ? std::string(names.AsStrings()[i])
                                        : fmt::format("output{}", i),
                                    end.operand(i));
  for (size_t i = 0; i < missing.size(); ++i) {
    for (const ir::Value result : missing[i].results()) extraction.inputs.push_back(result);
    for (const ir::Value value : ValuesReadBy(missing[i]))
      extraction.outputs.emplace_back(
          fmt::format("operand {} of {}", extraction.outputs.size() - end.num_operands(),
                      missing[i].name()),
          value);
  }
  return Extract(program, extraction);
}

// Whether `b` says more of what is wrong than `a`.
bool IsWorse(const Comparison& a, const Comparison& b) {
  if (a.agrees != b.agrees) return a.agrees;
  if (a.steps && b.steps) return b.steps->largest > a.steps->largest;
  return b.relative > a.relative;
}

// kNull for what is no tensor.
std::vector<ir::DataType> ElementTypesOf(Operation op) {
  std::vector<ir::DataType> types;
  for (const ir::Value result : op.results())
    types.push_back(result.type().IsTensor() ? result.type().dtype() : ir::DataType::kNull);
  return types;
}

}  // namespace

kernels::SessionOptions ProgramCheck::Options() const {
  return {.threads = threads_, .provider = IsExact() ? "reference" : "auto"};
}

std::string ProgramCheck::Contract() const {
  const std::string name(drr::NumericClassName(numerics_));
  if (numerics_ == NumericClass::kChangesMeaning && !tolerance_)
    return name + ": differences are told, not judged";
  if (tolerance_)
    return fmt::format("{}: {:g} of the largest element is allowed", name, *tolerance_);
  switch (numerics_) {
    case NumericClass::kExact:
      return name + ": bit for bit, on reference kernels";
    case NumericClass::kApproximate:
      return fmt::format("{}: {:g} of the largest element is allowed", name, kApproximate);
    default:
      return name +
             ": allowed of the largest element are 5e-06 in f32, 1e-3 in f16, 8e-3 in bf16, "
             "nothing in integers";
  }
}

absl::StatusOr<std::vector<Operation>> ProgramCheck::WithoutKernel(const CheckOptions& options,
                                                                   NumericClass numerics,
                                                                   ir::Program& program) {
  const ProgramCheck check(options, numerics, 1);
  WEFT_ASSIGN_OR_RETURN(const auto providers, kernels::ProviderOrder(check.Options().provider));
  return kernels::OpsWithoutKernel(program, providers);
}

absl::StatusOr<std::vector<Operation>> ProgramCheck::MissingIn(ir::Program& program) const {
  WEFT_ASSIGN_OR_RETURN(const auto providers, kernels::ProviderOrder(Options().provider));
  std::vector<Operation> missing = kernels::OpsWithoutKernel(program, providers);
  for (const Operation op : missing)
    if (const Operation holder = HolderInBody(op); !(holder == op))
      return ir::Unsupported(
          fmt::format("check: no kernel runs {} inside of {}", op.name(), holder.name()));
  return missing;
}

absl::StatusOr<std::vector<Operation>> ProgramCheck::Match(std::vector<Operation> ops) const {
  std::vector<Operation> matched;
  for (const Missing& missing : missing_) {
    const auto find = [&](bool by_location) {
      return std::find_if(ops.begin(), ops.end(), [&](Operation op) {
        return op.name() == missing.name && op.attrs() == missing.attrs &&
               ElementTypesOf(op) == missing.element_types &&
               (!by_location || op.location().str() == missing.location);
      });
    };
    auto it = find(true);
    if (it == ops.end()) it = find(false);
    if (it == ops.end())
      return ir::Unsupported(fmt::format(
          "check: no kernel runs {}, and the optimised program has fewer of them or others",
          missing.name));
    matched.push_back(*it);
    ops.erase(it);
  }
  if (ops.empty()) return matched;
  return ir::Unsupported(fmt::format(
      "check: no kernel runs {}, which the optimised program has and the original had not",
      ops[0].name()));
}

absl::Status ProgramCheck::AskStop() const {
  return stop_ && stop_() ? absl::CancelledError("the run was stopped while outputs were compared")
                          : absl::OkStatus();
}

absl::Status ProgramCheck::AddSample(ir::Program& program, uint64_t seed, std::string* sizes) {
  WEFT_RETURN_IF_ERROR(AskStop());
  auto session = Session::Create(program, Options());
  auto run = session.ok() ? RunOnRandomInputs(program, **session, seed, sizes_) : session.status();
  if (!run.ok())
    return ir::Unsupported(
        fmt::format("check: the original program does not run: {}", ir::Message(run.status())));
  samples_.push_back({std::move(run->inputs), std::move(run->outputs)});
  *sizes = std::move(run->sizes);
  return absl::OkStatus();
}

ProgramCheck::ProgramCheck(const CheckOptions& options, NumericClass numerics, int threads)
    : numerics_(numerics),
      tolerance_(options.tolerance),
      stop_(options.stop),
      sizes_(options.sizes),
      threads_(threads) {}

std::string ProgramCheck::Terms(const CheckOptions& options, NumericClass numerics) {
  const int count = options.inputs;
  return fmt::format("check: {} random input{}, {}\n", count, count == 1 ? "" : "s",
                     ProgramCheck(options, numerics, 1).Contract());
}

absl::StatusOr<ProgramCheck> ProgramCheck::Create(const CheckOptions& options,
                                                  NumericClass numerics, ir::Program& original,
                                                  int threads) {
  ProgramCheck check(options, numerics, threads);
  const int count = options.inputs;
  WEFT_ASSIGN_OR_RETURN(const std::vector<Operation> missing, check.MissingIn(original));
  std::unique_ptr<ir::Program> cut;
  if (!missing.empty()) {
    WEFT_ASSIGN_OR_RETURN(cut, Cut(original, missing));
    check.preface_ += fmt::format(
        "check: no kernel runs {} (operations: {}); what they read is compared, what they make is "
        "random\n",
        ir::EscapeControl(missing[0].name()), missing.size());
  }
  for (const Operation op : missing)
    check.missing_.push_back(
        {std::string(op.name()), std::string(op.location().str()), op.attrs(), ElementTypesOf(op)});
  ir::Program& program = cut ? *cut : original;
  std::string all_sizes;
  for (int seed = 1; seed <= count; ++seed) {
    std::string sizes;
    WEFT_RETURN_IF_ERROR(check.AddSample(program, static_cast<uint64_t>(seed), &sizes));
    if (!sizes.empty()) all_sizes += (all_sizes.empty() ? "" : ", ") + sizes;
  }
  if (!all_sizes.empty()) check.preface_ += "check: sizes " + all_sizes + "\n";
  WEFT_ASSIGN_OR_RETURN(const auto session, Session::Create(program, check.Options()));
  std::vector<std::optional<double>> steps(session->outputs().size());
  if (program.body().Terminator()) steps = OutputSteps(program);
  for (size_t i = 0; i < session->outputs().size(); ++i)
    check.outputs_.push_back({session->outputs()[i].name, steps[i]});
  return check;
}

absl::StatusOr<std::vector<ProgramCheck::Values>> ProgramCheck::RunAll(ir::Program& program) const {
  auto session = Session::Create(program, Options());
  std::vector<Values> all;
  absl::Status status = session.status();
  for (size_t i = 0; status.ok() && i < samples_.size(); ++i) {
    WEFT_RETURN_IF_ERROR(AskStop());
    auto outputs = (*session)->RunValues(samples_[i].inputs);
    status = outputs.status();
    if (status.ok()) all.push_back(*std::move(outputs));
  }
  if (status.ok()) return all;
  const std::string what = fmt::format(
      "check: the original program runs, the optimised one does "
      "not: {}",
      ir::Message(status));
  return absl::IsUnimplemented(status) ? ir::Unsupported(what) : CheckFailed(what);
}

absl::StatusOr<Comparison> ProgramCheck::CompareOutput(const Sample& sample, size_t output,
                                                       const RuntimeValue& actual) const {
  const std::string& name = outputs_[output].name;
  const RuntimeValue& expected = sample.outputs[output];
  WEFT_ASSIGN_OR_RETURN(
      const Comparison exact,
      Compare(name, actual, expected, {.step = {}, .tolerance = {}, .exact = true}));
  if (exact.agrees || IsExact()) return exact;
  std::optional<double> tolerance = tolerance_;
  if (!tolerance && numerics_ == NumericClass::kApproximate) tolerance = kApproximate;
  if (!tolerance && numerics_ == NumericClass::kChangesMeaning)
    tolerance = std::numeric_limits<double>::infinity();
  return Compare(name, actual, expected, {.step = outputs_[output].step, .tolerance = tolerance});
}

absl::Status ProgramCheck::Judge(ir::Program& after, std::string* text,
                                 std::vector<ComparedOutput>* compared) const {
  WEFT_ASSIGN_OR_RETURN(const std::vector<Operation> all_missing, MissingIn(after));
  WEFT_ASSIGN_OR_RETURN(const std::vector<Operation> missing, Match(all_missing));
  std::unique_ptr<ir::Program> cut;
  if (!missing.empty()) {
    WEFT_ASSIGN_OR_RETURN(cut, Cut(after, missing));
  }
  WEFT_ASSIGN_OR_RETURN(const std::vector<Values> actual, RunAll(cut ? *cut : after));
  Disagreement disagreement;
  for (size_t output = 0; output < outputs_.size(); ++output) {
    std::optional<Comparison> worst;
    for (size_t i = 0; i < samples_.size(); ++i) {
      if (actual[i].size() != outputs_.size())
        return CheckFailed(
            fmt::format("check: {} outputs became {}", outputs_.size(), actual[i].size()));
      WEFT_ASSIGN_OR_RETURN(const Comparison one,
                            CompareOutput(samples_[i], output, actual[i][output]));
      if (!worst || IsWorse(*worst, one)) worst = one;
    }
    *text += fmt::format("{}: {}\n", ir::EscapeControl(outputs_[output].name),
                         worst->Text("the original"));
    disagreement.Add(*worst);
    if (compared) compared->push_back({outputs_[output].name, *worst});
  }
  if (disagreement.empty()) return absl::OkStatus();
  return CheckFailed("check: outputs " + disagreement.Text());
}

}  // namespace weft
