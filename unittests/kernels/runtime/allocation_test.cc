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

TEST(SessionRun, AllocatesNothingFromTheSecondRunOn) {
  const ResultType type = {DataType::kF32, {8, 16}};
  const OpProgram program =
      OpProgram::Make<fused::Linear>({Random({8, 16}, 1), Constant(Random({16, 16}, 2)),
                                      Constant(Random({16}, 3)), Random({8, 16}, 4)},
                                     {.activation = fused::Activation::kGelu}, {type});
  ASSERT_NE(program.ProviderOf({.provider = "auto"}), "reference");
  auto session = Session::Create(*program.program, {.threads = 2});
  ASSERT_TRUE(session.ok()) << session.status();
  const Tensor out(DataType::kF32, {8, 16});
  const std::vector<TensorView> inputs = {program.inputs[0].view(), program.inputs[1].view()};
  const std::vector<TensorView> outputs = {out.view()};
  ASSERT_TRUE((*session)->Run(inputs, outputs).ok());
  const int64_t before = g_allocations;
  ASSERT_TRUE((*session)->Run(inputs, outputs).ok());
  EXPECT_EQ(g_allocations - before, 0);
}

}  // namespace
}  // namespace weft::kernels
