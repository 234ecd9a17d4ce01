// onnx.DFT and onnx.STFT: the native kernels against the reference, which sums by the definition in double.
#include <cmath>
#include <limits>

#include "kernels/isa.h"
#include "unittests/kernels/agreement.h"
#include "unittests/sanitizers.h"

namespace weft::kernels {
namespace {

using Attrs = ops::DFT::Attrs<ir::BuilderSlot>;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

constexpr double ToleranceOf(DataType dtype) { return dtype == DataType::kF32 ? 1e-6 : 1e-14; }

Operand Number(int64_t value) { return Constant(I64({}, {value})); }

// Along an axis of x, in its place or of `length`.
struct Case {
  ir::Shape x;
  int64_t axis = 1;
  int64_t length = 0;  // 0: not given
  bool inverse = false, onesided = false;
  DataType dtype = DataType::kF32;

  ir::Shape Result() const {
    ir::Shape y = x;
    const auto at = static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(x.size()) : axis);
    const int64_t whole = inverse && onesided ? 2 * (x[at] - 1) : x[at];
    const int64_t n = length == 0 ? whole : length;
    y[at] = onesided && !inverse ? n / 2 + 1 : n;
    y.back() = onesided && inverse ? 1 : 2;
    return y;
  }
  OpProgram Program(Tensor signal) const {
    return OpProgram::Make<ops::DFT>(
        {std::move(signal), length == 0 ? Operand() : Number(length), Number(axis)},
        Attrs{.inverse = inverse ? 1 : 0, .onesided = onesided ? 1 : 0}, {{dtype, Result()}});
  }
  OpProgram Program() const { return Program(*RandomTensor(dtype, x, 1, 0)); }
};

template <class Body>
void ForEachIsa(const Body& body) {
  for (const Isa isa : SupportedIsas()) {
    const ScopedIsa scoped(isa);
    SCOPED_TRACE(std::string(IsaName(isa)));
    body();
  }
}

// Products of all radices, primes and what has large factors.
TEST(NativeDft, TakesEveryLength) {
  ForEachIsa([] {
    std::vector<int64_t> lengths = {97,  125, 128, 243, 251,  343, 360,
                                    400, 512, 625, 720, 1000, 1001};
    for (int64_t n = 1; n <= 66; ++n) lengths.push_back(n);
    for (const int64_t n : lengths) {
      SCOPED_TRACE(n);
      for (const DataType dtype : {DataType::kF32, DataType::kF64}) {
        AgreementOf(Case{.x = {3, n, 1}, .dtype = dtype}.Program())
            .Of("native", ToleranceOf(dtype));
        AgreementOf(Case{.x = {1, n, 2}, .inverse = true, .dtype = dtype}.Program())
            .Of("native", ToleranceOf(dtype));
      }
    }
  });
}

TEST(NativeDft, StaysPreciseOverLongSignals) {
  if (kSanitized) GTEST_SKIP() << "the reference takes minutes";
  for (const int64_t n : {4096, 4999, 6000, 8191})
    AgreementOf(Case{.x = {1, n, 2}}.Program()).Of("native", 1e-6);
}

// Many signals, side by side and in rows: of any number, so that a last task has fewer.
TEST(NativeDft, TransformsAlongAnyAxis) {
  ForEachIsa([] {
    for (const int64_t signals : {2, 5, 16, 37})
      for (const int64_t parts : {1, 2}) {
        SCOPED_TRACE(signals);
        AgreementOf(Case{.x = {signals, 24, parts}, .axis = 1}.Program()).Of("native");
        AgreementOf(Case{.x = {24, signals, parts}, .axis = 0}.Program()).Of("native");
        AgreementOf(Case{.x = {2, 14, signals, parts}, .axis = -3}.Program()).Of("native");
        AgreementOf(Case{.x = {3, signals, 30, parts}, .axis = -2}.Program()).Of("native");
      }
  });
}

TEST(NativeDft, CutsAndExtends) {
  for (const bool inverse : {false, true})
    for (const int64_t length : {1, 2, 5, 8, 9, 13, 40}) {
      SCOPED_TRACE(length);
      AgreementOf(
          Case{.x = {2, 9, 3, 2}, .axis = 1, .length = length, .inverse = inverse}.Program())
          .Of("native");
      AgreementOf(Case{.x = {2, 9, 1}, .length = length, .inverse = inverse}.Program())
          .Of("native");
    }
}

TEST(NativeDft, TakesAndGivesHalvesOfSpectra) {
  for (const DataType dtype : {DataType::kF32, DataType::kF64})
    for (const int64_t n : {2, 3, 8, 9, 14, 100, 257}) {
      SCOPED_TRACE(n);
      AgreementOf(Case{.x = {5, n, 1}, .onesided = true, .dtype = dtype}.Program())
          .Of("native", ToleranceOf(dtype));
      for (const int64_t length : {int64_t{0}, 2 * n - 1, n, 2 * n + 7})
        AgreementOf(
            Case{
                .x = {5, n, 2}, .length = length, .inverse = true, .onesided = true, .dtype = dtype}
                .Program())
            .Of("native", ToleranceOf(dtype));
    }
}

// One signal of several: the others are not touched. Infinities have the signs that the definition gives them.
TEST(NativeDft, PutsWhatIsNotFiniteWhereTheDefinitionDoes) {
  for (const float special : {kInf, -kInf, kNan})
    for (const int64_t n : {1, 2, 4, 7, 12, 30})
      for (const int64_t at : {int64_t{0}, n / 2, 2 * n - 1})
        for (const bool inverse : {false, true})
          for (const bool onesided : {false, true}) {
            if (onesided && inverse && n == 1) continue;
            const int64_t parts = onesided && !inverse ? 1 : 2;
            Tensor x = Random({5, n, parts}, 1);
            x.values<float>()[2 * n * parts + std::min(at, n * parts - 1)] = special;
            AgreementOf(Case{.x = {5, n, parts}, .inverse = inverse, .onesided = onesided}.Program(
                            std::move(x)))
                .Of("native");
          }
}

TEST(NativeDft, SumsNumbersNearTheLargest) {
  for (const int64_t n : {8, 11}) {
    Tensor x = Random({2, n, 1}, 1);
    for (int64_t i = 0; i < n; ++i) x.values<float>()[i] = i % 3 == 0 ? -3e38f : 2.5e38f;
    AgreementOf(Case{.x = {2, n, 1}}.Program(std::move(x))).Of("native");
  }
}

TEST(NativeDft, LeavesLengthsThatComeLateToTheReference) {
  const OpProgram late = OpProgram::Make<ops::DFT>({Random({1, 8, 1}, 1), I64({}, {8}), Number(1)},
                                                   {}, {{DataType::kF32, {1, 8, 2}}});
  EXPECT_EQ(late.ProviderOf({.provider = "auto"}), "reference");
}

OpProgram Stft(const ir::Shape& x, int64_t step, Operand window, int64_t length, bool onesided,
               DataType dtype = DataType::kF32) {
  const int64_t frames = (x[1] - length) / step + 1;
  return OpProgram::Make<ops::STFT>(
      {*RandomTensor(dtype, x, 1, 0), Number(step), std::move(window), Number(length)},
      {.onesided = onesided ? 1 : 0},
      {{dtype, {x[0], frames, onesided ? length / 2 + 1 : length, 2}}});
}

TEST(NativeStft, AgreesWithTheReference) {
  ForEachIsa([] {
    for (const DataType dtype : {DataType::kF32, DataType::kF64})
      for (const bool onesided : {false, true})
        for (const int64_t parts : {1, 2}) {
          if (onesided && parts == 2) continue;
          for (const int64_t length : {1, 16, 25, 26, 60})
            for (const int64_t step : {1, 7, 100}) {
              SCOPED_TRACE(std::to_string(length) + ", " + std::to_string(step));
              const auto window = [&] { return *RandomTensor(dtype, {length}, 2, 0); };
              AgreementOf(Stft({2, 91, parts}, step, window(), length, onesided, dtype))
                  .Of("native", ToleranceOf(dtype));
              AgreementOf(Stft({2, 91, parts}, step, {}, length, onesided, dtype))
                  .Of("native", ToleranceOf(dtype));
            }
        }
  });
}

// A window of zeros makes NaN of an infinity, and nothing of the frames without one.
TEST(NativeStft, MultipliesWhatIsNotFiniteByTheWindow) {
  for (const float special : {kInf, -kInf, kNan}) {
    Tensor x = Random({1, 40, 1}, 1);
    x.values<float>()[13] = special;
    Agreement<ops::STFT>({std::move(x), Number(3), F32({8}, {0, 1, 0.5f, -1, 0, 2, 1, 0})}, {},
                         {{DataType::kF32, {1, 11, 5, 2}}})
        .Of("native");
  }
}

TEST(NativeStft, LeavesStepsThatComeLateToTheReference) {
  const OpProgram late = OpProgram::Make<ops::STFT>(
      {Random({1, 40, 1}, 1), I64({}, {4}), Random({8}, 2)}, {}, {{DataType::kF32, {1, 9, 5, 2}}});
  EXPECT_EQ(late.ProviderOf({.provider = "auto"}), "reference");
}

}  // namespace
}  // namespace weft::kernels
