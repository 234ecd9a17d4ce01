// fused.embed_layer_norm: the reference body and the kernel against the definition in double.
#include <cmath>

#include "unittests/kernels/agreement.h"
#include "unittests/kernels/native/simd/simd_test_util.h"

namespace weft::kernels {
namespace {

constexpr float kEpsilon = 1e-3f;
constexpr int64_t kWords = 7, kPositions = 5, kSegments = 3;

struct Embedding {
  ir::Shape ids, position_ids, segment_ids;  // empty: not given
  int64_t columns;

  Tensor words() const { return Random({kWords, columns}, 1); }
  Tensor positions() const { return Random({kPositions, columns}, 2); }
  Tensor segments() const { return Random({kSegments, columns}, 3); }
  Tensor scale() const { return Random({columns}, 4); }
  Tensor bias() const { return Random({columns}, 5); }
  // Negative ones, too.
  template <class T>
  static Tensor Ids(const ir::Shape& shape, int64_t rows, int64_t step) {
    std::vector<T> ids(static_cast<size_t>(CountElements(shape)));
    for (size_t i = 0; i < ids.size(); ++i)
      ids[i] = static_cast<T>((static_cast<int64_t>(i) * step + 1) % (2 * rows) - rows);
    return MakeTensor<T>(sizeof(T) == 8 ? DataType::kI64 : DataType::kI32, shape, ids);
  }

  OpProgram Program() const {
    std::vector<Operand> operands = {Ids<int64_t>(ids, kWords, 3), words(), positions(), scale(),
                                     bias()};
    if (!position_ids.empty() || !segment_ids.empty())
      operands.push_back(position_ids.empty() ? Operand()
                                              : Ids<int32_t>(position_ids, kPositions, 2));
    if (!segment_ids.empty()) {
      operands.emplace_back(segments());
      operands.emplace_back(Ids<int32_t>(segment_ids, kSegments, 1));
    }
    ir::Shape result = ids;
    result.push_back(columns);
    return OpProgram::Make<fused::EmbedLayerNorm>(std::move(operands), {.epsilon = kEpsilon},
                                                  {FloatResult(result)});
  }

  std::vector<double> Definition() const {
    const Tensor w = words(), p = positions(), s = segments(), g = scale(), b = bias();
    const int64_t rows = CountElements(ids), length = ids.back();
    std::vector<double> y(static_cast<size_t>(rows * columns));
    const auto row_of = [&](const ir::Shape& shape, int64_t table, int64_t step, int64_t row) {
      const int64_t id = (row % CountElements(shape) * step + 1) % (2 * table) - table;
      return id < 0 ? id + table : id;
    };
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t word = row_of(ids, kWords, 3, row);
      const int64_t position =
          position_ids.empty() ? row % length : row_of(position_ids, kPositions, 2, row);
      double* const out = y.data() + row * columns;
      double mean = 0, variance = 0;
      for (int64_t c = 0; c < columns; ++c) {
        out[c] = double{w.values<float>()[word * columns + c]} +
                 double{p.values<float>()[position * columns + c]};
        if (!segment_ids.empty())
          out[c] += double{s.values<float>()[row_of(segment_ids, kSegments, 1, row) * columns + c]};
        mean += out[c] / double(columns);
      }
      for (int64_t c = 0; c < columns; ++c)
        variance += (out[c] - mean) * (out[c] - mean) / double(columns);
      for (int64_t c = 0; c < columns; ++c)
        out[c] = (out[c] - mean) / std::sqrt(variance + kEpsilon) * g.values<float>()[c] +
                 b.values<float>()[c];
    }
    return y;
  }
};

std::vector<Embedding> Cases() {
  std::vector<Embedding> cases;
  for (const int64_t columns : {3, 16, 33, 64, 131}) {
    cases.push_back({{2, 4}, {}, {}, columns});
    cases.push_back({{5}, {}, {5}, columns});
    cases.push_back({{3, 4}, {1, 4}, {3, 4}, columns});
    cases.push_back({{2, 3, 4}, {4}, {3, 4}, columns});
  }
  return cases;
}

TEST(ReferenceEmbedLayerNorm, IsTheDefinition) {
  for (const Embedding& e : Cases()) {
    const auto y = e.Program().Run({.provider = "reference"});
    ASSERT_TRUE(y.ok()) << y.status();
    EXPECT_LT(simd::RelativeError(ValuesOf<float>((*y)[0]), e.Definition()), 5e-6) << e.columns;
  }
}

TEST(NativeEmbedLayerNorm, IsTheDefinitionOnEveryInstructionSet) {
  const Isa before = CurrentIsa();
  for (const Isa isa : SupportedIsas()) {
    SetIsa(isa);
    for (const Embedding& e : Cases()) {
      const OpProgram program = e.Program();
      for (const int threads : {1, 2}) {
        EXPECT_EQ(program.ProviderOf({.provider = "auto", .threads = threads}), "native");
        const auto y = program.Run({.provider = "auto", .threads = threads});
        ASSERT_TRUE(y.ok()) << y.status();
        EXPECT_LT(simd::RelativeError(ValuesOf<float>((*y)[0]), e.Definition()),
                  4 * simd::kTolerance)
            << IsaName(isa) << ", " << e.columns;
      }
    }
  }
  SetIsa(before);
}

TEST(NativeEmbedLayerNorm, RefusesIdsThatNoTableHas) {
  for (const int64_t id : {7, -8}) {
    const Embedding e{{1, 2}, {}, {}, 4};
    const OpProgram program = OpProgram::Make<fused::EmbedLayerNorm>(
        {I64({1, 2}, {0, id}), e.words(), e.positions(), e.scale()}, {.epsilon = kEpsilon},
        {FloatResult({1, 2, 4})});
    const auto y = program.Run({.provider = "auto"});
    ASSERT_FALSE(y.ok());
    EXPECT_EQ(y.status().message(), "fused.embed_layer_norm: id " + std::to_string(id) +
                                        " is out of range for a table of 7 rows");
  }
}

TEST(NativeEmbedLayerNorm, LeavesIdsOfEachBatchToTheBody) {
  const Embedding e{{3, 4}, {3, 1}, {}, 8};
  EXPECT_NE(e.Program().ProviderOf({.provider = "auto"}), "native");
}

}  // namespace
}  // namespace weft::kernels
