// Pools that read channels where they are, against the reference kernel.
#include "unittests/kernels/agreement.h"
#include "unittests/kernels/native/search/same_results.h"

namespace weft::kernels {
namespace {

using Ints = ir::Ints;

// x without its channels and kernels, as attributes give them.
struct PoolCase {
  ir::Shape x, y;
  Ints kernel, strides, pads, dilations;
  int64_t ceil_mode = 0;
};

const std::vector<PoolCase>& PoolCases() {
  static const std::vector<PoolCase> cases = {
      {{2, 3, 40}, {2, 3, 19}, {3}, {2}, {0, 0}, {1}},
      {{2, 3, 41}, {2, 3, 21}, {3}, {2}, {1, 1}, {1}},
      {{2, 3, 20}, {2, 3, 10}, {3}, {2}, {0, 0}, {1}, 1},
      {{1, 2, 17}, {1, 2, 12}, {3}, {1}, {1, 2}, {4}},
      {{1, 1, 1}, {1, 1, 1}, {1}, {1}, {0, 0}, {1}},
      {{2, 3, 9, 8}, {2, 3, 5, 4}, {3, 3}, {2, 2}, {1, 1, 1, 1}, {1, 1}},
      {{1, 2, 9, 8}, {1, 2, 5, 5}, {3, 2}, {1, 1}, {0, 0, 0, 0}, {2, 3}},
      {{1, 2, 4, 7, 6}, {1, 2, 2, 3, 3}, {2, 2, 2}, {2, 2, 2}, {0, 0, 0, 0, 0, 0}, {1, 1, 1}},
      {{1, 2, 3000}, {1, 2, 999}, {6}, {3}, {0, 0}, {1}},
      {{1, 2, 1500}, {1, 2, 1501}, {4}, {1}, {2, 2}, {1}},
      {{2, 2, 5, 4, 6}, {2, 2, 5, 2, 5}, {3, 2, 4}, {1, 2, 1}, {1, 0, 2, 1, 0, 0}, {1, 1, 1}},
  };
  return cases;
}

template <class O>
typename O::template Attrs<ir::BuilderSlot> AttrsOf(const PoolCase& c) {
  typename O::template Attrs<ir::BuilderSlot> attrs;
  attrs.kernel_shape = c.kernel;
  attrs.strides = c.strides;
  attrs.pads = c.pads;
  attrs.dilations = c.dilations;
  attrs.ceil_mode = c.ceil_mode;
  return attrs;
}

TEST(NativeChannelPool, FindsTheLargestAndWhereItIs) {
  for (const PoolCase& c : PoolCases()) {
    SCOPED_TRACE(ir::ToString(c.x));
    for (const DataType dtype : {DataType::kF32, DataType::kF64, DataType::kI8, DataType::kU8}) {
      for (const int64_t storage_order : {0, 1}) {
        auto attrs = AttrsOf<ops::MaxPool>(c);
        attrs.storage_order = storage_order;
        const std::vector<ResultType> both = {{dtype, c.y}, {DataType::kI64, c.y}};
        ExpectSameAsReference<ops::MaxPool>({WithTies(dtype, c.x, 1)}, attrs, both);
        if (c.x.size() != 4 || dtype != DataType::kF32)
          ExpectSameAsReference<ops::MaxPool>({WithTies(dtype, c.x, 2)}, attrs, {both[0]});
      }
    }
  }
}

TEST(NativeChannelPool, Averages) {
  for (const PoolCase& c : PoolCases()) {
    SCOPED_TRACE(ir::ToString(c.x));
    for (const int64_t count_include_pad : {0, 1}) {
      auto attrs = AttrsOf<ops::AveragePool>(c);
      attrs.count_include_pad = count_include_pad;
      Agreement<ops::AveragePool>({Random(c.x, 3)}, attrs, {FloatResult(c.y)}).Of("native");
      Agreement<ops::AveragePool>({WithTies(DataType::kF32, c.x, 4)}, attrs, {FloatResult(c.y)})
          .Of("native");
    }
  }
}

TEST(NativeChannelPool, OfNorms) {
  for (const PoolCase& c : PoolCases()) {
    SCOPED_TRACE(ir::ToString(c.x));
    for (const int64_t p : {1, 2}) {
      auto attrs = AttrsOf<ops::LpPool>(c);
      attrs.p = p;
      Agreement<ops::LpPool>({Random(c.x, 5)}, attrs, {FloatResult(c.y)}).Of("native");
      Agreement<ops::LpPool>({WithTies(DataType::kF32, c.x, 6)}, attrs, {FloatResult(c.y)})
          .Of("native");
    }
  }
}

TEST(NativeChannelPool, LeavesOtherNormsToTheReference) {
  const OpProgram program = OpProgram::Make<ops::LpPool>(
      {Random({1, 1, 4}, 1)}, {.kernel_shape = Ints{2}, .p = 3}, {FloatResult({1, 1, 3})});
  EXPECT_EQ(program.ProviderOf({.provider = "native"}), "reference");
}

TEST(NativeGlobalMaxPool, IsThatOfTheReference) {
  for (const int64_t n : {1, 2, 15, 16, 63, 64, 65, 129, 3136}) {
    const std::vector<ResultType> y = {FloatResult({2, 5, 1})};
    ExpectSameAsReference<ops::GlobalMaxPool>({Random({2, 5, n}, 8)}, {}, y);
    ExpectSameAsReference<ops::GlobalMaxPool>({WithTies(DataType::kF32, {2, 5, n}, 9, 0)}, {}, y);
    ExpectSameAsReference<ops::GlobalMaxPool>({WithTies(DataType::kF32, {2, 5, n}, 9, -1)}, {}, y);
    for (const float value : {NAN, -INFINITY, -0.0f}) {
      std::vector<float> x(static_cast<size_t>(10 * n), value);
      ExpectSameAsReference<ops::GlobalMaxPool>({F32({2, 5, n}, x)}, {}, y);
      for (size_t i = x.size() / 2; i < x.size(); i += 2) x[i] = -INFINITY;
      ExpectSameAsReference<ops::GlobalMaxPool>({F32({2, 5, n}, x)}, {}, y);
    }
  }
  ExpectSameAsReference<ops::GlobalMaxPool>({Random({2, 5, 7, 9}, 8)}, {},
                                            {FloatResult({2, 5, 1, 1})});
}

TEST(NativeChannelPool, SharesRowsOfOneChannel) {
  ExpectSameAsReference<ops::MaxPool>(
      {Random({1, 1, 300, 200}, 7)}, {.kernel_shape = Ints{5, 4}, .strides = Ints{1, 1}},
      {FloatResult({1, 1, 296, 197}), {DataType::kI64, {1, 1, 296, 197}}});
}

TEST(NativeChannelPool, LeavesOtherTypesToTheReference) {
  const OpProgram program =
      OpProgram::Make<ops::MaxPool>({*Tensor::Create(DataType::kI32, {1, 1, 4})},
                                    {.kernel_shape = Ints{2}}, {{DataType::kI32, {1, 1, 3}}});
  EXPECT_EQ(program.ProviderOf({.provider = "native"}), "reference");
}

}  // namespace
}  // namespace weft::kernels
