// Running a model: its values and those of the caller, options, the session; part of weft/weft.h, which includes it.
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
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "ir/base/status.h"
#include "kernels/tensor.h"

namespace weft {

using ir::DataType;  // kF32, kI64, kBool, ...
using ir::Shape;     // a vector of sizes, outermost first
using kernels::Tensor;

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

// Memory of the caller's, dense and row-major, as a tensor: not copied. Inputs are only read, but for those that an
// output is bound to.
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

class Model;
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
  // Of products and convolutions on amx: float32, or, with numerics approximate, bf16x2 (factors of 16 bits) or
  // bf16 (of 8). Others compute in f32.
  std::string matmul_precision = "float32";
  bool oversubscribe = false;  // more threads than CPUs
  // A session of any model, whose threads this one uses, too; `threads` then counts for nothing.
  const Session* threads_of = nullptr;
  // Outputs that lie where an input lies: a cache that grows, or changes, in place. They take RunInto, and one address
  // for both, with memory for the larger. An op that writes over the input (TensorScatter, ScatterND) and a
  // Concat that puts it first copy nothing of it, but that along an inner axis its rows move apart; any other result is
  // copied there at the end of the run. A run that fails or is stopped may leave neither the input nor the output.
  std::vector<BoundOutput> bound_outputs = {};
};

struct RunOptions {
  // Asked before each operation, in loops and branches too; true ends the run in Cancelled, with outputs of RunInto
  // partly written. It must not call the session's model, clones of it or their sessions.
  std::function<bool()> stop = nullptr;
};

// A model made ready to run. It keeps what it needs; the model may change or go. Weights that passes leave as they are
// are packed once for all sessions of a model and its clones. Any number of threads may run a session at once: each run
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
