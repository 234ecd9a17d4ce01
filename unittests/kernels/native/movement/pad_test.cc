// Pad against the reference: every mode, elements of every size, pads known early and late.
#include <numeric>

#include "unittests/kernels/agreement.h"

namespace weft::kernels {
namespace {

using Ints = std::vector<int64_t>;

template <class T>
Tensor Iota(DataType dtype, ir::Shape dims) {
  Tensor x = *Tensor::Create(dtype, std::move(dims));
  std::iota(x.values<T>().begin(), x.values<T>().end(), T(1));
  return x;
}

struct Case {
  ir::Shape x;
  Ints pads;
};
ir::Shape Padded(const Case& c) {
  ir::Shape dims = c.x;
  for (size_t i = 0; i < dims.size(); ++i) dims[i] += c.pads[i] + c.pads[i + dims.size()];
  return dims;
}

// Inner axes, outer axes, none, all; more than the axis has, less than nothing, both; for several threads.
const std::vector<Case>& Cases() {
  static const std::vector<Case> all = {{{7}, {2, 3}},
                                        {{1}, {4, 5}},
                                        {{3, 5}, {1, 0, 2, 3}},
                                        {{3, 5}, {0, 0, 0, 0}},
                                        {{3, 5}, {11, 23, 9, 17}},
                                        {{6, 9}, {-1, -2, -3, -4}},
                                        {{6, 9}, {-2, 3, 4, -5}},
                                        {{2, 3, 4, 5}, {0, 0, 1, 2, 0, 0, 2, 1}},
                                        {{2, 5, 6, 3}, {0, 1, 2, 0, 0, 3, 1, 0}},
                                        {{2, 3, 4, 5}, {1, 0, 2, 0, 1, 0, 1, 0}},
                                        {{2, 64, 20, 30}, {0, 0, 2, 2, 0, 0, 2, 2}}};
  return all;
}

template <class T>
void ExpectPads(DataType dtype, ops::PadMode mode) {
  SCOPED_TRACE(std::string(ir::DataTypeName(dtype)) + ", mode " +
               std::to_string(static_cast<int>(mode)));
  for (const Case& c : Cases()) {
    SCOPED_TRACE(ir::ToString(c.x) + " to " + ir::ToString(Padded(c)));
    const auto count = static_cast<int64_t>(c.pads.size());
    // Constant ones that reflect more than an axis has are an error before any kernel is asked.
    bool are_short = true;
    for (size_t i = 0; i < c.pads.size(); ++i) are_short &= c.pads[i] < c.x[i % c.x.size()];
    const Operand pads(I64({count}, c.pads), are_short || mode != ops::PadMode::kReflect);
    Agreement<ops::Pad>({Iota<T>(dtype, c.x), pads}, {.mode = mode}, {{dtype, Padded(c)}})
        .Of("native", 0);
  }
}

TEST(NativePad, AgreesWithTheReferenceInEveryMode) {
  for (const auto mode : {ops::PadMode::kConstant, ops::PadMode::kReflect, ops::PadMode::kEdge,
                          ops::PadMode::kWrap}) {
    ExpectPads<uint8_t>(DataType::kU8, mode);
    ExpectPads<int16_t>(DataType::kI16, mode);
    ExpectPads<float>(DataType::kF32, mode);
    ExpectPads<int64_t>(DataType::kI64, mode);
  }
}

TEST(NativePad, FillsWithTheConstantAndPadsTheAxesThatAreNamed) {
  for (const bool is_constant : {false, true}) {
    const Operand pads(I64({4}, {1, 2, 0, 3}), is_constant);
    const Operand axes(I64({2}, {-1, 0}), is_constant);
    Agreement<ops::Pad>({Iota<float>(DataType::kF32, {2, 3, 4}), pads, F32({}, {-8}), axes}, {},
                        {FloatResult({7, 3, 5})})
        .Of("native", 0);
    Agreement<ops::Pad>({Iota<float>(DataType::kF32, {3, 5}), pads, F32({}, {-8})}, {},
                        {FloatResult({4, 10})})
        .Of("native", 0);
  }
}

TEST(NativePad, RefusesWhatDoesNotLeadToTheResultAsTheReferenceDoes) {
  for (const std::string provider : {"native", "reference"}) {
    const auto size = TryRunOp<ops::Pad>({Random({3}, 1), I64({2}, {1, 1})}, {}, {FloatResult({6})},
                                         {.provider = provider});
    EXPECT_EQ(size.status().message(), "onnx.Pad: the pads do not lead to the size of the result");
    const auto axis = TryRunOp<ops::Pad>({Random({3}, 1), I64({2}, {1, 1}), {}, I64({1}, {1})}, {},
                                         {FloatResult({5})}, {.provider = provider});
    EXPECT_EQ(axis.status().message(), "onnx.Pad: axis 1 is out of range");
    const auto count =
        TryRunOp<ops::Pad>({Random({3}, 1), I64({4}, {1, 1, 0, 0}), {}, I64({1}, {0})}, {},
                           {FloatResult({5})}, {.provider = provider});
    EXPECT_EQ(count.status().message(), "onnx.Pad: pads must be two numbers per padded dimension");
  }
}

}  // namespace
}  // namespace weft::kernels
