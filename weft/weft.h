// Weft in one header: load a model, optimise it, save it, run it.
//
//   WEFT_ASSIGN_OR_RETURN(weft::Model model, weft::Model::Load("bert.onnx"));
//   WEFT_ASSIGN_OR_RETURN(weft::Report report, model.Optimize({.pipeline = "fuse", .check = 3}));
//   WEFT_RETURN_IF_ERROR(model.Save("fused.onnx"));
//
//   WEFT_ASSIGN_OR_RETURN(weft::Session session, weft::Session::Create(model, {.threads = 2}));
//   weft::Tensor ids(weft::DataType::kI64, {1, 128});                // zeros; ids.values<int64_t>()
//   WEFT_ASSIGN_OR_RETURN(weft::Outputs y, session.Run({{"ids", ids}}));
//   std::span<float> logits = y.at("logits").values<float>();
//
// Whatever can fail returns absl::Status or absl::StatusOr, whose message is one line:
// InvalidArgument for what is wrong with a model, an option or an input; Unimplemented for what is
// right but not supported; FailedPrecondition for a check that did not hold; Cancelled for what was
// stopped. Nothing throws but the containers of the standard library.
//
// Rules, passes and kernels register themselves before main(). Their libraries, libweft_passes.a and
// libweft_kernels.a, are one object each, so that a program has all of them that uses anything of
// this header, however it is linked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/base/status.h"
#include "kernels/tensor.h"
#include "weft/base/rule_text.h"
#include "weft/judge.h"
#include "weft/model_options.h"
#include "weft/model_size.h"
#include "weft/session.h"  // IWYU pragma: export

namespace weft::ir {
class Program;
}

namespace weft {

// Links all rules, passes and kernels of the library into a program that refers to it, for those that use
// the registries of passes/ and kernels/ alone: functions of models and sessions do so themselves.
// Internal when one is missing all the same, because the libraries were taken apart.
absl::Status RegisterAll();

// --- optimising -----------------------------------------------------------------------

struct Progress {
  std::string pass;              // that begins
  size_t number = 0, count = 0;  // from 1; of passes
  size_t operations = 0;         // of the program before it
};

struct OptimizeOptions {
  // simplify (ONNX to ONNX), fuse (for Weft's kernels), ort (for ONNX Runtime), layout, none, ...:
  // `ir-opt --list-passes` tells of all.
  std::string pipeline = "simplify";
  std::vector<std::string> passes = {};       // instead of the pipeline
  std::vector<std::string> rules_files = {};  // rules that run before all passes, once judged
  std::vector<RuleText> rules = {};           // the same in memory
  bool trust_rules = false;                   // both are not judged
  std::vector<std::string> enabled_rules = {}, disabled_rules = {};
  // What rules may do to numbers: exact, reassociates, approximate or changes-meaning.
  std::string numerics = "reassociates";
  std::map<std::string, int64_t> dims = {};        // sizes of symbolic dimensions
  std::map<std::string, Shape> input_shapes = {};  // of inputs, where the model leaves sizes open
  // How many sets of random inputs the outputs before and after are compared on, at most 1000; how much
  // of the largest element they may differ by, in place of what `numerics` allows.
  int check = 0;
  std::optional<double> check_tolerance = {};
  int64_t target_opset = 0;  // of the ONNX model to be written; 0: that of the model that was read
  bool record_rewrites = false;  // every single one, in the report
  bool picture = false;          // Report::html
  // Warnings, and programs that show why a rule of a file is refuted.
  Notices notices = {};
  // These two must not call functions of models or sessions, but may destroy others than the one that calls them.
  std::function<void(const Progress&)> progress = nullptr;  // before every pass
  // Asked around passes, rules that are judged and runs of the check; true ends in Cancelled.
  std::function<bool()> stop = nullptr;
};

struct RuleReport {
  std::string pass, rule;
  uint64_t matched = 0, applied = 0;
  uint64_t ops_erased = 0, ops_created = 0;                     // by all applications together
  std::vector<std::pair<std::string, uint64_t>> declines = {};  // of matches: why, how often
};

struct PassReport {
  std::string pass;
  size_t ops_before = 0, ops_after = 0;
  double seconds = 0;
};

struct RewriteReport {
  uint64_t number = 0;  // from 1, over all passes
  std::string pass;
  std::string rule;  // or "fold", "merge", "fuse"; empty for all that a pass does
  std::string site;  // the operation where it began
  std::vector<std::string> removed = {}, added = {};  // names of operations
};

struct OutputReport {  // of an output before and after
  std::string name;
  double difference = 0;  // largest, relative to the largest element
  std::string verdict;    // in words
};

struct OperatorReport {
  std::string name;
  size_t before = 0, after = 0;  // operations
};

struct Report {
  size_t ops_before = 0, ops_after = 0;
  ModelSize before = {}, after = {};
  std::vector<OperatorReport> operators = {};  // by name
  std::vector<PassReport> passes = {};
  std::vector<RuleReport> rules = {};        // that matched somewhere
  std::vector<RewriteReport> rewrites = {};  // with record_rewrites
  std::vector<OutputReport> outputs = {};    // with check, where the whole model could run
  std::string check = {};                    // what was compared, in lines
  std::vector<std::string> warnings = {};
  // With picture: a page for a browser that needs nothing else, with both graphs and what became what.
  std::string html = {};

