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
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "ir/base/status.h"
#include "kernels/tensor.h"
#include "weft/base/rule_text.h"
#include "weft/judge.h"
#include "weft/model_options.h"
#include "weft/model_size.h"

namespace weft::ir {
class Program;
}

namespace weft {

using ir::DataType;  // kF32, kI64, kBool, ...
using ir::Shape;     // a vector of sizes, outermost first
using kernels::Tensor;

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
  // These two must not call functions of models or sessions.
  std::function<void(const Progress&)> progress = nullptr;  // before every pass
  std::function<bool()> stop = nullptr;  // asked around passes; true ends in Cancelled
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

// --- running --------------------------------------------------------------------------

struct ValueInfo {
  std::string name;
  DataType dtype = DataType::kNull;
  Shape dims = {};           // -1 where open; empty for an unknown rank, too
  std::string type;          // "tensor<"N"x8xf32>", "seq<tensor<f32>>"
  bool has_default = false;  // an input that may be left out
  bool is_tensor = true;     // no sequence, no optional, of whose tensors the dtype is then
};

// Of the C++ types that elements have; others (f16, c64) are given with their DataType.
template <class T>
inline constexpr DataType kDataTypeOf = DataType::kNull;
template <>
inline constexpr DataType kDataTypeOf<float> = DataType::kF32;
template <>
inline constexpr DataType kDataTypeOf<double> = DataType::kF64;
template <>
inline constexpr DataType kDataTypeOf<bool> = DataType::kBool;
template <>
inline constexpr DataType kDataTypeOf<int8_t> = DataType::kI8;
template <>
inline constexpr DataType kDataTypeOf<int16_t> = DataType::kI16;
template <>
inline constexpr DataType kDataTypeOf<int32_t> = DataType::kI32;
template <>
inline constexpr DataType kDataTypeOf<int64_t> = DataType::kI64;
template <>
inline constexpr DataType kDataTypeOf<uint8_t> = DataType::kU8;
template <>
inline constexpr DataType kDataTypeOf<uint16_t> = DataType::kU16;
template <>
inline constexpr DataType kDataTypeOf<uint32_t> = DataType::kU32;
template <>
inline constexpr DataType kDataTypeOf<uint64_t> = DataType::kU64;
template <>
inline constexpr DataType kDataTypeOf<std::string> = DataType::kString;

// Memory of the caller's, dense and row-major, as a tensor: not copied. Inputs that no output is bound to are only read.
class TensorRef {
 public:
  TensorRef(const Tensor& tensor)  // NOLINT: as natural as a string_view of a string
      : TensorRef(tensor.dtype(), tensor.view().data, tensor.dims()) {}
  // `data` points at as many elements as the product of the dims.
  TensorRef(DataType dtype, void* data, Shape dims)
      : dtype_(dtype), data_(static_cast<std::byte*>(data)), dims_(std::move(dims)) {}
  // Of a vector, an array or a span that outlives this: TensorRef(values, {2, 3}).
  template <class Values,
            class Element = std::remove_reference_t<decltype(*std::data(std::declval<Values&>()))>>
  TensorRef(Values& values, Shape dims)
      : dtype_(kDataTypeOf<std::remove_const_t<Element>>),
        data_(reinterpret_cast<std::byte*>(
            const_cast<std::remove_const_t<Element>*>(std::data(values)))),
        dims_(std::move(dims)),
        num_elements_(std::size(values)),
        is_const_(std::is_const_v<Element>) {
    static_assert(kDataTypeOf<std::remove_const_t<Element>> != DataType::kNull,
                  "no element of a tensor has this C++ type");
  }

  DataType dtype() const { return dtype_; }
  const Shape& dims() const { return dims_; }
  kernels::TensorView view() const { return {dtype_, dims_, data_}; }
  // Of the memory, where that is known.
  std::optional<size_t> num_elements() const { return num_elements_; }
  bool is_const() const { return is_const_; }  // may be an input, no output

 private:
  DataType dtype_;
  std::byte* data_;
  Shape dims_;
  std::optional<size_t> num_elements_;
  bool is_const_ = false;
};

using NamedTensors = std::vector<std::pair<std::string, TensorRef>>;
using Outputs = std::map<std::string, Tensor, std::less<>>;

// What may be no tensor: a sequence of tensors; an optional is its element, or nothing.
using Nothing = std::monostate;
using ValueRef = std::variant<Nothing, TensorRef, std::vector<TensorRef>>;
using NamedValues = std::vector<std::pair<std::string, ValueRef>>;
using Value = std::variant<Nothing, Tensor, std::vector<Tensor>>;
using Values = std::map<std::string, Value, std::less<>>;

class Session;

// Of a session's outputs and inputs, by name.
struct BoundOutput {
  std::string output, input;
};

struct SessionOptions {
  // That run, the caller among them; 0: as many as there are CPUs for us. Sessions of all CPUs share those
  // threads, also at the same time: each has its caller's at least, and none waits for another.
  int threads = 0;
  std::string isa = {};           // portable, avx2, avx512, amx; empty: the best of the machine
  std::string provider = "auto";  // kernels: auto, native, xnnpack, reference
  // What the session does to a copy of the model first; "none": it runs as it is.
  std::string pipeline = "fuse";
  std::string numerics = "reassociates";  // see OptimizeOptions
  bool oversubscribe = false;             // more threads than CPUs
  // A session of any model, whose threads this one uses, too; `threads` then counts for nothing.
  const Session* threads_of = nullptr;
  // Outputs that lie where an input lies: a cache that grows, or changes, in place. They take RunInto, and one address
  // for both, with memory for the larger. A Concat that puts the input first and an op that writes over it
  // (TensorScatter, ScatterND) copy nothing; any other result is copied there at the end of the run.
  std::vector<BoundOutput> bound_outputs = {};
};

struct RunOptions {
  // Asked before each operation; true ends the run in Cancelled, with outputs of RunInto partly written. A loop or
  // a branch is one operation.
  std::function<bool()> stop = nullptr;
};

// A model made ready to run. It keeps what it needs; the model may change or go. Weights are packed once
// for all sessions of a model and its clones. Any number of threads may run a session at once: each run
// has memory of its own, which is kept for the next, and all share the session's threads. Runs that make
// plans (new shapes, loops, branches, sizes that follow from values) wait for each other.
class Session {
 public:
  static absl::StatusOr<Session> Create(const Model& model, const SessionOptions& options = {});

  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  const std::vector<ValueInfo>& inputs() const;  // in the order of the model
  const std::vector<ValueInfo>& outputs() const;
  int num_threads() const;         // that run, the caller among them
  const std::string& isa() const;  // "avx2", ...: of our own kernels

  // Inputs in any order. Those with a default may be left out. InvalidArgument says which input is
  // unknown, missing, given twice, or of another type or shape than expected; Unimplemented, which
  // operation no kernel runs.
  absl::StatusOr<Outputs> Run(const NamedTensors& inputs, const RunOptions& options = {}) const;
  // Into memory of the caller's, where kernels write without a copy. All outputs must be given, in their types and
  // shapes, and overlap nothing but the input that they are bound to.
  absl::Status RunInto(const NamedTensors& inputs, const NamedTensors& outputs,
                       const RunOptions& options = {}) const;
  // For models that have sequences or optionals as inputs or outputs, which the two above refuse as
  // Unimplemented. An optional without an element is Nothing; tensors of a sequence are copied.
  absl::StatusOr<Values> RunValues(const NamedValues& inputs, const RunOptions& options = {}) const;

 private:
  struct State;
  explicit Session(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace weft
