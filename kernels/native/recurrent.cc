// LSTM, GRU and RNN: one matrix product over all steps for the input part, and
// one for every step with the state. Activations are the usual ones of each layer.
#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/dialects/onnx.h"
#include "kernels/native/native.h"
#include "kernels/native/simd/elementwise/rows.h"
#include "kernels/native/simd/gemm.h"

namespace weft::kernels::native {
namespace {

namespace ops = ir::ops;
using simd::BinaryOp;
using simd::UnaryOp;

constexpr size_t kBias = 3, kLengths = 4, kInitialH = 5, kInitialC = 6, kPeepholes = 7;  // operands

struct Sizes {
  int64_t time = 0, batch = 0, input = 0, hidden = 0, directions = 1, gates = 1;
  int64_t columns() const { return gates * hidden; }
  int64_t state() const { return batch * hidden; }
  int64_t rows() const { return time * batch; }
};

// The weights of one direction, transposed, and what is added to their products.
struct Direction {
  simd::PackedMatrix w;           // [input, gates * hidden]
  simd::PackedMatrix r;           // [hidden, gates * hidden], of a GRU without its last gate
  simd::PackedMatrix r_last;      // of a GRU: [hidden, hidden]
  std::vector<float> bias, last;  // of all steps; of the last gate's product with the state
};
using Directions = std::vector<Direction>;

// --- steps ------------------------------------------------------------------------

// One step of one direction. `gates` [batch, columns] holds the input part and may be overwritten; h
// is the state before the step, `next` that after it, and they do not overlap.
struct Step {
  const Sizes& sizes;
  const Direction& weights;
  float* gates;
  const float* h;
  float* next;
  float* c;      // of an LSTM, in place
  float* spare;  // [batch, columns]
  ThreadPool& pool;

