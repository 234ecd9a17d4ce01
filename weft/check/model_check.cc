#include "weft/check/model_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "ir/analysis/shape_inference.h"
#include "ir/base/escape.h"
#include "ir/infer.h"
#include "ir/rewriter.h"
#include "passes/rewrite_trace.h"
#include "weft/base/check_failed.h"
#include "weft/optimize/rewrite_text.h"

namespace weft {
namespace {

using drr::NumericClass;
using ir::Operation;
using ir::Program;

// The message without the name of the check.
std::string Reason(const absl::Status& status) {
  const std::string text = ir::EscapeControl(ir::Message(status)), check = "check: ";
  return text.starts_with(check) ? text.substr(check.size()) : text;
}

std::string Indented(const std::string& lines) {
  std::string text;
  for (size_t begin = 0; begin < lines.size();) {
    const size_t end = std::min(lines.find('\n', begin), lines.size() - 1) + 1;
    text += "  " + lines.substr(begin, end - begin);
    begin = end;
  }
  return text;
}

// Completes the types of values that become inputs of a part.
class InputTypes {
 public:
  // For those of unknown rank.
  explicit InputTypes(size_t rank) : rank_(rank) {}

  // In both, alike: an unknown size becomes a symbol of its own, an unknown element type f32.
  absl::Status Complete(Program& before, Program& after) {
    for (uint32_t i = 0; i < before.body().num_arguments(); ++i) {
      const ir::Value a = before.body().argument(i), b = after.body().argument(i);
      if (!ir::Compatible(a.type(), b.type()))
        return ir::Unsupported(
            fmt::format("{} became {}", a.type().ToString(), b.type().ToString()));
      const ir::Type type =
          Known(ir::Merge(before.context(), a.type(), b.type()), before.context());
      ir::Rewriter(&before).SetType(a, type);
      ir::Rewriter(&after).SetType(b, type);
    }
    WEFT_RETURN_IF_ERROR(ir::PropagateTypes(before));
    return ir::PropagateTypes(after);
  }
  bool has_guessed_rank() const { return guessed_; }

 private:
  ir::Type Known(ir::Type type, ir::IrContext* context) {
    if (type && type.HasElement()) return type;
    const bool is_tensor = type && type.IsTensor();
    ir::Shape dims(rank_, ir::kUnknownDim);
    if (is_tensor && type.HasRank()) {
      dims = type.shape();
    } else {
      guessed_ = true;
    }
    for (int64_t& dim : dims)
      if (dim == ir::kUnknownDim) dim = ir::SymbolicDim(fmt::format("unknown_{}", symbols_++));
    const bool has_dtype = is_tensor && type.dtype() != ir::DataType::kNull;
    return context->TensorType(has_dtype ? type.dtype() : ir::DataType::kF32, dims);
  }

