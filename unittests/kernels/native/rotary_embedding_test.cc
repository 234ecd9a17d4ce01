// fused.rotary_embedding: the function and the kernels against the definition written out in double.
#include "unittests/kernels/agreement.h"
#include "unittests/kernels/native/simd/simd_test_util.h"

namespace weft::kernels {
namespace {

// x [B, H, S, 2 * pairs], cos and sin [S, 2 * pairs] or [S, pairs].
struct Rotary {
  int64_t batch, heads, length, pairs;
  bool interleaved, per_column;

  ir::Shape shape() const { return {batch, heads, length, 2 * pairs}; }
  ir::Shape angles() const { return {length, per_column ? 2 * pairs : pairs}; }
  Tensor x() const { return Random(shape(), 1); }
  Tensor cos() const { return Random(angles(), 2); }
  Tensor sin() const { return Random(angles(), 3); }

  std::vector<double> Definition() const {
    const Tensor all = x(), c = cos(), s = sin();
    std::vector<double> y(all.values<float>().size());
    const int64_t columns = 2 * pairs;
    for (int64_t row = 0; row < batch * heads * length; ++row) {
      for (int64_t i = 0; i < pairs; ++i) {
        const int64_t first = interleaved ? 2 * i : i, second = interleaved ? 2 * i + 1 : i + pairs;
        const auto angle = [&](const Tensor& table, int64_t column) {
          const int64_t at = per_column ? column : i;
          return double{table.values<float>()[row % length * (per_column ? columns : pairs) + at]};
        };
        const double a = all.values<float>()[row * columns + first],
                     b = all.values<float>()[row * columns + second];
        y[row * columns + first] = a * angle(c, first) - b * angle(s, first);
        y[row * columns + second] = b * angle(c, second) + a * angle(s, second);
      }
    }
    return y;
  }
  OpProgram Program() const {
    return OpProgram::Make<fused::RotaryEmbedding>(
        {x(), cos(), sin()}, {.interleaved = interleaved}, {FloatResult(shape())});
  }
};

std::vector<Rotary> Cases() {
  std::vector<Rotary> cases;
  for (const int64_t pairs : {1, 2, 5, 8, 16, 19, 64})
    for (const bool interleaved : {false, true})
      for (const bool per_column : {false, true})
        cases.push_back({2, 3, 7, pairs, interleaved, per_column});
  return cases;
}

TEST(ReferenceRotaryEmbeddingOfPairs, IsTheDefinition) {
  for (const Rotary& r : Cases()) {
    const auto y = r.Program().Run({.provider = "reference"});
    ASSERT_TRUE(y.ok()) << y.status();
    EXPECT_LT(simd::RelativeError(ValuesOf<float>((*y)[0]), r.Definition()), 1e-6)
        << r.pairs << (r.interleaved ? ", interleaved" : "") << (r.per_column ? ", full" : "");
  }
}

TEST(NativeRotaryEmbedding, IsTheDefinitionOnEveryInstructionSet) {
  const Isa before = CurrentIsa();
  for (const Isa isa : SupportedIsas()) {
    SetIsa(isa);
    for (const Rotary& r : Cases()) {
      for (const int threads : {1, 2}) {
        const OpProgram program = r.Program();
        EXPECT_EQ(program.ProviderOf({.provider = "auto", .threads = threads}), "native");
        const auto y = program.Run({.provider = "auto", .threads = threads});
        ASSERT_TRUE(y.ok()) << y.status();
        EXPECT_LT(simd::RelativeError(ValuesOf<float>((*y)[0]), r.Definition()), simd::kTolerance)
            << IsaName(isa) << ", " << r.pairs << (r.interleaved ? ", interleaved" : "")
            << (r.per_column ? ", full" : "");
      }
    }
  }
  SetIsa(before);
}

TEST(NativeRotaryEmbedding, ReadsAnglesThatAreBroadcastInAnyWay) {
  const auto agree = [](const ir::Shape& x, const ir::Shape& cos, const ir::Shape& sin) {
    for (const bool interleaved : {false, true})
      Agreement<fused::RotaryEmbedding>({Random(x, 1), Random(cos, 2), Random(sin, 3)},
                                        {.interleaved = interleaved}, {FloatResult(x)})
          .Of("native");
  };
  agree({2, 3, 4, 6}, {2, 1, 4, 6}, {1, 3, 1, 6});
  agree({2, 4, 3, 6}, {2, 4, 1, 3}, {3});
  agree({6}, {6}, {6});
}

}  // namespace
}  // namespace weft::kernels
