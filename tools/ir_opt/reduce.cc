#include "tools/ir_opt/reduce.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ir/analysis/verifier.h"
#include "ir/rewriter.h"
#include "tools/cli/process.h"
#include "tools/onnx/part_notes.h"
#include "weft/base/files.h"
#include "weft/check/extract.h"

namespace weft::tools {
namespace {

using ir::Operation;
using ir::Program;
using ir::Value;

using Outputs = std::vector<std::pair<std::string, Value>>;

Outputs OutputsOf(Program& program) {
  Outputs outputs;
  const Operation end = program.body().Terminator();
  const auto names = program.module().attr("output_names");
  for (uint32_t i = 0; end && i < end.num_operands(); ++i)
    outputs.emplace_back(names.Is(ir::AttrKind::kStrings) && i < names.AsStrings().size()
                             ? std::string(names.AsStrings()[i])
                             : fmt::format("output{}", i),
                         end.operand(i));
  return outputs;
}

// But for the terminator.
std::vector<Operation> OpsOf(Program& program) {
  std::vector<Operation> ops;
  for (const Operation op : program.body())
    if (!op.HasTrait(ir::kTerminator)) ops.push_back(op);
  return ops;
}

// What the outputs need, with inputs in place of what the operations `without` make. Outputs that
// nothing is computed for go, too, but for the last. Operations without results stay if nothing is
// taken out that they read.
std::unique_ptr<Program> PartOf(Program& program, Outputs outputs,
                                const std::unordered_set<uint32_t>& without) {
  const auto is_computed = [&](Value value) {
    return !value.IsBlockArgument() && !without.contains(value.DefiningOp().id());
  };
  Outputs computed;
  std::copy_if(outputs.begin(), outputs.end(), std::back_inserter(computed),
               [&](const auto& output) { return is_computed(output.second); });
  if (!computed.empty()) outputs = std::move(computed);
  std::unordered_set<uint32_t> needed;
  std::vector<Operation> work;
  const auto need = [&](Value value) {
    if (is_computed(value) && needed.insert(value.DefiningOp().id()).second)
      work.push_back(value.DefiningOp());
  };
  for (const auto& [name, value] : outputs) need(value);
  for (const Operation op : OpsOf(program))
    if (op.num_results() == 0 && !without.contains(op.id())) {
      needed.insert(op.id());
      work.push_back(op);
    }
  while (!work.empty()) {
    const Operation op = work.back();
    work.pop_back();
    for (const Value value : ValuesReadBy(op)) need(value);
  }
  Extraction extraction{.ops = {}, .outputs = std::move(outputs)};
  for (const Operation op : OpsOf(program))
    if (needed.contains(op.id())) extraction.ops.push_back(op);
  std::unique_ptr<Program> part = Extract(program, extraction);
  onnx::DropNotesOfOthers(*part);
  return part;
}

// What is left without the operations ops[first..last) and all that follow from them: what they read
// is returned in place of what they make.
std::unique_ptr<Program> Before(Program& program, const std::vector<Operation>& ops, size_t first,
                                size_t last) {
  std::unordered_set<uint32_t> gone;
  Outputs outputs;
  const auto is_made_by = [&](Value value) {
    return !value.IsBlockArgument() && gone.contains(value.DefiningOp().id());
  };
  for (size_t i = first; i < ops.size(); ++i) {
    const std::vector<Value> read = ValuesReadBy(ops[i]);
    if (i >= last && std::none_of(read.begin(), read.end(), is_made_by)) continue;
    gone.insert(ops[i].id());
    for (const Value value : read)
      if (!value.IsBlockArgument() && !is_made_by(value) &&
          !value.DefiningOp().HasTrait(ir::kConstantLike) &&
          std::none_of(outputs.begin(), outputs.end(),
                       [&](const auto& output) { return output.second == value; }))
        outputs.emplace_back(fmt::format("end_{}", outputs.size()), value);
  }
  for (const auto& output : OutputsOf(program))
    if (!is_made_by(output.second)) outputs.push_back(output);
  return PartOf(program, outputs.empty() ? OutputsOf(program) : std::move(outputs), {});
}

class Reducer {
 public:
  Reducer(const ReduceOptions& options, Program& program, const TemporaryFolder& folder)
      : options_(options),
        model_(folder.PathOf(
            ModelFormatOf(options.out).value() == ModelFormat::kOnnx ? "model.onnx" : "model.ir")),
        program_(program.Clone()) {}