  size_t rank_;
  int symbols_ = 0;
  bool guessed_ = false;
};

std::vector<std::string> NamesOf(const std::vector<Operation>& ops) {
  std::vector<std::string> names;
  names.reserve(ops.size());
  for (const Operation op : ops) names.emplace_back(op.name());
  return names;
}

// "region 2 at onnx.Mul %m (/mul): onnx.Mul, onnx.Add -> onnx.Gemm".
std::string Describe(size_t number, const RewrittenRegions::Operations& ops) {
  const std::vector<Operation>& some = ops.before.empty() ? ops.after : ops.before;
  std::string text = fmt::format("region {}", number);
  if (!some.empty()) text += " at " + passes::DescribeSite(some.back());
  text += ": " + CountedNames(NamesOf(ops.before)) + " -> " + CountedNames(NamesOf(ops.after));
  return ir::EscapeControl(text);
}

}  // namespace

absl::StatusOr<ModelCheck> ModelCheck::Create(const CheckOptions& options, NumericClass numerics,
                                              Program& original, int threads) {
  ModelCheck check;
  check.options_ = options;
  check.numerics_ = numerics;
  check.threads_ = threads;
  check.original_ = &original;
  check.preface_ = ProgramCheck::Terms(options, numerics);
  auto whole = ProgramCheck::Create(options, numerics, original, threads);
  if (whole.ok()) {
    check.preface_ += whole->Preface();
    check.whole_ = *std::move(whole);
  } else if (!absl::IsUnimplemented(whole.status())) {
    return whole.status();
  } else {
    check.preface_ += fmt::format("check: {}; so each region that is rewritten is compared\n",
                                  Reason(whole.status()));
  }
  return check;
}

void ModelCheck::Watch(Program& program) {
  program_ = &program;
  regions_ = std::make_unique<RewrittenRegions>(*original_, program);
}

absl::Status ModelCheck::Judge(std::string* text, std::vector<ComparedOutput>* compared) const {
  if (whole_) {
    absl::Status status = whole_->Judge(*program_, text, compared);
    if (!absl::IsUnimplemented(status)) return status;
    *text += fmt::format("{}; so that regions that were rewritten are compared\n",
                         ir::EscapeControl(ir::Message(status)));
  }
  return JudgeRegions(text);
}

absl::Status ModelCheck::JudgeRegions(std::string* text) const {
  WEFT_ASSIGN_OR_RETURN(const auto before,
                        ProgramCheck::WithoutKernel(options_, numerics_, *original_));
  WEFT_ASSIGN_OR_RETURN(const auto after,
                        ProgramCheck::WithoutKernel(options_, numerics_, *program_));
  WEFT_RETURN_IF_ERROR(regions_->Settle(before, after));
  size_t number = 0, compared = 0, different = 0;
  std::string first_failure, first_reason;
  for (const RewrittenRegion& region : regions_->Find()) {
    const std::string title = Describe(++number, regions_->OperationsOf(region));
    std::string lines;
    absl::Status status = JudgeRegion(region, &lines);
    if (absl::IsCancelled(status)) return status;
    *text += title + "\n" + Indented(lines);
    const std::string why = status.ok() ? "" : Reason(status);
    compared += status.ok() || IsCheckFailure(status);
    if (IsCheckFailure(status)) {
      *text += "  " + why + "\n";
      if (different++ == 0) first_failure = fmt::format("{}: {}", title, why);
    } else if (!status.ok()) {
      *text += "  cannot be compared: " + why + "\n";
      if (first_reason.empty()) first_reason = fmt::format("{}: {}", title, why);
    }
  }
  *text += fmt::format("check: {} rewritten region{}, {} compared, {} differ, {} cannot run\n",
                       number, number == 1 ? "" : "s", compared, different, number - compared);
  if (different > 0) return CheckFailed("check: " + first_failure);
  if (number == 0 || compared > 0) return absl::OkStatus();
  return ir::Unsupported("check: no rewritten region can run: " + first_reason);
}

// What a rule knew of the operations in front of those that it replaced is not known of random inputs,
// nor do all operations take such: then more and more of what comes before belongs to the region.
absl::Status ModelCheck::JudgeRegion(RewrittenRegion region, std::string* lines) const {
  absl::Status failure, refusal;
  std::string lines_of_failure;
  for (int levels = 1;; levels *= 2) {
    std::string own;
    absl::Status status = JudgePart(regions_->Cut(region), &own);
    if (absl::IsCancelled(status)) return status;
    if (status.ok()) {
      if (!region.grown_by.empty())
        *lines += fmt::format("with operations before it: {}\n", region.grown_by.size());
      *lines += own;
      return status;
    }
    if (IsCheckFailure(status) && failure.ok()) {
      failure = status;
      lines_of_failure = own;
    } else if (!IsCheckFailure(status) && refusal.ok()) {
      refusal = status;
    }
    if (!regions_->Grow(&region, levels)) break;
  }
  *lines += lines_of_failure;
  return failure.ok() ? refusal : failure;
}

absl::Status ModelCheck::JudgePart(const RewrittenRegions::Part& part, std::string* lines) const {
  constexpr size_t kRanks[] = {2, 3, 4, 1, 0};
  absl::Status first;
  for (const size_t rank : kRanks) {
    const std::unique_ptr<Program> before = part.before->Clone(), after = part.after->Clone();
    InputTypes types(rank);
    absl::Status status = types.Complete(*before, *after);
    std::string own;
    if (status.ok()) {
      const auto check = ProgramCheck::Create(options_, numerics_, *before, threads_);
      if (check.ok()) own = check->Preface();
      status = check.ok() ? check->Judge(*after, &own) : check.status();
    }
    if (first.ok() || status.ok() || IsCheckFailure(status)) {
      first = status;
      *lines = own;
    }
    if (!types.has_guessed_rank() || status.ok() || IsCheckFailure(status)) break;
  }
  return first;
}

}  // namespace weft
