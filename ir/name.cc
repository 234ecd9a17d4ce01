#include "ir/name.h"

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
  uint32_t FindOrAdd(std::string_view text, uint32_t limit) {
    {
      std::shared_lock lock(mutex_);
      if (auto it = ids_.find(text); it != ids_.end()) return it->second;
    }
    std::unique_lock lock(mutex_);
    if (auto it = ids_.find(text); it != ids_.end()) return it->second;
    if (strings_.size() >= limit) return 0;
    strings_.emplace_back(text);
    const auto id = static_cast<uint32_t>(strings_.size() - 1);
    ids_.emplace(strings_.back(), id);
    return id;
  }
  std::string_view Get(uint32_t id) {
    std::shared_lock lock(mutex_);
    return strings_[id];
  }
  uint32_t size() {
    std::shared_lock lock(mutex_);
    return static_cast<uint32_t>(strings_.size());
  }

 private:
  std::shared_mutex mutex_;
  std::deque<std::string> strings_ = {std::string()};  // id 0 is the empty string
  std::unordered_map<std::string_view, uint32_t> ids_ = {{std::string_view(), 0}};
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