  // y = x . m + added, for x [batch, hidden].
  void Multiply(const float* x, const simd::PackedMatrix& m, const float* bias, const float* added,
                int64_t stride, float* y) const {
    simd::Gemm({.m = sizes.batch,
                .a = x,
                .a_stride = sizes.hidden,
                .b = &m,
                .c = y,
                .c_stride = stride,
                .bias = bias,
                .residual = added,
                .residual_stride = stride},
               pool);
  }
};

void Map(UnaryOp op, float* x, int64_t n) { simd::UnaryOnRow(op, {}, x, x, n); }
void Combine(BinaryOp op, const float* a, const float* b, float* y, int64_t n) {
  simd::BinaryOnRow<float>(op, a, 1, b, 1, y, n);
}

// h = tanh(gates + h . r^T)
void StepOfRnn(const Step& s, UnaryOp activation) {
  s.Multiply(s.h, s.weights.r, nullptr, s.gates, s.sizes.hidden, s.next);
  Map(activation, s.next, s.sizes.state());
}

// c = f c + i g, h = o tanh(c), the gates being i, o, f, g.
void StepOfLstm(const Step& s) {
  const int64_t n = s.sizes.hidden, columns = s.sizes.columns();
  s.Multiply(s.h, s.weights.r, nullptr, s.gates, columns, s.spare);
  for (int64_t b = 0; b < s.sizes.batch; ++b) {
    float *gates = s.spare + b * columns, *c = s.c + b * n, *h = s.next + b * n;
    Map(UnaryOp::kSigmoid, gates, 3 * n);
    Map(UnaryOp::kTanh, gates + 3 * n, n);
    Combine(BinaryOp::kMul, gates, gates + 3 * n, gates, n);
    Combine(BinaryOp::kMul, gates + 2 * n, c, c, n);
    Combine(BinaryOp::kAdd, gates, c, c, n);
    simd::UnaryOnRow(UnaryOp::kTanh, {}, c, h, n);
    Combine(BinaryOp::kMul, gates + n, h, h, n);
  }
}

// h = (1 - z) g + z h, the gates being z, r, g. The reset is applied to h, or to its product.
void StepOfGru(const Step& s, bool linear_before_reset) {
  const int64_t n = s.sizes.hidden, columns = s.sizes.columns();
  // z and r, in the columns of `gates` where the input part lies.
  s.Multiply(s.h, s.weights.r, nullptr, s.gates, columns, s.gates);
  for (int64_t b = 0; b < s.sizes.batch; ++b) Map(UnaryOp::kSigmoid, s.gates + b * columns, 2 * n);
  float *product = s.spare, *reset = s.spare + s.sizes.state();
  for (int64_t b = 0; b < s.sizes.batch && !linear_before_reset; ++b)
    Combine(BinaryOp::kMul, s.gates + b * columns + n, s.h + b * n, reset + b * n, n);
  s.Multiply(linear_before_reset ? s.h : reset, s.weights.r_last, s.weights.last.data(), nullptr, n,
             product);
  for (int64_t b = 0; b < s.sizes.batch; ++b) {
    float *z = s.gates + b * columns, *r = z + n, *g = r + n, *h = s.next + b * n;
    float* p = product + b * n;
    if (linear_before_reset) Combine(BinaryOp::kMul, r, p, p, n);
    Combine(BinaryOp::kAdd, g, p, g, n);
    Map(UnaryOp::kTanh, g, n);
    for (int64_t i = 0; i < n; ++i) h[i] = (1 - z[i]) * g[i] + z[i] * s.h[b * n + i];
  }
}

// --- weights ----------------------------------------------------------------------

// b is the bias of w and r of all gates; the last gate of a GRU has that of r apart.
void SetBias(const Sizes& s, const float* b, bool is_gru, bool linear_before_reset, Direction* d) {
  const int64_t columns = s.columns(), shared = linear_before_reset ? columns - s.hidden : columns;
  d->bias.assign(static_cast<size_t>(columns), 0.0f);
  if (is_gru) d->last.assign(static_cast<size_t>(s.hidden), 0.0f);
  for (int64_t i = 0; b != nullptr && i < columns; ++i) {
    d->bias[i] = i < shared ? b[i] + b[columns + i] : b[i];
    if (i >= shared) d->last[i - shared] = b[columns + i];
  }
}

using MakeDirections = std::function<std::shared_ptr<Directions>(const float* w, const float* r,
                                                                 const float* b, ThreadPool& pool)>;

MakeDirections Packing(const Sizes& s, bool is_gru, bool linear_before_reset) {
  return [=](const float* w, const float* r, const float* b, ThreadPool& pool) {
    auto directions = std::make_shared<Directions>(static_cast<size_t>(s.directions));
    const int64_t columns = s.columns(), together = is_gru ? 2 * s.hidden : columns;
    for (int64_t i = 0; i < s.directions; ++i) {
      Direction& d = (*directions)[static_cast<size_t>(i)];
      const auto pack = [&](const float* rows, int64_t depth, int64_t count) {
        return simd::PackedMatrix::Pack(rows, 1, depth, depth, count, pool);
      };
      const float* state = r + i * columns * s.hidden;
      d.w = pack(w + i * columns * s.input, s.input, columns);
      d.r = pack(state, s.hidden, together);
      if (is_gru) d.r_last = pack(state + together * s.hidden, s.hidden, s.hidden);
      SetBias(s, b == nullptr ? nullptr : b + i * 2 * columns, is_gru, linear_before_reset, &d);
    }
    return directions;
  };
}

// Null where the weights are not constant.
absl::StatusOr<std::shared_ptr<Directions>> PackConstants(const KernelContext& context,
                                                          const std::string& name,
                                                          const MakeDirections& make) {
  std::vector<ir::Attribute> constants;
  for (size_t i : {size_t{1}, size_t{2}, kBias}) {
    if (context.HasInput(i) && !context.constant(i)) return std::shared_ptr<Directions>();
    constants.push_back(context.HasInput(i) ? context.constant(i) : ir::Attribute());
  }
  return context.packed().Get<Directions>(
      "native " + name, constants, [&]() -> absl::StatusOr<std::shared_ptr<Directions>> {
        const std::vector<float> w = ConstantFloats(context.constant(1)),
                                 r = ConstantFloats(context.constant(2));
        std::vector<float> b;
        if (context.HasInput(kBias)) b = ConstantFloats(context.constant(kBias));
        return make(w.data(), r.data(), b.empty() ? nullptr : b.data(), context.pool());
      });
}

// --- layers -----------------------------------------------------------------------

// Runs a layer; `step` is one of the functions above.
template <class StepFunction>
class Layer {
 public:
  Layer(const Sizes& sizes, bool reverse, std::shared_ptr<Directions> constants,
        MakeDirections make, StepFunction step)
      : sizes_(sizes),
        reverse_(reverse),
        constants_(std::move(constants)),
        make_(std::move(make)),
        step_(step) {}

