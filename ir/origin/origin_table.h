// The table behind ir/origin/origin.h: a graph of origins that only grows, and the node in it of
// each operation.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/origin/origin.h"

namespace weft::ir::internal {

class OriginTable {
 public:
  static constexpr uint32_t kNone = 0;  // no node
  static constexpr uint32_t kNever = UINT32_MAX;
  OriginTable() : nodes_(1) {}  // that of kNone

  // --- the graph ---
  uint32_t AddOwn(Name source, Name doc);  // of an operation that is its own source
  uint32_t AddKnown(const Origin& origin);
  // Of what `rule` (may be empty) made of operations with these nodes, any of which may be kNone.
  uint32_t AddRewrite(std::vector<uint32_t> inputs, Name rule);
  Origin Flatten(uint32_t node) const;
  bool IsOwn(uint32_t node) const { return nodes_[node].kind == Kind::kOwn; }
  uint32_t size() const { return static_cast<uint32_t>(nodes_.size()); }

  // --- operations; an erased one keeps its node until its slot is used again ---
  uint32_t Of(Operation op) const;
  void Set(Operation op, uint32_t node);

  // --- what Rewriter and Clone report ---
  void Replaced(Value from, Value to);  // the users of `from` will read `to`
  void ReplacedInPlace(Operation op, std::span<const uint32_t> erased);
  // Of any two programs; that of `to` gets a table if it has none.
  static void Copied(Operation from, Operation to);
  // For a program into which all operations are copied, up to EndCopy().
  OriginTable* Copy() const;
  void EndCopy() { copied_ = nullptr; }

  bool records = false;  // all operations have been given a node
  bool held = false;     // an OriginRecorder tells what replaces what
  // See OriginScope: nodes from `scope_first` on are of this scope.
  Name scope_rule;
  uint32_t scope_first = kNever;

 private:
  enum class Kind : uint8_t { kSource, kDoc, kOwn, kRewrite };
  struct Node {
    Name name;                      // of a source or a rule, or the text of a doc
    uint32_t first = 0, count = 0;  // of inputs_, which come before it
    Kind kind = Kind::kRewrite;
  };
  struct Entry {
    uint32_t node = kNone;
    uint8_t generation = 0;
  };

  std::span<const uint32_t> InputsOf(uint32_t node) const {
    return {inputs_.data() + nodes_[node].first, nodes_[node].count};
  }
  uint32_t Add(Kind kind, Name name, std::span<const uint32_t> inputs = {});
  // To `op` and all that it was computed from that has the node `before`, constants apart.
  void Give(Operation op, uint32_t before, uint32_t after);

  std::vector<Node> nodes_;
  std::vector<uint32_t> inputs_;
  std::vector<Entry> entries_;           // by operation slot
  const OriginTable* copied_ = nullptr;  // that has the same nodes below copied_nodes_
  uint32_t copied_nodes_ = 0;
};

}  // namespace weft::ir::internal
