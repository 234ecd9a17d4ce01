// Attention, one row of scores after another.
#include "ir/dialects/onnx/nn/attention.h"

#include <algorithm>
#include <limits>

#include "kernels/reference/attention/heads.h"

namespace weft::kernels::reference {
namespace {

namespace ops = ir::ops;
using Attrs = AttrsOf<ops::Attention>;

constexpr size_t kMask = 3, kPastKey = 4, kPastValue = 5, kLengths = 6;  // operands
constexpr double kNever = -std::numeric_limits<double>::infinity();

// `past` (may be null) and `x` joined along the sequence, as [B, heads, S, depth].
std::vector<double> JoinCache(const TensorView& past, const Heads& x) {
  const int64_t before = past ? past.dims[2] : 0, total = before + x.sequence;
  std::vector<double> joined(static_cast<size_t>(x.batch * x.heads * total * x.depth));
  const std::vector<double> old = past ? ReadDoubles(past) : std::vector<double>();
  for (int64_t row = 0; row < x.batch * x.heads; ++row) {
    double* to = joined.data() + row * total * x.depth;
    to = std::copy_n(old.data() + row * before * x.depth, before * x.depth, to);
    for (int64_t s = 0; s < x.sequence; ++s)
      to = std::copy_n(x.Row(row / x.heads, row % x.heads, s), x.depth, to);
  }
  return joined;
}

// What is added to the score of a key: the mask, or never.
class Bias {
 public:
  Bias(const Attrs& attrs, const KernelArgs& args)
      : causal_(attrs.is_causal != 0),
        past_(args.HasInput(kPastKey) ? args.inputs[kPastKey].dims[2] : 0) {
    const TensorView& q = args.inputs[0];
    queries_ = q.dims[q.dims.size() == 3 ? 1 : 2];
    if (args.HasInput(kLengths)) lengths_ = ReadInts(args.inputs[kLengths]);
    for (int64_t& n : lengths_) n = std::clamp<int64_t>(n, 0, INT32_MAX);
    if (!args.HasInput(kMask)) return;
    const TensorView& mask = args.inputs[kMask];
    mask_ = ReadDoubles(mask);
    if (mask.dtype == ir::DataType::kBool)
      for (double& m : mask_) m = m != 0 ? 0 : kNever;
    columns_ = mask.dims.back();
    int64_t stride = columns_;
    for (size_t i = 1; i < mask.dims.size(); ++i) {
      const int64_t extent = mask.dims[mask.dims.size() - 1 - i];
      strides_[3 - i] = extent == 1 ? 0 : stride;
      stride *= extent;
    }
  }
  double At(int64_t b, int64_t h, int64_t i, int64_t key) const {
    // The last of the queries stands at the last key in use.
    const int64_t before = lengths_.empty() ? past_ : lengths_[b] - queries_;
    if (causal_ && key - i > before) return kNever;
    if (!lengths_.empty() && key >= lengths_[b]) return kNever;
    if (columns_ < 0) return 0;
    if (key >= columns_) return kNever;
    return mask_[b * strides_[0] + h * strides_[1] + i * strides_[2] + key];
  }

 private:
  bool causal_;
  int64_t past_, queries_;
  std::vector<int64_t> lengths_;  // keys in use, where a batch has fewer than others
  std::vector<double> mask_;
  int64_t columns_ = -1;            // of the mask
  int64_t strides_[3] = {0, 0, 0};  // of its batches, heads and rows
};

// A row in which nothing takes part is all zero.
void Softmax(std::vector<double>* row) {
  double largest = kNever, sum = 0;
  for (const double x : *row) largest = std::max(largest, x);
  if (largest == kNever) largest = 0;
  for (double& x : *row) sum += x = std::exp(x - largest);
  for (double& x : *row) x /= sum == 0 ? 1 : sum;
}

class AttentionRun {
 public:
  AttentionRun(const Attrs& attrs, const KernelArgs& args)
      : attrs_(attrs),
        q_(args.inputs[0], attrs.q_num_heads),
        k_(args.inputs[1], attrs.kv_num_heads),
        v_(args.inputs[2], attrs.kv_num_heads),
        keys_(JoinCache(args.HasInput(kPastKey) ? args.inputs[kPastKey] : TensorView(), k_)),
        values_(JoinCache(args.HasInput(kPastValue) ? args.inputs[kPastValue] : TensorView(), v_)),
        bias_(attrs, args),
        y_(static_cast<size_t>(q_.batch * q_.heads * q_.sequence * v_.depth)) {
    total_ = k_.sequence + (args.HasInput(kPastKey) ? args.inputs[kPastKey].dims[2] : 0);
    scale_ = attrs.scale ? double{*attrs.scale} : 1 / std::sqrt(static_cast<double>(q_.depth));
  }

