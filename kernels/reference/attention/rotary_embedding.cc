// Rotary position embedding.
#include "ir/dialects/onnx/nn/attention.h"
#include "kernels/reference/attention/heads.h"

namespace weft::kernels::reference {
namespace {

namespace ops = ir::ops;

// Turns `pairs` pairs of columns of one head.
void Rotate(bool interleaved, int64_t pairs, const double* cos, const double* sin, double* x) {
  for (int64_t p = 0; p < pairs; ++p) {
    double& a = x[interleaved ? 2 * p : p];
    double& b = x[interleaved ? 2 * p + 1 : p + pairs];
    const double real = cos[p] * a - sin[p] * b, imaginary = sin[p] * a + cos[p] * b;
    a = real;
    b = imaginary;
  }
}

absl::Status RotaryEmbedding(const AttrsOf<ops::RotaryEmbedding>& attrs, const KernelArgs& args) {
  Heads x(args.inputs[0], attrs.num_heads);
  const std::vector<double> cos = ReadDoubles(args.inputs[1]), sin = ReadDoubles(args.inputs[2]);
  const int64_t pairs = args.inputs[1].dims.back(), positions = args.inputs[1].dims[0];
  const bool has_ids = args.HasInput(3);
  const std::vector<int64_t> ids = has_ids ? ReadInts(args.inputs[3]) : std::vector<int64_t>();
  for (int64_t b = 0; b < x.batch; ++b) {
    for (int64_t s = 0; s < x.sequence; ++s) {
      int64_t at = b * x.sequence + s;
      if (has_ids) {
        // Negative ones count from the end, as in the Gather that the standard's function of it has.
        const int64_t id = ids[at];
        at = id < 0 ? id + positions : id;
        if (at < 0 || at >= positions)
          return ir::InvalidArgument("position " + std::to_string(id) + " is not one of " +
                                     std::to_string(positions));
      }
      for (int64_t h = 0; h < x.heads; ++h)
        Rotate(attrs.interleaved != 0, pairs, cos.data() + at * pairs, sin.data() + at * pairs,
               x.values.data() + x.Offset(b, h, s, x.depth));
    }
  }
  WriteDoubles(x.values, args.outputs[0]);
  return absl::OkStatus();
}
absl::Status CheckRotaryEmbedding(const KernelContext& context) {
  return CheckInferredFloats(context, {0, 1, 2});
}
const RegisterReference<ops::RotaryEmbedding> kRotaryEmbedding(&RotaryEmbedding,
                                                               &CheckRotaryEmbedding);

}  // namespace
}  // namespace weft::kernels::reference