  // Gates of all steps, those of one, and two states h and one c.
  static size_t ScratchBytes(const Sizes& s) {
    return sizeof(float) *
           static_cast<size_t>(s.rows() * s.columns() + s.batch * s.columns() + 3 * s.state());
  }

  void operator()(const KernelArgs& args) const {
    const std::shared_ptr<Directions> weights =
        constants_ ? constants_
                   : make_(args.input<float>(1), args.input<float>(2), args.input<float>(kBias),
                           *args.pool);
    for (int64_t d = 0; d < sizes_.directions; ++d)
      RunDirection(args, d, (*weights)[static_cast<size_t>(d)]);
  }

 private:
  void RunDirection(const KernelArgs& args, int64_t d, const Direction& weights) const {
    const Sizes& s = sizes_;
    auto* gates = reinterpret_cast<float*>(args.scratch);
    float* spare = gates + s.rows() * s.columns();
    float *h = spare + s.batch * s.columns(), *next = h + s.state(), *c = next + s.state();
    simd::Gemm({.m = s.rows(),
                .a = args.input<float>(0),
                .a_stride = s.input,
                .b = &weights.w,
                .c = gates,
                .c_stride = s.columns(),
                .bias = weights.bias.data()},
               *args.pool);
    Start(args.input<float>(kInitialH), d, h);
    Start(args.input<float>(kInitialC), d, c);
    const bool backwards = reverse_ || d == 1;
    for (int64_t i = 0; i < s.time; ++i) {
      const int64_t t = backwards ? s.time - 1 - i : i;
      step_(Step{s, weights, gates + t * s.batch * s.columns(), h, next, c, spare, *args.pool});
      std::swap(h, next);
      if (args.outputs[0]) Store(h, args.output<float>(0) + (t * s.directions + d) * s.state());
    }
    const float* states[] = {nullptr, h, c};
    for (size_t i = 1; i < args.outputs.size(); ++i)
      if (args.outputs[i]) Store(states[i], args.output<float>(i) + d * s.state());
  }

  void Start(const float* initial, int64_t d, float* state) const {
    if (initial == nullptr) {
      std::fill_n(state, sizes_.state(), 0.0f);
      return;
    }
    Store(initial + d * sizes_.state(), state);
  }
  void Store(const float* from, float* to) const {
    std::memcpy(to, from, static_cast<size_t>(sizes_.state()) * sizeof(float));
  }

