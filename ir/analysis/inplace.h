// In-place execution: which ops may write their result over an operand whose contents nobody reads
// afterwards. One analysis serves the pass `inplace`, which marks ops, the verifier, which refuses
// marks that do not hold, and the memory plan of kernels/.
//
// A mark is the attribute `inplace`: for every result the number of the operand whose memory it
// takes, -1 for none. Only result 0 can have one. An op that nobody defines, or that defines an
// attribute of this name itself, has no marks.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ir/base/status.h"
#include "ir/program.h"

namespace weft::ir {

inline constexpr std::string_view kInplaceAttr = "inplace";

// The mark as it stands, right or wrong; null without one.
Attribute InplaceMark(Operation op);
// The operand over which a mark of the right form puts result 0.
std::optional<uint32_t> MarkedOperand(Operation op);
// What marks the op: result 0 over that operand.
Attribute MakeInplaceMark(Operation op, uint32_t operand);

// Of a program at one moment. Linear in its size; a question takes constant time.
class InplaceAnalysis {
 public:
  explicit InplaceAnalysis(Program& program);

  // Null if result 0 of `op` may be written over that operand, else why not: "its memory is read
  // later".
  const char* WhyNot(Operation op, uint32_t operand) const;

 private:
  // What a value and all views of it lie in. `last` is the place of the last op that reads any of
  // them, `reads` how often that one does.
  struct Memory {
    uint32_t merged_into = kNoId;
    const char* pinned = nullptr;  // why it may never be overwritten
    uint32_t last = 0, reads = 0;
  };
  uint32_t IndexOf(Value value) const;
  Memory& MemoryOf(Value value);
  const Memory& MemoryOf(Value value) const;
  void Pin(Value value, const char* why);
  void Merge(Value view, Value viewed);
  void AddOp(Operation op);
  void AddReads(Operation op);
  void AddResults(Operation op);

  uint32_t num_ops_;
  std::vector<uint32_t> place_;  // of an op in the program's order, from 1; by op slot
  std::vector<Memory> memory_;   // by value: those of op slots, then further results and arguments
};

// The first mark that does not hold, as InvalidArgument.
absl::Status VerifyInplaceMarks(Program& program);
bool HasInplaceMarks(Program& program);
// Whether there were any.
bool DropInplaceMarks(Program& program);

}  // namespace weft::ir
