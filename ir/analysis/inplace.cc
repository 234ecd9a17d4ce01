#include "ir/analysis/inplace.h"

#include <fmt/format.h>

#include <utility>

#include "ir/rewriter.h"
#include "ir/walk.h"

namespace weft::ir {
namespace {

// Null for an operand over which the op could write result 0, were nobody to read it later.
const char* WhyNotOfThisOp(Operation op, uint32_t operand) {
  const OpDef* def = op.def();
  if (!def || !def->Has(kInplace)) return "the op does not have the trait inplace";
  const bool named = operand < 32 ? (InplaceOperands(*def->info) >> operand & 1) != 0
                                  : InplaceOperands(*def->info) == kEveryOperand;
  if (!named || op.num_results() == 0) return "the op does not write over this operand";
  if (!op.HasOperand(operand)) return "it is not given";
  const Type type = op.operand(operand).type();
  if (!(type == op.result(0).type())) return "it has another type than the result";
  if (!ProvablySameType(type, op.result(0).type()) || ElementSize(type.dtype()) == 0)
    return "its size is not known";
  return nullptr;
}

absl::Status VerifyMark(Operation op, Attribute mark, const InplaceAnalysis& analysis) {
  const std::string_view where = op.location().str();
  const auto fail = [&](const std::string& what) {
    return InvalidArgument(
        fmt::format("{}{}: {}", op.name(), where.empty() ? "" : fmt::format(" ({})", where), what));
  };
  if (!mark.Is(AttrKind::kInts) || mark.AsInts().size() != op.num_results())
    return fail("its inplace mark is not a list of one operand number per result");
  for (size_t i = 0; i < mark.AsInts().size(); ++i) {
    const int64_t operand = mark.AsInts()[i];
    if (operand == -1) continue;
    const char* why = i > 0 ? "only result 0 can be written in place"
                      : operand < 0 || operand >= op.num_operands()
                          ? "it is not given"
                          : analysis.WhyNot(op, static_cast<uint32_t>(operand));
    if (why != nullptr)
      return fail(fmt::format("result {} cannot be inplace over operand {}: {}", i, operand, why));
  }
  return absl::OkStatus();
}

}  // namespace

// --- marks --------------------------------------------------------------------

Attribute InplaceMark(Operation op) {
  static const Name name(kInplaceAttr);
  const Attribute mark = op.attrs().Get(name);
  if (!mark) return {};
  const OpDef* def = op.def();
  return def && !def->FindField(name) ? mark : Attribute();
}

std::optional<uint32_t> MarkedOperand(Operation op) {
  const Attribute mark = InplaceMark(op);
  if (!mark.Is(AttrKind::kInts) || mark.AsInts().empty()) return std::nullopt;
  const int64_t operand = mark.AsInts()[0];
  if (operand < 0 || operand >= op.num_operands()) return std::nullopt;
  return static_cast<uint32_t>(operand);
}

Attribute MakeInplaceMark(Operation op, uint32_t operand) {
  Ints operands(op.num_results(), -1);
  operands[0] = operand;
  return op.context()->IntsAttr(operands);
}

absl::Status VerifyInplaceMarks(Program& program) {
  const InplaceAnalysis analysis(program);
  absl::Status status;
  Walk(program, [&](Operation op) {
    const Attribute mark = InplaceMark(op);
    if (mark && status.ok()) status = VerifyMark(op, mark, analysis);
  });
  return status;
}

bool HasInplaceMarks(Program& program) {
  bool any = false;
  Walk(program, [&](Operation op) { any = any || InplaceMark(op); });
  return any;
}

bool DropInplaceMarks(Program& program) {
  bool dropped = false;
  Rewriter rewriter(&program);
  Walk(program, [&](Operation op) {
    if (!InplaceMark(op)) return;
    rewriter.SetAttrs(op, program.context()->Without(op.attrs(), Name(kInplaceAttr)));
    dropped = true;
  });
  return dropped;
}

// --- the analysis ---------------------------------------------------------------

InplaceAnalysis::InplaceAnalysis(Program& program)
    : num_ops_(program.op_slots()), place_(num_ops_), memory_(num_ops_) {
  for (const Value input : program.body().arguments()) Pin(input, "its memory is an input's");
  uint32_t place = 0;
  Walk(program, [&](Operation op) {
    place_[op.id()] = ++place;
    AddOp(op);
  });
}

uint32_t InplaceAnalysis::IndexOf(Value value) const {
  const uint32_t id = value.id();
  return id & internal::kExtraBit ? num_ops_ + (id & ~internal::kExtraBit) : id;
}

InplaceAnalysis::Memory& InplaceAnalysis::MemoryOf(Value value) {
  uint32_t i = IndexOf(value);
  if (i >= memory_.size()) memory_.resize(i + 1);
  while (memory_[i].merged_into != kNoId) {
    const uint32_t next = memory_[i].merged_into;
    if (memory_[next].merged_into != kNoId) memory_[i].merged_into = memory_[next].merged_into;
    i = next;
  }
  return memory_[i];
}

const InplaceAnalysis::Memory& InplaceAnalysis::MemoryOf(Value value) const {
  uint32_t i = IndexOf(value);
  WEFT_CHECK(i < memory_.size(), "a value that was made after the analysis");
  while (memory_[i].merged_into != kNoId) i = memory_[i].merged_into;
  return memory_[i];
}

void InplaceAnalysis::Pin(Value value, const char* why) {
  Memory& memory = MemoryOf(value);
  if (memory.pinned == nullptr) memory.pinned = why;
}

void InplaceAnalysis::Merge(Value view, Value viewed) {
  MemoryOf(view);  // neither call below moves the entries
  Memory& to = MemoryOf(viewed);
  Memory& from = MemoryOf(view);
  if (&from == &to) return;
  if (to.pinned == nullptr) to.pinned = from.pinned;
  if (from.last == to.last) {
    to.reads += from.reads;
  } else if (from.last > to.last) {
    to.last = from.last;
    to.reads = from.reads;
  }
  from.merged_into = static_cast<uint32_t>(&to - memory_.data());
}

void InplaceAnalysis::AddOp(Operation op) {
  for (uint32_t i = 0; i < op.num_regions(); ++i)
    for (const Block block : op.region(i).blocks())
      for (const Value argument : block.arguments()) Pin(argument, "its memory is an argument's");
  AddResults(op);
  AddReads(op);
}

// What an op without value semantics does with its operands is not known; nor is what the regions of
// an op give it: they may return what they see outside. The body of a fused op sees nothing outside.
void InplaceAnalysis::AddResults(Operation op) {
  const OpDef* def = op.def();
  if (op.HasTrait(kConstantLike)) {
    for (const Value result : op.results()) Pin(result, "its memory is a constant's");
  } else if (op.HasTrait(kView)) {
    const auto& operands = def->info->operands;
    const bool all = operands.size() > 0 && operands[0].arity == Arity::kVariadic;
    for (const Value result : op.results())
      for (uint32_t i = 0; i < (all ? op.num_operands() : 1); ++i)
        if (op.HasOperand(i)) Merge(result, op.operand(i));
  } else if (!op.HasTrait(kValueSemantics) ||
             (op.num_regions() > 0 && !op.HasTrait(kBodyInRegion))) {
    const char* why = op.HasTrait(kTerminator)
                          ? "its memory is returned"
                          : "an op without value semantics may keep its memory";
    for (const Value operand : op.operands())
      if (operand) Pin(operand, why);
    for (const Value result : op.results()) Pin(result, why);
  }
}

void InplaceAnalysis::AddReads(Operation op) {
  for (const Value operand : op.operands()) {
    if (!operand) continue;
    if (!(operand.ParentBlock() == op.block())) Pin(operand, "its memory is read inside a region");
    Memory& memory = MemoryOf(operand);
    const uint32_t place = place_[op.id()];
    memory.reads = memory.last == place ? memory.reads + 1 : 1;
    memory.last = place;
  }
}

const char* InplaceAnalysis::WhyNot(Operation op, uint32_t operand) const {
  if (const char* why = WhyNotOfThisOp(op, operand)) return why;
  const Memory& memory = MemoryOf(op.operand(operand));
  if (memory.pinned != nullptr) return memory.pinned;
  if (memory.last != place_[op.id()]) return "its memory is read later";
  if (memory.reads > 1) return "the op reads its memory twice";
  return nullptr;
}

}  // namespace weft::ir
