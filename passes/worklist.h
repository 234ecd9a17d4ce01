// The operations that a greedy driver is still to look at: the last one that was added first, or in random
// order. Those with many operands come after all others: each operand may still be changed, and they would be
// looked at after each change.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "ir/graph_view.h"
#include "passes/id_set.h"

namespace weft::passes {

class Worklist {
 public:
  struct Mark {
    size_t narrow, wide;
  };

  // The view outlives the list. A seed that is not 0 decides a random order.
  Worklist(const ir::GraphView& view, uint64_t seed) : view_(view), seed_(seed), random_(seed) {}

  void Resize(size_t op_slots) {
    queued_.Resize(op_slots);
    waiting_.Resize(op_slots);
  }
  bool empty() const { return narrow_.empty() && wide_.empty(); }
  void Add(uint32_t op) {  // unless it is there
    if (!queued_.Add(op)) return;
    if (IsWide(op)) return Wait(op);
    narrow_.push_back(op);
  }
  // A new operation may take the slot.
  void Remove(uint32_t op) { queued_.Remove(op); }
  // Of a list that is not empty. kNoId: it was removed.
  uint32_t Pop() {
    if (narrow_.empty()) return PopWide();
    if (seed_) std::swap(narrow_[random_() % narrow_.size()], narrow_.back());
    const uint32_t op = narrow_.back();
    narrow_.pop_back();
    if (!queued_.Remove(op)) return ir::kNoId;
    if (!IsWide(op)) return op;
    Add(op);  // one with few operands had this slot, or it has become wide
    return ir::kNoId;
  }
  // What Pop() is likely to give, or kNoId.
  uint32_t Next() const { return narrow_.empty() ? ir::kNoId : narrow_.back(); }
  void Reverse() {
    std::reverse(narrow_.begin(), narrow_.end());
    std::reverse(wide_.begin(), wide_.end());
  }
  void Clear() {
    narrow_.clear();
    wide_.clear();
  }

  // What was added since the mark goes, if nothing was popped.
  Mark Now() const { return {narrow_.size(), wide_.size()}; }
  void DropSince(const Mark& mark) {
    for (size_t i = mark.narrow; i < narrow_.size(); ++i) queued_.Remove(narrow_[i]);
    for (size_t i = mark.wide; i < wide_.size(); ++i) {
      queued_.Remove(wide_[i]);
      waiting_.Remove(wide_[i]);
    }
    narrow_.resize(mark.narrow);
    wide_.resize(mark.wide);
  }

 private:
  static constexpr uint32_t kManyOperands = 32;

  [[gnu::noinline]] void Wait(uint32_t op) {
    if (waiting_.Add(op)) wide_.push_back(op);
  }
  [[gnu::noinline]] uint32_t PopWide() {
    const uint32_t op = wide_.back();
    wide_.pop_back();
    waiting_.Remove(op);
    return queued_.Remove(op) ? op : ir::kNoId;
  }
  bool IsWide(uint32_t op) const { return view_.num_operands(op) > kManyOperands; }

  const ir::GraphView& view_;
  const uint64_t seed_;
  std::mt19937_64 random_;
  IdSet queued_, waiting_;  // waiting_: what wide_ holds
  std::vector<uint32_t> narrow_, wide_;
};

}  // namespace weft::passes