  absl::Status Run() {
    WEFT_RETURN_IF_ERROR(SaveModel(*program_, model_, options_.save));
    WEFT_ASSIGN_OR_RETURN(expected_, RunCommand(options_.test, model_));
    const size_t before = OpsOf(*program_).size();
    for (size_t left = SIZE_MAX; OpsOf(*program_).size() < left;) {
      left = OpsOf(*program_).size();
      WEFT_RETURN_IF_ERROR(DropOutputs());
      WEFT_RETURN_IF_ERROR(DropEnds());
      WEFT_RETURN_IF_ERROR(DropOps());
      WEFT_RETURN_IF_ERROR(BypassOps());
    }
    WEFT_RETURN_IF_ERROR(SaveModel(*program_, options_.out, options_.save));
    std::printf("reduce: %zu operations became %zu in %d runs; the test ends with %s\n", before,
                OpsOf(*program_).size(), runs_, expected_.ToString().c_str());
    return absl::OkStatus();
  }

 private:
  // Goes on with `part` if the test still ends as it did.
  absl::StatusOr<bool> Try(std::unique_ptr<Program> part) {
    if (!ir::Verify(*part).ok() || !SaveModel(*part, model_, options_.save).ok()) return false;
    ++runs_;
    WEFT_ASSIGN_OR_RETURN(const ProcessEnd end, RunCommand(options_.test, model_));
    if (!end.IsLike(expected_)) return false;
    program_ = std::move(part);
    return true;
  }

  // Takes away as many of `count()` things as possible: half of them at a time, then a quarter, and
  // so on. `without(first, last)` is the program without those.
  template <class Count, class Without>
  absl::Status Minimise(Count count, Without without) {
    for (size_t chunk = std::max<size_t>(1, count() / 2);; chunk /= 2) {
      for (size_t at = 0; at < count();) {
        const size_t size_before = count();
        WEFT_ASSIGN_OR_RETURN(const bool gone, Try(without(at, std::min(at + chunk, size_before))));
        if (!gone || count() >= size_before) at += chunk;
      }
      if (chunk == 1) return absl::OkStatus();
    }
  }

  absl::Status DropOutputs() {
    return Minimise([&] { return OutputsOf(*program_).size(); },
                    [&](size_t first, size_t last) {
                      Outputs outputs = OutputsOf(*program_);
                      if (last - first < outputs.size())
                        outputs.erase(outputs.begin() + static_cast<std::ptrdiff_t>(first),
                                      outputs.begin() + static_cast<std::ptrdiff_t>(last));
                      return PartOf(*program_, std::move(outputs), {});
                    });
  }

  absl::Status DropEnds() {
    return Minimise([&] { return OpsOf(*program_).size(); },
                    [&](size_t first, size_t last) {
                      return Before(*program_, OpsOf(*program_), first, last);
                    });
  }

  absl::Status DropOps() {
    return Minimise([&] { return OpsOf(*program_).size(); },
                    [&](size_t first, size_t last) {
                      const std::vector<Operation> ops = OpsOf(*program_);
                      std::unordered_set<uint32_t> without;
                      for (size_t i = first; i < last; ++i) without.insert(ops[i].id());
                      return PartOf(*program_, OutputsOf(*program_), without);
                    });
  }

  // An operand of the same type in place of the result of one operation after the other.
  absl::Status BypassOps() {
    for (size_t at = 0; at < OpsOf(*program_).size();) {
      const size_t before = OpsOf(*program_).size();
      std::unique_ptr<Program> copy = program_->Clone();
      const Operation op = OpsOf(*copy)[at];
      const Value result = op.num_results() == 1 ? op.result() : Value();
      Value operand;
      for (const Value value : op.operands())
        if (!operand && value && result && value.type() == result.type()) operand = value;
      bool gone = false;
      if (operand) {
        ir::Rewriter(copy.get()).ReplaceAllUses(result, operand);
        WEFT_ASSIGN_OR_RETURN(gone, Try(PartOf(*copy, OutputsOf(*copy), {})));
      }
      if (!gone || OpsOf(*program_).size() >= before) ++at;
    }
    return absl::OkStatus();
  }

  const ReduceOptions& options_;
  const std::string model_;  // what the test is called with
  std::unique_ptr<Program> program_;
  ProcessEnd expected_;
  int runs_ = 0;
};

}  // namespace

absl::Status Reduce(const ReduceOptions& options, Program& program) {
  const Interrupts interrupts;  // or the folder would stay
  WEFT_ASSIGN_OR_RETURN(TemporaryFolder folder, TemporaryFolder::Create());
  return Reducer(options, program, folder).Run();
}

}  // namespace weft::tools
