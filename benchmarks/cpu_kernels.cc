// The kernels of kernels/native/simd at the shapes of the models we measure with, beside XNNPACK where it
// has the operator.
//
//   build/release/bin/bench_cpu_kernels --benchmark_filter=Gemm
//
// The last argument of every benchmark is the number of threads. Counters: FLOP/s or bytes/s. Both
// sides have their weights packed before, and read the same inputs again and again, so they are
// warm.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "kernels/native/simd/activation.h"
#include "kernels/native/simd/attention.h"
#include "kernels/native/simd/depthwise.h"
#include "kernels/native/simd/elementwise/binary.h"
#include "kernels/native/simd/elementwise/unary.h"
#include "kernels/native/simd/gemm.h"
#include "kernels/native/simd/pool2d.h"
#include "kernels/native/simd/reduction/normalize.h"
#include "kernels/native/simd/strided_copy.h"
#include "kernels/thread_pool.h"
#include "kernels/xnnpack/compat.h"

namespace weft::kernels::simd {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<float> Random(int64_t n) {
  static std::mt19937 engine(1);
  std::uniform_real_distribution<float> distribution(-1, 1);
  std::vector<float> values(static_cast<size_t>(n));
  for (float& value : values) value = distribution(engine);
  return values;
}

void Check(xnn_status status) {
  if (status == xnn_status_success) return;
  std::fprintf(stderr, "xnnpack: status %d\n", static_cast<int>(status));
  std::exit(1);
}

// Runs the operator that create(xnn_operator_t*) makes.
template <class Create, class Sized>
void RunXnn(benchmark::State& state, const Create& create, const Sized& sized,
            const xnnpack::Addresses& at, ThreadPool& pool) {
  xnn_operator_t handle = nullptr;
  Check(create(&handle));
  xnnpack::Operator op(handle);
  Check(sized.Prepare(op, pool.handle()));
  Check(sized.SetUp(op, at, pool.handle()));
  for (auto _ : state) Check(xnn_run_operator(handle, pool.handle()));
}

void SetFlops(benchmark::State& state, double flops) {
  state.counters["FLOP/s"] =
      benchmark::Counter(flops, benchmark::Counter::kIsIterationInvariantRate);
}

void SetBytes(benchmark::State& state, double bytes) {
  state.counters["bytes/s"] =
      benchmark::Counter(bytes, benchmark::Counter::kIsIterationInvariantRate);
}

// M, K, N, threads.
void GemmShapes(benchmark::internal::Benchmark* b) {
  const int64_t shapes[][3] = {
      {128, 768, 768}, {128, 768, 2304}, {128, 768, 3072}, {128, 3072, 768}, {300, 256, 256},
      {512, 512, 512}, {128, 128, 128},  {128, 128, 512},  {1, 768, 768},    {1, 2048, 8192},
      {3136, 64, 256}, {784, 512, 128},  {49, 2048, 512}};
  for (const auto& s : shapes) {
    for (int64_t threads : {1, 2}) b->Args({s[0], s[1], s[2], threads});
  }
  b->UseRealTime();
}

void Gemm(benchmark::State& state) {
  const int64_t m = state.range(0), k = state.range(1), n = state.range(2);
  ThreadPool pool(static_cast<int>(state.range(3)));
  const auto a = Random(m * k), b = Random(k * n), bias = Random(n);
  std::vector<float> c(static_cast<size_t>(m * n));
  const PackedMatrix packed = PackedMatrix::Pack(b.data(), n, 1, k, n, pool);
  GemmArguments arguments;
  arguments.m = m;
  arguments.a = a.data();
  arguments.a_stride = k;
  arguments.b = &packed;
  arguments.c = c.data();
  arguments.c_stride = n;
  arguments.bias = bias.data();
  for (auto _ : state) simd::Gemm(arguments, pool);
  SetFlops(state, 2.0 * static_cast<double>(m * n * k));
}
BENCHMARK(Gemm)->Apply(GemmShapes);

void XnnGemm(benchmark::State& state) {
  const auto m = static_cast<size_t>(state.range(0)), k = static_cast<size_t>(state.range(1)),
             n = static_cast<size_t>(state.range(2));
  ThreadPool pool(static_cast<int>(state.range(3)));
  const auto a = Random(state.range(0) * state.range(1)),
             b = Random(state.range(1) * state.range(2)), bias = Random(state.range(2));
  std::vector<float> c(m * n);
  const auto create = [&](xnn_operator_t* op) {
    return xnnpack::CreateWeighted(&xnn_create_fully_connected_nc_f32, op, k, n, k, n, b.data(),
                                   bias.data(), -kInfinity, kInfinity, XNN_FLAG_TRANSPOSE_WEIGHTS);
  };
  RunXnn(state, create, xnnpack::WithSizes(WEFT_XNN(fully_connected_nc_f32), m),
         {a.data(), nullptr, c.data()}, pool);
  SetFlops(state, 2.0 * static_cast<double>(m * n * k));
}
BENCHMARK(XnnGemm)->Apply(GemmShapes);

// Batch, M, K, N, B transposed, threads.
void BatchMatmul(benchmark::State& state) {
  const int64_t batch = state.range(0), m = state.range(1), k = state.range(2), n = state.range(3);
  ThreadPool pool(static_cast<int>(state.range(5)));
  const auto a = Random(batch * m * k), b = Random(batch * k * n);
  std::vector<float> c(static_cast<size_t>(batch * m * n));
  BatchMatmulArguments arguments;
  arguments.batch = {batch};
  arguments.m = m, arguments.n = n, arguments.k = k;
  arguments.b_transposed = state.range(4) != 0;
  arguments.a = a.data(), arguments.b = b.data(), arguments.c = c.data();
  arguments.a_stride = k;
  arguments.b_stride = arguments.b_transposed ? k : n;
  arguments.c_stride = n;
  arguments.a_batch_strides = {m * k};
  arguments.b_batch_strides = {k * n};
  arguments.c_batch_strides = {m * n};
  const auto bytes = static_cast<size_t>(BatchMatmulScratchBytes(arguments, pool.num_threads()));
  void* scratch = std::aligned_alloc(64, bytes + 64 - bytes % 64);
  for (auto _ : state) simd::BatchMatmul(arguments, scratch, pool);
  std::free(scratch);
  SetFlops(state, 2.0 * static_cast<double>(batch * m * n * k));
}
BENCHMARK(BatchMatmul)
    ->Args({12, 128, 64, 128, 1, 1})
    ->Args({12, 128, 64, 128, 1, 2})
    ->Args({12, 128, 128, 64, 0, 1})
    ->Args({12, 128, 128, 64, 0, 2})
    ->Args({8, 300, 32, 300, 0, 1})
    ->Args({8, 300, 32, 300, 0, 2})
    ->UseRealTime();

// What it takes to run a loop whose body does nothing: on threads of the pool's own, or of its handle.
void Loop(benchmark::State& state) {
  ThreadPool pool(static_cast<int>(state.range(2)));
  if (state.range(1) != 0) pool.handle();
  for (auto _ : state) pool.ParallelFor(state.range(0), 1, [](int64_t, int64_t) {});
}
BENCHMARK(Loop)
    ->ArgNames({"tiles", "handle", "threads"})
    ->ArgsProduct({{2, 16}, {0, 1}, {2}})
    ->UseRealTime();

// Heads, key heads, queries, keys, head size, threads; [S, H, D] layout, no mask.
void Attention(benchmark::State& state) {
  AttentionArguments a;
  a.heads = state.range(0), a.kv_heads = state.range(1);
  a.queries = state.range(2), a.keys = state.range(3);
  a.head_size = a.value_size = state.range(4);
  ThreadPool pool(static_cast<int>(state.range(5)));
  const int64_t width = a.heads * a.head_size, kv_width = a.kv_heads * a.head_size;
  const auto q = Random(a.queries * width), k = Random(a.keys * kv_width),
             v = Random(a.keys * kv_width);
  std::vector<float> y(q.size());
  a.q = {q.data(), 0, a.head_size, width};
  a.k = {k.data(), 0, a.head_size, kv_width};
  a.v = {v.data(), 0, a.head_size, kv_width};
  a.y = {y.data(), 0, a.head_size, width};
  const auto bytes = static_cast<size_t>(AttentionScratchBytes(a, pool.num_threads()));
  void* scratch = std::aligned_alloc(64, bytes + 64 - bytes % 64);
  for (auto _ : state) simd::Attention(a, scratch, pool);
  std::free(scratch);
  SetFlops(state, 4.0 * static_cast<double>(a.heads * a.queries * a.keys * a.head_size));
}
BENCHMARK(Attention)
    ->ArgNames({"heads", "kv", "s", "t", "d", "threads"})
    ->Args({12, 12, 128, 128, 64, 1})  // BERT-base
    ->Args({12, 12, 128, 128, 64, 2})
    ->Args({2, 2, 128, 128, 64, 1})  // BERT-tiny
    ->Args({2, 2, 128, 128, 64, 2})
    ->Args({12, 12, 197, 197, 64, 1})  // ViT
    ->Args({12, 12, 197, 197, 64, 2})
    ->Args({8, 8, 300, 300, 32, 1})  // the seed's Paddle example
    ->Args({8, 8, 300, 300, 32, 2})
    ->Args({8, 1, 64, 1408, 256, 1})  // Gemma, prefill and decoding
    ->Args({8, 1, 64, 1408, 256, 2})
    ->Args({8, 1, 1, 1408, 256, 1})
    ->Args({8, 1, 1, 1408, 256, 2})
    ->UseRealTime();

// Height and width, channels, kernel, stride, threads; the depthwise layers of the MobileNets.
void DepthwiseShapes(benchmark::internal::Benchmark* b) {
  const int64_t shapes[][4] = {{112, 32, 3, 1}, {112, 96, 3, 2}, {56, 144, 3, 1}, {56, 144, 3, 2},
                               {28, 192, 3, 1}, {14, 384, 3, 1}, {14, 576, 3, 1}, {14, 576, 3, 2},
                               {7, 960, 3, 1},  {56, 72, 5, 2},  {28, 120, 5, 1}, {14, 672, 5, 1},
                               {14, 672, 5, 2}, {7, 960, 5, 1}};
  b->ArgNames({"size", "c", "kernel", "stride", "threads"});
  for (const auto& s : shapes) {
    for (int64_t threads : {1, 2}) b->Args({s[0], s[1], s[2], s[3], threads});
  }
  b->UseRealTime();
}

Conv2dShape DepthwiseShape(const benchmark::State& state) {
  Conv2dShape s;
  s.in_height = s.in_width = state.range(0);
  s.in_channels = s.out_channels = state.range(1);
  s.kernel_height = s.kernel_width = state.range(2);
  s.stride_height = s.stride_width = state.range(3);
  s.pad_top = s.pad_left = s.pad_bottom = s.pad_right = state.range(2) / 2;
  return s;
}

void Depthwise(benchmark::State& state) {
  const Conv2dShape s = DepthwiseShape(state);
  ThreadPool pool(static_cast<int>(state.range(4)));
  const int64_t out = s.out_height() * s.out_width() * s.in_channels;
  const auto x = Random(s.in_height * s.in_width * s.in_channels),
             w = Random(s.in_channels * s.kernel_height * s.kernel_width),
             bias = Random(s.in_channels);
  std::vector<float> y(static_cast<size_t>(out));
  const std::vector<float> packed = PackDepthwiseWeights(w.data(), s);
  const DepthwiseArguments arguments{.shape = s,
                                     .x = x.data(),
                                     .weights = packed.data(),
                                     .bias = bias.data(),
                                     .y = y.data(),
                                     .activation = {ActivationKind::kClip, 0, 6}};
  for (auto _ : state) simd::Depthwise(arguments, pool);
  SetFlops(state, 2.0 * static_cast<double>(out * s.kernel_height * s.kernel_width));
}
BENCHMARK(Depthwise)->Apply(DepthwiseShapes);

void XnnDepthwise(benchmark::State& state) {
  const Conv2dShape s = DepthwiseShape(state);
  const auto c = static_cast<size_t>(s.in_channels);
  const auto kernel = static_cast<uint32_t>(state.range(2)), pad = kernel / 2,
             stride = static_cast<uint32_t>(state.range(3));
  ThreadPool pool(static_cast<int>(state.range(4)));
  const int64_t out = s.out_height() * s.out_width() * s.in_channels;
  auto x = Random(s.in_height * s.in_width * s.in_channels);
  x.reserve(x.size() + 16);  // XNNPACK reads past the end
  const auto w = Random(s.in_channels * s.kernel_height * s.kernel_width),
             bias = Random(s.in_channels);
  std::vector<float> y(static_cast<size_t>(out));
  const auto size = static_cast<size_t>(s.in_height);
  const auto create = [&](xnn_operator_t* op) {
    return xnnpack::CreateWeighted(&xnn_create_convolution2d_nhwc_f32, op, pad, pad, pad, pad,
                                   kernel, kernel, stride, stride, 1, 1, c, 1, 1, c, c, w.data(),
                                   bias.data(), 0, 6, 0);
  };
  RunXnn(state, create, xnnpack::WithSizes(WEFT_XNN(convolution2d_nhwc_f32), 1, size, size),
         {x.data(), nullptr, y.data()}, pool);
  SetFlops(state, 2.0 * static_cast<double>(out * s.kernel_height * s.kernel_width));
}
BENCHMARK(XnnDepthwise)->Apply(DepthwiseShapes);

// PoolOp, height and width, channels, kernel, stride, threads; no padding.
void PoolShapes(benchmark::internal::Benchmark* b) {
  const int64_t shapes[][4] = {{112, 64, 3, 2}, {55, 96, 3, 2},  {27, 256, 3, 2},
                               {14, 512, 2, 2}, {35, 192, 3, 1}, {56, 128, 2, 2}};
  b->ArgNames({"op", "size", "c", "kernel", "stride", "threads"});
  for (int64_t op : {0, 1}) {
    for (const auto& s : shapes) {
      for (int64_t threads : {1, 2}) b->Args({op, s[0], s[1], s[2], s[3], threads});
    }
  }
  b->UseRealTime();
}

int64_t PooledSize(const benchmark::State& state) {
  return (state.range(1) - state.range(3)) / state.range(4) + 1;
}

void Pool(benchmark::State& state) {
  ThreadPool pool(static_cast<int>(state.range(5)));
  Pool2dArguments a{.op = static_cast<PoolOp>(state.range(0)), .batch = 1};
  a.channels = state.range(2);
  a.rows = a.columns = {state.range(1), PooledSize(state), state.range(3), state.range(4), 1, 0};
  const auto x = Random(a.rows.in * a.rows.in * a.channels);
  std::vector<float> y(static_cast<size_t>(a.rows.out * a.rows.out * a.channels));
  a.x = x.data();
  a.y = y.data();
  for (auto _ : state) Pool2d(a, pool);
  SetBytes(state, 4.0 * static_cast<double>(x.size() + y.size()));
}
BENCHMARK(Pool)->Apply(PoolShapes);

void XnnPool(benchmark::State& state) {
  ThreadPool pool(static_cast<int>(state.range(5)));
  const auto size = static_cast<size_t>(state.range(1)), c = static_cast<size_t>(state.range(2));
  const auto kernel = static_cast<uint32_t>(state.range(3)),
             stride = static_cast<uint32_t>(state.range(4));
  auto x = Random(state.range(1) * state.range(1) * state.range(2));
  x.reserve(x.size() + 16);
  std::vector<float> y(static_cast<size_t>(PooledSize(state) * PooledSize(state)) * c);
  const xnnpack::Addresses at = {x.data(), nullptr, y.data()};
  if (static_cast<PoolOp>(state.range(0)) == PoolOp::kMax) {
    const auto create = [&](xnn_operator_t* op) {
      const std::array<uint32_t, 10> window = {0, 0, 0, 0, kernel, kernel, stride, stride, 1, 1};
      return xnnpack::CreatePool(&xnn_create_max_pooling2d_nhwc_f32, op, c, window, -kInfinity,
                                 kInfinity, 0);
    };
    RunXnn(state, create, xnnpack::PoolSizes(WEFT_XNN(max_pooling2d_nhwc_f32), 1, size, size, c),
           at, pool);
  } else {
    const auto create = [&](xnn_operator_t* op) {
      const std::array<uint32_t, 8> window = {0, 0, 0, 0, kernel, kernel, stride, stride};
      return xnnpack::CreatePool(&xnn_create_average_pooling2d_nhwc_f32, op, c, window, -kInfinity,
                                 kInfinity, 0);
    };
    RunXnn(state, create,
           xnnpack::PoolSizes(WEFT_XNN(average_pooling2d_nhwc_f32), 1, size, size, c), at, pool);
  }
  SetBytes(state, 4.0 * static_cast<double>(x.size() + y.size()));
}
BENCHMARK(XnnPool)->Apply(PoolShapes);

// Rows, columns, threads.
void RowShapes(benchmark::internal::Benchmark* b) {
  const int64_t shapes[][2] = {{1536, 128}, {2400, 300}, {512, 1408}};
  for (const auto& s : shapes) {
    for (int64_t threads : {1, 2}) b->Args({s[0], s[1], threads});
  }
  b->UseRealTime();
}

void Softmax(benchmark::State& state) {
  const int64_t rows = state.range(0), columns = state.range(1);
  ThreadPool pool(static_cast<int>(state.range(2)));
  const auto x = Random(rows * columns);
  std::vector<float> y(x.size());
  for (auto _ : state) simd::Softmax(x.data(), y.data(), rows, columns, 1, pool);
  SetBytes(state, 8.0 * static_cast<double>(rows * columns));
}
BENCHMARK(Softmax)->Apply(RowShapes);

void XnnSoftmax(benchmark::State& state) {
  const int64_t rows = state.range(0), columns = state.range(1);
  const auto channels = static_cast<size_t>(columns);
  ThreadPool pool(static_cast<int>(state.range(2)));
  const auto x = Random(rows * columns);
  std::vector<float> y(x.size());
  const auto create = [&](xnn_operator_t* op) { return xnnpack::CreateSoftmax(op, channels); };
  RunXnn(state, create, xnnpack::SoftmaxSizes(static_cast<size_t>(rows), channels),
         {x.data(), nullptr, y.data()}, pool);
  SetBytes(state, 8.0 * static_cast<double>(rows * columns));
}
BENCHMARK(XnnSoftmax)->Apply(RowShapes);

// With residual or not, threads; 128 x 768.
void LayerNorm(benchmark::State& state) {
  const int64_t rows = 128, columns = 768;
  ThreadPool pool(static_cast<int>(state.range(1)));
  const auto x = Random(rows * columns), residual = Random(rows * columns), scale = Random(columns);
  std::vector<float> y(x.size());
  LayerNormArguments arguments;
  arguments.rows = rows, arguments.columns = columns;
  arguments.x = x.data(), arguments.y = y.data();
  arguments.scale = scale.data(), arguments.shift = scale.data();
  if (state.range(0) != 0) arguments.residual = residual.data();
  for (auto _ : state) simd::LayerNorm(arguments, pool);
}
BENCHMARK(LayerNorm)->ArgsProduct({{0, 1}, {1, 2}})->UseRealTime();

void BiasGelu(benchmark::State& state) {
  ThreadPool pool(static_cast<int>(state.range(0)));
  const auto x = Random(128 * 3072), bias = Random(3072);
  std::vector<float> y(x.size());
  for (auto _ : state) {
    BiasActivation(x.data(), bias.data(), {ActivationKind::kGelu}, y.data(), 128, 3072, pool);
  }
}
BENCHMARK(BiasGelu)->Arg(1)->Arg(2)->UseRealTime();

// UnaryOp, threads; 1024 x 768.
void Unary(benchmark::State& state) {
  const int64_t n = 1024 * 768;
  ThreadPool pool(static_cast<int>(state.range(1)));
  const auto x = Random(n);
  std::vector<float> y(x.size());
  for (auto _ : state) {
    simd::Unary(static_cast<UnaryOp>(state.range(0)), {0, 1}, x.data(), y.data(), n, pool);
  }
  SetBytes(state, 8.0 * static_cast<double>(n));
}
BENCHMARK(Unary)
    ->ArgNames({"op", "threads"})
    ->ArgsProduct({{static_cast<int>(UnaryOp::kRelu), static_cast<int>(UnaryOp::kExp),
                    static_cast<int>(UnaryOp::kErf), static_cast<int>(UnaryOp::kTanh),
                    static_cast<int>(UnaryOp::kSigmoid), static_cast<int>(UnaryOp::kGelu),
                    static_cast<int>(UnaryOp::kHardSwish)},
                   {1, 2}})
    ->UseRealTime();

void AddSameShape(benchmark::State& state) {
  const Dims shape = {1024, 768};
  ThreadPool pool(static_cast<int>(state.range(0)));
  const auto a = Random(NumElements(shape)), b = Random(NumElements(shape));
  std::vector<float> y(a.size());
  for (auto _ : state) {
    Binary(BinaryOp::kAdd, a.data(), RowMajorStrides(shape), b.data(), RowMajorStrides(shape),
           y.data(), shape, pool);
  }
  SetBytes(state, 12.0 * static_cast<double>(NumElements(shape)));
}
BENCHMARK(AddSameShape)->Arg(1)->Arg(2)->UseRealTime();

void XnnAddSameShape(benchmark::State& state) {
  const std::vector<size_t> shape = {1024, 768};
  ThreadPool pool(static_cast<int>(state.range(0)));
  const auto a = Random(1024 * 768), b = Random(1024 * 768);
  std::vector<float> y(a.size());
  const auto add = WEFT_XNN_BINARY(add);
  const auto create = [&](xnn_operator_t* op) { return xnnpack::CreateBinary(add, op); };
  RunXnn(state, create, xnnpack::BinarySizes(add, shape, shape), {a.data(), b.data(), y.data()},
         pool);
  SetBytes(state, 12.0 * 1024 * 768);
}
BENCHMARK(XnnAddSameShape)->Arg(1)->Arg(2)->UseRealTime();

// Which of the layouts below, threads.
void Transpose(benchmark::State& state) {
  const struct {
    Dims shape, perm;
  } cases[] = {{{1, 300, 8, 32}, {0, 2, 1, 3}},  {{1, 128, 12, 64}, {0, 2, 1, 3}},
               {{1, 64, 56, 56}, {0, 2, 3, 1}},  {{1, 56, 56, 64}, {0, 3, 1, 2}},
               {{1, 3, 224, 224}, {0, 2, 3, 1}}, {{768, 768}, {1, 0}}};
  const auto& c = cases[state.range(0)];
  ThreadPool pool(static_cast<int>(state.range(1)));
  const auto x = Random(NumElements(c.shape));
  std::vector<float> y(x.size());
  for (auto _ : state) simd::Transpose(x.data(), c.shape, c.perm, y.data(), 4, pool);
  SetBytes(state, 8.0 * static_cast<double>(x.size()));
}
BENCHMARK(Transpose)
    ->ArgNames({"layout", "threads"})
    ->ArgsProduct({{0, 1, 2, 3, 4, 5}, {1, 2}})
    ->UseRealTime();

[[maybe_unused]] const bool initialized = [] {
  Check(xnn_initialize(nullptr));
  return true;
}();

}  // namespace
}  // namespace weft::kernels::simd
