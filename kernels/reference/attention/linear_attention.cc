// Attention as a recurrence, and the causal convolution in front of it.
#include <algorithm>

#include "ir/dialects/onnx/nn/attention.h"
#include "kernels/reference/attention/heads.h"

namespace weft::kernels::reference {
namespace {

namespace ops = ir::ops;

constexpr size_t kState = 3, kDecay = 4, kBeta = 5;  // operands

// A gate per token with any number of columns for each of `heads` heads; one column may be for all.
struct Gate {
  std::vector<double> values;
  int64_t columns = 0, per_head = 0;

  Gate(const KernelArgs& args, size_t i, int64_t heads) {
    if (!args.HasInput(i)) return;
    values = ReadDoubles(args.inputs[i]);
    columns = args.inputs[i].dims[2];
    per_head = columns / heads;
  }
  double At(int64_t token, int64_t head, int64_t column) const {
    if (per_head == 0) return values[token];
    return values[token * columns + head * per_head + (per_head == 1 ? 0 : column)];
  }
};

struct State {  // of one head: [depth, width]
  double* values;
  int64_t depth, width;

  void Scale(int64_t d, double factor) const {
    for (int64_t m = 0; m < width; ++m) values[d * width + m] *= factor;
  }
  // x^T . state
  std::vector<double> Read(const double* x) const {
    std::vector<double> sums(static_cast<size_t>(width));
    for (int64_t d = 0; d < depth; ++d)
      for (int64_t m = 0; m < width; ++m) sums[m] += x[d] * values[d * width + m];
    return sums;
  }
  void AddOuter(const double* k, const std::vector<double>& v) const {
    for (int64_t d = 0; d < depth; ++d)
      for (int64_t m = 0; m < width; ++m) values[d * width + m] += k[d] * v[m];
  }
};

absl::Status LinearAttention(const AttrsOf<ops::LinearAttention>& attrs, const KernelArgs& args) {
  const Heads q(args.inputs[0], attrs.q_num_heads), k(args.inputs[1], attrs.kv_num_heads),
      v(args.inputs[2], attrs.kv_num_heads);
  const Gate decay(args, kDecay, k.heads), beta(args, kBeta, k.heads);
  std::vector<double> states = args.HasInput(kState)
                                   ? ReadDoubles(args.inputs[kState])
                                   : std::vector<double>(k.batch * k.heads * k.depth * v.depth);
  std::vector<double> y(static_cast<size_t>(q.batch * q.heads * q.sequence * v.depth));
  const double scale = attrs.scale != 0 ? attrs.scale : 1 / std::sqrt(double(q.depth));
  const int64_t group = q.heads / k.heads;
  for (int64_t row = 0; row < k.batch * k.heads; ++row) {
    const int64_t b = row / k.heads, h = row % k.heads;
    const State state = {states.data() + row * k.depth * v.depth, k.depth, v.depth};
    for (int64_t t = 0; t < k.sequence; ++t) {
      const int64_t token = b * k.sequence + t;
      const double* key = k.Row(b, h, t);
      std::vector<double> value(v.Row(b, h, t), v.Row(b, h, t) + v.depth);
      for (int64_t d = 0; IsGated(attrs.update_rule) && d < k.depth; ++d)
        state.Scale(d, std::exp(decay.At(token, h, d)));
      if (IsDelta(attrs.update_rule)) {
        const std::vector<double> known = state.Read(key);
        for (int64_t m = 0; m < v.depth; ++m)
          value[m] = beta.At(token, h, 0) * (value[m] - known[m]);
      }
      state.AddOuter(key, value);
      for (int64_t head = h * group; head < (h + 1) * group; ++head) {
        const std::vector<double> read = state.Read(q.Row(b, head, t));
        double* to = y.data() + q.Offset(b, head, t, v.depth);
        std::transform(read.begin(), read.end(), to, [&](double x) { return scale * x; });
      }
    }
  }
  WriteDoubles(y, args.outputs[0]);
  WriteDoubles(states, args.outputs[1]);
  return absl::OkStatus();
}
absl::Status CheckLinearAttention(const KernelContext& context) {
  return CheckInferredFloats(context, {0, 1, 2, kState});
}
const RegisterReference<ops::LinearAttention> kLinearAttention(&LinearAttention,
                                                               &CheckLinearAttention);

absl::Status CausalConvWithState(const AttrsOf<ops::CausalConvWithState>& attrs,
                                 const KernelArgs& args) {
  const std::vector<double> x = ReadDoubles(args.inputs[0]), weight = ReadDoubles(args.inputs[1]);
  const int64_t batches = args.inputs[0].dims[0], channels = args.inputs[0].dims[1];
  const int64_t length = args.inputs[0].dims[2], taps = args.inputs[1].dims[2];
  const std::vector<double> bias =
      args.HasInput(2) ? ReadDoubles(args.inputs[2]) : std::vector<double>(channels, 0.0);
  const std::vector<double> past = args.HasInput(3)
                                       ? ReadDoubles(args.inputs[3])
                                       : std::vector<double>(batches * channels * (taps - 1), 0.0);
  std::vector<double> y, state;
  for (int64_t row = 0; row < batches * channels; ++row) {
    std::vector<double> all(past.begin() + row * (taps - 1), past.begin() + (row + 1) * (taps - 1));
    all.insert(all.end(), x.begin() + row * length, x.begin() + (row + 1) * length);
    for (int64_t i = 0; i < length; ++i) {
      double sum = bias[row % channels];
      for (int64_t t = 0; t < taps; ++t) sum += weight[row % channels * taps + t] * all[i + t];
      y.push_back(attrs.activation == ops::CausalActivation::kNone ? sum
                                                                   : sum / (1 + std::exp(-sum)));
    }
    state.insert(state.end(), all.end() - (taps - 1), all.end());
  }
  WriteDoubles(y, args.outputs[0]);
  WriteDoubles(state, args.outputs[1]);
  return absl::OkStatus();
}
absl::Status CheckCausalConvWithState(const KernelContext& context) {
  WEFT_RETURN_IF_ERROR(CheckInferred(context));
  return SameFloats(context);
}
const RegisterReference<ops::CausalConvWithState> kCausalConvWithState(&CausalConvWithState,
                                                                       &CheckCausalConvWithState);

}  // namespace
}  // namespace weft::kernels::reference