  std::string ToString() const;  // a line per rule that was applied, and one of the whole
};

struct ModelSummary {
  std::vector<std::pair<std::string, std::string>> inputs, outputs;  // names and types
  std::map<std::string, size_t> operators;                           // operations of each
};

// A model in memory, and the context of its program. A move leaves an empty one, which may only be
// assigned to or destroyed. Functions of one model, of its sessions and of models cloned from it may be
// called by several threads, but for program().
class Model {
 public:
  // Of .onnx (opsets 1 to 27) or .ir, Weft's text. Large weights stay in the file, which must not be
  // changed in place meanwhile.
  static absl::StatusOr<Model> Load(const std::string& path, const LoadOptions& options = {});
  // Of ONNX in memory, which may go away afterwards. External data is refused.
  static absl::StatusOr<Model> FromBytes(std::span<const std::byte> bytes,
                                         const LoadOptions& options = {});
  static absl::StatusOr<Model> FromBytes(std::string_view bytes, const LoadOptions& options = {}) {
    return FromBytes(std::as_bytes(std::span(bytes)), options);
  }
  // Of Weft's text.
  static absl::StatusOr<Model> FromText(std::string_view text, const LoadOptions& options = {});

  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;
  ~Model();
  Model Clone() const;  // shares the weights

  // After an error, the refutation of a rule or a failed check among them, the model is what it was.
  absl::StatusOr<Report> Optimize(const OptimizeOptions& options = {});

  // Why the rule does not apply in a run with these options, or where it does, in lines: before the
  // first pass that has it, and after the run. `what` is a rule, or RULE@VALUE: a name, or %N as the
  // program after the run numbers it. The model stays what it is; nothing is checked.
  absl::StatusOr<std::string> Explain(const std::string& what,
                                      const OptimizeOptions& options = {}) const;

  // By the suffix of the path. The file is complete or untouched.
  absl::Status Save(const std::string& path, const SaveOptions& options = {}) const;
  // ONNX of less than 2 GiB.
  absl::StatusOr<std::string> ToBytes(const SaveOptions& options = {}) const;
  // Weft's text, without the contents of long constants.
  std::string ToText() const;

  size_t num_operations() const;
  ModelSummary Summary() const;
  // For passes and rules of one's own. Only while no other thread uses the model, its clones, or
  // sessions of any of them.
  ir::Program& program() const;

 private:
  friend class Session;
  struct State;
  explicit Model(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace weft
