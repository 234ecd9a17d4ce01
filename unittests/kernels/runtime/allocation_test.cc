// A session's runs allocate nothing once its plan is made. Counts every operator new of this program.
#include <atomic>
#include <cstdlib>
#include <new>

#include "unittests/kernels/run_op.h"

static std::atomic<int64_t> g_allocations{0};

// Not inlined: the compiler would see malloc and free of different origin.
__attribute__((noinline)) void* operator new(size_t size) {
  ++g_allocations;
  if (void* memory = std::malloc(size)) return memory;
  std::abort();
}
// std::stable_sort takes its buffer from this one, and gives it back to the delete below.
__attribute__((noinline)) void* operator new(size_t size, const std::nothrow_t&) noexcept {
  ++g_allocations;
  return std::malloc(size);
}
__attribute__((noinline)) void operator delete(void* memory) noexcept { std::free(memory); }
__attribute__((noinline)) void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace weft::kernels {
namespace {

void ExpectNoAllocation(const OpProgram& program, ir::Shape result) {
  ASSERT_NE(program.ProviderOf({.provider = "auto"}), "reference");
  auto session = Session::Create(*program.program, {.threads = 2, .oversubscribe = true});
  ASSERT_TRUE(session.ok()) << session.status();
  const Tensor out = *Tensor::Create(DataType::kF32, result);
  std::vector<TensorView> inputs;
  for (const Tensor& input : program.inputs) inputs.push_back(input.view());
  const std::vector<TensorView> outputs = {out.view()};
  ASSERT_TRUE((*session)->Run(inputs, outputs).ok());
  const int64_t before = g_allocations;
  ASSERT_TRUE((*session)->Run(inputs, outputs).ok());
  EXPECT_EQ(g_allocations - before, 0);
}

TEST(SessionRun, AllocatesNothingFromTheSecondRunOn) {
  ExpectNoAllocation(OpProgram::Make<fused::Linear>(
                         {Random({8, 16}, 1), Constant(Random({16, 16}, 2)),
                          Constant(Random({16}, 3)), Random({8, 16}, 4)},
                         {.activation = fused::Activation::kGelu}, {{DataType::kF32, {8, 16}}}),
                     {8, 16});
}

TEST(SessionRun, AllocatesNothingInConvolutionsAndPools) {
  const ResultType type = {DataType::kF32, {1, 28, 28, 64}};
  const Operand x = Random({1, 28, 28, 64}, 1);
  for (const int64_t group : {1, 8, 64}) {
    ExpectNoAllocation(
        OpProgram::Make<fused::Conv2d>({x, Constant(Random({64, 64 / group, 3, 3}, 2)), {}, x},
                                       {.pads = ir::Ints{1, 1, 1, 1},
                                        .group = group,
                                        .activation = fused::Activation::kHardSwish},
                                       {type}),
        type.dims);
  }
  const ir::Ints kernel = {3, 3}, pads = {1, 1, 1, 1};
  ExpectNoAllocation(
      OpProgram::Make<fused::MaxPool2d>({x}, {.kernel_shape = kernel, .pads = pads}, {type}),
      type.dims);
  ExpectNoAllocation(
      OpProgram::Make<fused::AveragePool2d>({x}, {.kernel_shape = kernel, .pads = pads}, {type}),
      type.dims);
}

}  // namespace
}  // namespace weft::kernels
