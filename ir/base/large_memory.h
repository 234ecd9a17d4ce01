// Memory for weights: up to many megabytes, written once from end to end, or in files.
#pragma once

#include <cstddef>
#include <span>

namespace weft::ir {

inline constexpr size_t kWeightAlignment = 64;

// `size` bytes, aligned to kWeightAlignment, for std::free; null where there is not enough memory. They are about to be
// written: the system is asked for huge pages where these fit and for the others at once, because the traps of pages
// that come one by one, when they are first touched, cost more than what is written.
void* AllocateForWriting(size_t size);
// The same for memory that there is already.
void PrepareForWriting(void* memory, size_t size);

// Tells the system that the whole pages inside `bytes`, a part of a map of a file that nobody writes to, need not stay
// in memory: they are read again when they are touched.
void DropFilePages(std::span<const std::byte> bytes);
// Fills `to` from the open file; false where that fails or the file is shorter.
bool ReadFile(int file, size_t offset, std::span<std::byte> to);

}  // namespace weft::ir
