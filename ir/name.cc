#include "ir/name.h"

#include <array>
#include <atomic>
#include <bit>
#include <deque>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>

namespace weft::ir {
namespace {

// Both tables live for the whole process: leaked on purpose so that static destructors may use
// names.
class Interner {
 public:
  Interner() { FindOrAdd(std::string_view(), 1); }  // id 0 is the empty string

  uint32_t FindOrAdd(std::string_view text, uint32_t limit) {
    {
      std::shared_lock lock(mutex_);
      if (auto it = ids_.find(text); it != ids_.end()) return it->second;
    }
    std::unique_lock lock(mutex_);
    if (auto it = ids_.find(text); it != ids_.end()) return it->second;
    if (size_ >= limit) return 0;
    const Place place(size_);
    std::atomic<std::string_view*>& chunk = chunks_[place.chunk];
    if (chunk.load(std::memory_order_relaxed) == nullptr)
      chunk.store(new std::string_view[place.chunk_size()], std::memory_order_release);
    std::string_view& stored = chunk.load(std::memory_order_relaxed)[place.offset];
    stored = strings_.emplace_back(text);
    ids_.emplace(stored, size_);
    return size_++;
  }
  // Without a lock: whoever has the id got it after the string was there, and chunks never move.
  std::string_view Get(uint32_t id) const {
    const Place place(id);
    return chunks_[place.chunk].load(std::memory_order_acquire)[place.offset];
  }
  uint32_t size() {
    std::shared_lock lock(mutex_);
    return size_;
  }

 private:
  // Chunk c holds kFirst << c strings.
  struct Place {
    static constexpr uint64_t kFirst = 1024;
    explicit Place(uint32_t id)
        : chunk(static_cast<uint32_t>(std::bit_width(id / kFirst + 1)) - 1),
          offset(id - ((uint64_t{1} << chunk) - 1) * kFirst) {}
    size_t chunk_size() const { return kFirst << chunk; }
    uint32_t chunk;
    uint64_t offset;
  };
  std::shared_mutex mutex_;
  std::array<std::atomic<std::string_view*>, 24> chunks_{};
  std::deque<std::string> strings_;
  std::unordered_map<std::string_view, uint32_t> ids_;
  uint32_t size_ = 0;
};

Interner& Names() {
  static auto* interner = new Interner;
  return *interner;
}
Interner& Opcodes() {
  static auto* interner = new Interner;
  return *interner;
}

}  // namespace

Name::Name(std::string_view text) : id_(Names().FindOrAdd(text, UINT32_MAX)) {}
std::string_view Name::str() const { return Names().Get(id_); }

Opcode Opcode::FindOrAdd(std::string_view op_name) {
  return FromId(static_cast<uint16_t>(Opcodes().FindOrAdd(op_name, kMaxOpcodes)));
}
uint32_t Opcode::Count() { return Opcodes().size(); }
std::string_view Opcode::name() const { return Opcodes().Get(id_); }

}  // namespace weft::ir
