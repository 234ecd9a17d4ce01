#include "kernels/thread_scratch.h"

#include <memory>
#include <new>

namespace weft::kernels {
namespace {

struct FreeAligned {
  void operator()(std::byte* p) const { ::operator delete (p, std::align_val_t{64}); }
};

}  // namespace

std::byte* ThreadScratch(int64_t bytes, ScratchUse use) {
  thread_local std::unique_ptr<std::byte, FreeAligned> of_thread[3];
  thread_local int64_t sizes[3] = {0, 0, 0};
  std::unique_ptr<std::byte, FreeAligned>& scratch = of_thread[static_cast<int>(use)];
  int64_t& size = sizes[static_cast<int>(use)];
  if (size < bytes) {
    scratch.reset();
    size = 0;  // where there is no memory
    scratch.reset(
        static_cast<std::byte*>(::operator new (static_cast<size_t>(bytes), std::align_val_t{64})));
    size = bytes;
  }
  return scratch.get();
}

}  // namespace weft::kernels