  Sizes sizes_;
  bool reverse_;
  std::shared_ptr<Directions> constants_;  // the weights; null where they are packed in every run
  MakeDirections make_;
  StepFunction step_;
};

// --- factories --------------------------------------------------------------------

// Whether all directions have these activations.
bool HasActivations(const std::optional<ir::Strings>& given, std::vector<std::string> wanted) {
  if (!given) return true;
  for (size_t i = 0; i < given->size(); ++i)
    if ((*given)[i] != wanted[i % wanted.size()]) return false;
  return true;
}

template <class Attrs>
absl::StatusOr<Sizes> SizesOf(const KernelContext& context, const Attrs& attrs) {
  if (context.HasInput(kLengths)) return context.Unsupported("sequences of several lengths");
  if (context.HasInput(kPeepholes)) return context.Unsupported("peepholes");
  if (attrs.layout != 0) return context.Unsupported("layout 1");
  if (attrs.clip) return context.Unsupported("clip");
  if (!context.AllFloat32()) return context.Unsupported("only f32");
  const std::span<const int64_t> x = context.dims(0), w = context.dims(1), r = context.dims(2);
  if (x.size() != 3 || w.size() != 3 || r.size() != 3 || r[2] < 1 || w[1] % r[2] != 0)
    return context.Unsupported("operands of another rank or size");
  return Sizes{.time = x[0],
               .batch = x[1],
               .input = x[2],
               .hidden = r[2],
               .directions = w[0],
               .gates = w[1] / r[2]};
}

template <class Attrs, class StepFunction>
Made MakeLayer(const KernelContext& context, const Attrs& attrs, std::string_view name,
               const Sizes& sizes, const MakeDirections& make, StepFunction step) {
  const bool reverse = attrs.direction == ops::RecurrentDirection::kReverse;
  using Run = Layer<StepFunction>;
  WEFT_ASSIGN_OR_RETURN(auto constants, PackConstants(context, std::string(name), make));
  const uint32_t packed = constants ? 1u << 1 | 1u << 2 | 1u << kBias : 0;
  return MakeNative(name, {.packed = packed, .scratch_bytes = Run::ScratchBytes(sizes)},
                    Run(sizes, reverse, std::move(constants), make, step));
}

Made MakeLstm(const KernelContext& context) {
  const auto attrs = context.attrs_of<ops::LSTM>();
  if (!HasActivations(attrs.activations, {"Sigmoid", "Tanh", "Tanh"}))
    return context.Unsupported("unusual activations");
  if (attrs.input_forget != 0) return context.Unsupported("input_forget");
  WEFT_ASSIGN_OR_RETURN(const Sizes sizes, SizesOf(context, attrs));
  return MakeLayer(context, attrs, "lstm", sizes, Packing(sizes, false, false),
                   [](const Step& step) { StepOfLstm(step); });
}
const RegisterKernel<ops::LSTM> kLstm("native", &MakeLstm);

Made MakeGru(const KernelContext& context) {
  const auto attrs = context.attrs_of<ops::GRU>();
  if (!HasActivations(attrs.activations, {"Sigmoid", "Tanh"}))
    return context.Unsupported("unusual activations");
  const bool linear = attrs.linear_before_reset != 0;
  WEFT_ASSIGN_OR_RETURN(const Sizes sizes, SizesOf(context, attrs));
  return MakeLayer(context, attrs, linear ? "gru, linear before reset" : "gru", sizes,
                   Packing(sizes, true, linear),
                   [linear](const Step& step) { StepOfGru(step, linear); });
}
const RegisterKernel<ops::GRU> kGru("native", &MakeGru);

Made MakeRnn(const KernelContext& context) {
  const auto attrs = context.attrs_of<ops::RNN>();
  const bool relu = attrs.activations && HasActivations(attrs.activations, {"Relu"});
  if (!relu && !HasActivations(attrs.activations, {"Tanh"}))
    return context.Unsupported("unusual activations");
  WEFT_ASSIGN_OR_RETURN(const Sizes sizes, SizesOf(context, attrs));
  const UnaryOp activation = relu ? UnaryOp::kRelu : UnaryOp::kTanh;
  return MakeLayer(context, attrs, "rnn", sizes, Packing(sizes, false, false),
                   [activation](const Step& step) { StepOfRnn(step, activation); });
}
const RegisterKernel<ops::RNN> kRnn("native", &MakeRnn);

}  // namespace
}  // namespace weft::kernels::native