  void Run(const KernelArgs& args) {
    if (args.outputs.size() > 3)
      scores_.resize(static_cast<size_t>(q_.batch * q_.heads * q_.sequence * total_));
    args.pool->ParallelFor(q_.batch * q_.heads * q_.sequence, 1, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row)
        RunRow(row / q_.sequence / q_.heads, row / q_.sequence % q_.heads, row % q_.sequence);
    });
    WriteDoubles(y_, args.outputs[0]);
    if (args.outputs.size() > 1) WriteDoubles(keys_, args.outputs[1]);
    if (args.outputs.size() > 2) WriteDoubles(values_, args.outputs[2]);
    if (args.outputs.size() > 3) WriteDoubles(scores_, args.outputs[3]);
  }

 private:
  void Keep(int64_t mode, int64_t row, const std::vector<double>& scores) {
    if (attrs_.qk_matmul_output_mode == mode && !scores_.empty())
      std::copy(scores.begin(), scores.end(), scores_.begin() + row * total_);
  }
  void RunRow(int64_t b, int64_t h, int64_t i) {
    const int64_t row = (b * q_.heads + h) * q_.sequence + i;
    const int64_t first = (b * k_.heads + h / (q_.heads / k_.heads)) * total_;
    const double* q = q_.Row(b, h, i);
    std::vector<double> scores(static_cast<size_t>(total_), 0.0);
    for (int64_t j = 0; j < total_; ++j) {
      const double* key = keys_.data() + (first + j) * q_.depth;
      for (int64_t d = 0; d < q_.depth; ++d) scores[j] += q[d] * key[d];
      scores[j] *= scale_;
    }
    Keep(0, row, scores);
    const double cap = attrs_.softcap;
    for (int64_t j = 0; cap != 0 && j < total_; ++j) scores[j] = cap * std::tanh(scores[j] / cap);
    Keep(1, row, scores);
    for (int64_t j = 0; j < total_; ++j) scores[j] += bias_.At(b, h, i, j);
    Keep(2, row, scores);
    Softmax(&scores);
    Keep(3, row, scores);
    double* y = y_.data() + q_.Offset(b, h, i, v_.depth);
    for (int64_t j = 0; j < total_; ++j)
      for (int64_t d = 0; d < v_.depth; ++d)
        y[d] += scores[j] * values_[(first + j) * v_.depth + d];
  }

  const Attrs& attrs_;
  const Heads q_, k_, v_;
  const std::vector<double> keys_, values_;  // [B, heads, total, depth]
  const Bias bias_;
  int64_t total_;
  double scale_;
  std::vector<double> y_;       // laid out like q
  std::vector<double> scores_;  // empty unless they are a result
};

absl::Status Attention(const Attrs& attrs, const KernelArgs& args) {
  AttentionRun(attrs, args).Run(args);
  return absl::OkStatus();
}

absl::Status CheckAttention(const KernelContext& context) {
  if (context.HasInput(kMask) && context.input_type(kMask).dtype() != ir::DataType::kBool &&
      !VisitNumber(context.input_type(kMask).dtype(), [](auto) {}))
    return context.Unsupported("a mask of this element type");
  return CheckInferredFloats(context, {0, 1, 2, kPastKey, kPastValue});
}
const RegisterReference<ops::Attention> kAttention(&Attention, &CheckAttention);

}  // namespace
}  // namespace weft::kernels::reference
