// Memory for weights: up to many megabytes, written once from end to end.
#pragma once

#include <cstddef>

namespace weft::ir {

inline constexpr size_t kWeightAlignment = 64;

// `size` bytes, aligned to kWeightAlignment, for std::free; null where there is not enough memory. They are about to be
// written: the system is asked for huge pages where these fit and for the others at once, because the traps of pages
// that come one by one, when they are first touched, cost more than what is written.
void* AllocateForWriting(size_t size);
// The same for memory that there is already.
void PrepareForWriting(void* memory, size_t size);

}  // namespace weft::ir
