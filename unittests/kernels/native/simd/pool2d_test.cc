#include "kernels/native/simd/pool2d.h"

#include "unittests/kernels/native/simd/simd_test_util.h"

namespace weft::kernels::simd {
namespace {

constexpr float kInf = INFINITY;

// What the header says, on one window.
double Expected(PoolOp op, const std::vector<double>& window, double divisor) {
  double sum = 0, largest = window.empty() ? -kInf : NAN;
  for (const double value : window) {
    sum += value;
    if (std::isnan(largest) || value > largest) largest = value;
  }
  return op == PoolOp::kMax ? largest : sum / divisor;
}

std::vector<double> ExpectedOf(const Pool2dArguments& a, const std::vector<float>& x) {
  std::vector<double> y;
  const auto inside = [](const WindowAxis& axis, int64_t i, int64_t after) {
    return i < axis.in + axis.pad + after;
  };
  for (int64_t i = 0; i < a.batch * a.rows.out * a.columns.out * a.channels; ++i) {
    const int64_t channel = i % a.channels, column = i / a.channels % a.columns.out,
                  row = i / a.channels / a.columns.out % a.rows.out,
                  image = i / a.channels / a.columns.out / a.rows.out;
    std::vector<double> window;
    double padded = 0;
    for (int64_t k = 0; k < a.rows.kernel; ++k) {
      for (int64_t l = 0; l < a.columns.kernel; ++l) {
        padded += inside(a.rows, row * a.rows.stride + k, a.pad_bottom) &&
                  inside(a.columns, column * a.columns.stride + l, a.pad_right);
        const int64_t r = a.rows.InputAt(row, k), c = a.columns.InputAt(column, l);
        if (r < 0 || c < 0 || r >= a.rows.in || c >= a.columns.in) continue;
        window.push_back(x[((image * a.rows.in + r) * a.columns.in + c) * a.channels + channel]);
      }
    }
    y.push_back(Expected(a.op, window, a.count_padding ? padded : window.size()));
  }
  return y;
}

void Check(Pool2dArguments a, std::vector<float> x, ThreadPool& pool) {
  SCOPED_TRACE(::testing::Message() << a.rows.in << " x " << a.columns.in << " x " << a.channels
                                    << ", kernel " << a.rows.kernel << ", stride " << a.rows.stride
                                    << (a.op == PoolOp::kMax ? ", max" : ", mean"));
  std::vector<float> y(static_cast<size_t>(a.batch * a.rows.out * a.columns.out * a.channels), 77);
  a.x = x.data();
  a.y = y.data();
  Pool2d(a, pool);
  EXPECT_LT(RelativeError(y, ExpectedOf(a, x)), kTolerance);
}

Pool2dArguments Square(PoolOp op, int64_t size, int64_t channels, int64_t kernel, int64_t stride,
                       int64_t pad, bool ceil_mode = false) {
  const int64_t room = size + 2 * pad - kernel;
  int64_t out = (ceil_mode ? (room + stride - 1) / stride : room / stride) + 1;
  if (ceil_mode && (out - 1) * stride >= size + pad) --out;  // it would begin behind the image
  Pool2dArguments a{.op = op, .batch = 2, .channels = channels};
  a.rows = a.columns = {size, out, kernel, stride, 1, pad};
  a.pad_bottom = a.pad_right = pad;
  return a;
}

std::vector<float> ImageOf(const Pool2dArguments& a) {
  return RandomFloats(a.batch * a.rows.in * a.columns.in * a.channels, 1);
}

TEST(CpuPool2d, AgreesWithDoubles) {
  ForEachVariant([&](ThreadPool& pool) {
    for (const PoolOp op : {PoolOp::kMax, PoolOp::kMean}) {
      for (const int64_t channels : {1, 83}) {  // a part of a vector, and all kinds of pieces
        for (const int64_t kernel : {1, 2, 3, 5}) {
          for (const int64_t stride : {1, 2}) {
            Pool2dArguments a = Square(op, 8, channels, kernel, stride, kernel / 2, true);
            Check(a, ImageOf(a), pool);
            a.count_padding = true;
            Check(a, ImageOf(a), pool);
          }
        }
      }
    }
  });
}

TEST(CpuPool2d, TakesDifferentSidesAndDilations) {
  Pool2dArguments a{.op = PoolOp::kMax, .batch = 1, .channels = 21};
  a.rows = {9, 4, 3, 2, 2, 1};
  a.columns = {20, 17, 2, 1, 3, 0};
  ForEachVariant([&](ThreadPool& pool) { Check(a, ImageOf(a), pool); });
}

TEST(CpuPool2d, MaxSkipsNanAndMeanKeepsIt) {
  ForEachVariant([&](ThreadPool& pool) {
    for (const PoolOp op : {PoolOp::kMax, PoolOp::kMean}) {
      for (const float special : {NAN, kInf, -kInf}) {
        const Pool2dArguments a = Square(op, 6, 83, 3, 2, 1);
        std::vector<float> x = ImageOf(a);
        for (size_t i = 0; i < x.size(); i += 41) x[i] = special;
        Check(a, x, pool);
        std::fill(x.begin(), x.end(), special);
        Check(a, x, pool);
      }
    }
  });
}

TEST(CpuPool2d, KeepsTheFirstOfEqualZeros) {
  Pool2dArguments a{.op = PoolOp::kMax, .batch = 1, .channels = 1};
  a.rows = {1, 1, 1, 1, 1, 0};
  a.columns = {4, 2, 2, 2, 1, 0};
  const std::vector<float> x = {-0.0f, 0.0f, 0.0f, -0.0f};
  ForEachVariant([&](ThreadPool& pool) {
    float y[2];
    a.x = x.data();
    a.y = y;
    Pool2d(a, pool);
    EXPECT_TRUE(std::signbit(y[0]));
    EXPECT_FALSE(std::signbit(y[1]));
  });
}

// As a window of padding alone would: the identity of the operation.
TEST(CpuPool2d, SaysSoWhereAWindowLiesInThePadding) {
  ForEachVariant([&](ThreadPool& pool) {
    for (const PoolOp op : {PoolOp::kMax, PoolOp::kMean}) {
      const Pool2dArguments a = Square(op, 2, 5, 1, 1, 2);
      Check(a, ImageOf(a), pool);
    }
  });
}

}  // namespace
}  // namespace weft::kernels::simd
