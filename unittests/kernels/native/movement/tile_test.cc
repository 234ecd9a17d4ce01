// Tile against the reference, on elements of every size.
#include <numeric>

#include "unittests/kernels/agreement.h"

namespace weft::kernels {
namespace {

using Ints = std::vector<int64_t>;

template <class T>
Tensor Iota(DataType dtype, ir::Shape dims) {
  Tensor x = *Tensor::Create(dtype, std::move(dims));
  std::iota(x.values<T>().begin(), x.values<T>().end(), T(0));
  return x;
}

struct Case {
  ir::Shape x;
  Ints repeats;
};

template <class T>
void ExpectTiles(DataType dtype) {
  SCOPED_TRACE(ir::DataTypeName(dtype));
  for (const Case& c :
       {Case{{5}, {1}}, Case{{1}, {9}}, Case{{3}, {700}}, Case{{7, 3}, {1, 5}},
        Case{{7, 3}, {4, 1}}, Case{{7, 3}, {2, 5}}, Case{{7, 1}, {1, 56}}, Case{{7, 1}, {3, 2}},
        Case{{1, 7, 1, 3}, {2, 1, 5, 1}}, Case{{2, 3, 4, 5}, {2, 3, 2, 3}},
        Case{{2, 1, 3, 300}, {1, 4, 1, 2}}, Case{{1, 1, 2}, {3, 4, 1}}, Case{{90, 200}, {3, 2}},
        Case{{2, 2, 1, 1, 2, 1, 2, 3}, {2, 1, 2, 1, 1, 3, 1, 2}}}) {
    ir::Shape dims = c.x;
    for (size_t i = 0; i < dims.size(); ++i) dims[i] *= c.repeats[i];
    SCOPED_TRACE(ir::ToString(c.x) + " to " + ir::ToString(dims));
    const auto rank = static_cast<int64_t>(c.repeats.size());
    Agreement<ops::Tile>({Iota<T>(dtype, c.x), Constant(I64({rank}, c.repeats))}, {},
                         {{dtype, dims}})
        .Of("native", 0);
  }
}

TEST(NativeTile, AgreesWithTheReferenceOnEveryElementSize) {
  ExpectTiles<uint8_t>(DataType::kU8);
  ExpectTiles<int16_t>(DataType::kI16);
  ExpectTiles<float>(DataType::kF32);
  ExpectTiles<int64_t>(DataType::kI64);
}

TEST(NativeTile, LeavesFiveAxesThatRepeatToTheReference) {
  Agreement<ops::Tile>(
      {Iota<float>(DataType::kF32, {2, 2, 2, 2, 2}), Constant(I64({5}, {2, 3, 2, 3, 2}))}, {},
      {FloatResult({4, 6, 4, 6, 4})})
      .Of("reference", 0);
}

}  // namespace
}  // namespace weft::kernels
