#include "ir/analysis/verifier.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>
#include <vector>

#include "ir/analysis/default_inputs.h"
#include "ir/analysis/inplace.h"
#include "ir/dialects/builtin.h"
#include "ir/graph_view.h"
#include "ir/infer.h"

namespace weft::ir {
namespace {

absl::Status Fail(Operation op, std::string_view what) {
  const std::string_view where = op.location().str();
  return InvalidArgument(fmt::format("{}{}{}{}: {}", op.name(), where.empty() ? "" : " (", where,
                                     where.empty() ? "" : ")", what));
}

absl::Status CheckCount(Operation op, const FixedList<OperandDef, 12>& defs, size_t count,
                        std::string_view what) {
  size_t listed = 0, required = 0;  // to the last that is required: those before it may be null
  bool variadic = false;
  for (const OperandDef& d : defs) {
    ++listed;
    if (d.arity == Arity::kOne) required = listed;
    variadic |= d.arity == Arity::kVariadic;
  }
  if (count >= required && (variadic || count <= defs.size())) return absl::OkStatus();
  return Fail(
      op, fmt::format("has {} {}{} but needs {}{}", count, what, count == 1 ? "" : "s", required,
                      variadic                  ? " or more"
                      : required == defs.size() ? std::string()
                                                : fmt::format(" to {}", defs.size())));
}

absl::Status CheckCounts(Operation op, const OpDef& def) {
  WEFT_RETURN_IF_ERROR(CheckCount(op, def.info->operands, op.num_operands(), "operand"));
  FixedList<OperandDef, 12> results;
  for (const OperandDef& d : def.info->results) results.items[results.count++] = d;
  WEFT_RETURN_IF_ERROR(CheckCount(op, results, op.num_results(), "result"));
  for (uint32_t i = 0; i < op.num_operands(); ++i) {
    if (op.operand(i)) continue;
    const auto& defs = def.info->operands;
    if (i < defs.size() && defs[i].arity == Arity::kOne)
      return Fail(op, fmt::format("operand {} is required but not given", defs[i].name));
  }
  return absl::OkStatus();
}

absl::Status CheckAttributes(Operation op, const OpDef& def) {
  for (const FieldDef& field : def.fields) {
    const Attribute value = op.attrs().Get(field.name);
    if (!value) {
      if (field.optional || field.make_default) continue;
      return Fail(op, fmt::format("attribute {} is required but not given", field.name.str()));
    }
    if (!field.accepts(value))
      return Fail(op, fmt::format("attribute {} has a value of the wrong kind", field.name.str()));
  }
  return absl::OkStatus();
}

// *from_values: whether inference looked at more than the types of the operands and the attributes.
absl::Status CheckTypes(Operation op, const OpDef& def, bool* from_values) {
  if (!def.infer) return absl::OkStatus();
  std::vector<Type> inferred(op.num_results());
  const std::vector<Value> operands = op.operands().vec();
  InferContext c(op.context(), op.opcode(), operands, op.attrs(), inferred);
  const bool ok = def.infer(c);
  *from_values = c.saw_values();
  if (!ok) return InvalidArgument(c.error());
  for (uint32_t i = 0; i < op.num_results(); ++i) {
    const Type expected = inferred[i], actual = op.result(i).type();
    if (!Compatible(actual, expected))
      return Fail(op, fmt::format("result {} is {} but its operands say {}", i, actual.ToString(),
                                  expected.ToString()));
  }
  return absl::OkStatus();
}

// The ancestor of `op` (or op itself) that lies directly in `block`; invalid when there is none.
// *crossed_isolated: an isolated op was left on the way.
Operation AncestorIn(Operation op, Block block, bool* crossed_isolated) {
  for (Operation o = op; o; o = o.ParentOp()) {
    if (o.block() == block) return o;
    const Operation parent = o.ParentOp();
    if (parent && parent.HasTrait(kIsolated)) *crossed_isolated = true;
  }
  return {};
}

absl::Status CheckDominance(Operation op, uint32_t i, Value value) {
  const Block block = value.ParentBlock();
  bool crossed = false;
  const Operation user = block ? AncestorIn(op, block, &crossed) : Operation();
  if (!user) return Fail(op, fmt::format("operand {} is not defined in an enclosing block", i));
  if (crossed) return Fail(op, fmt::format("operand {} comes from outside an isolated region", i));
  if (value.IsBlockArgument()) return absl::OkStatus();
  const Operation def = value.DefiningOp();
  if (def == user || !def.IsBefore(user))
    return Fail(op, fmt::format("operand {} is used before it is defined", i));
  return absl::OkStatus();
}

// `is_known(value)` is true for values that provably dominate op.
template <class IsKnown>
absl::Status CheckOperands(const GraphView& view, uint32_t op, IsKnown is_known) {
  const uint32_t count = view.num_operands(op);
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t value = view.operand(op, i);
    if (value == kNoId) continue;
    if (view.IsErasedValue(value))
      return Fail(view.OperationAt(op), fmt::format("operand {} was erased", i));
    const uint32_t use = view.operand_use(op, i), previous = view.previous_use(use);
    const uint32_t here = previous == kNoId ? view.first_use(value) : view.next_use(previous);
    if (here != use)
      return Fail(view.OperationAt(op), fmt::format("operand {} is in no use list", i));
    if (!is_known(value))
      WEFT_RETURN_IF_ERROR(CheckDominance(view.OperationAt(op), i, view.ValueAt(value)));
  }
  return absl::OkStatus();
}

// `op` is what to name: the op whose result, or whose block's argument, the value is.
absl::Status CheckUseList(const GraphView& view, uint32_t op, uint32_t value) {
  const uint32_t use_count = view.use_count(value);
  uint32_t count = 0, previous = kNoId;
  for (uint32_t use = view.first_use(value); use != kNoId; use = view.next_use(use)) {
    if (++count > use_count || view.used_value(use) != value || view.previous_use(use) != previous)
      return Fail(view.OperationAt(op), "its use list is broken");
    previous = use;
  }
  if (count != use_count)
    return Fail(view.OperationAt(op), "its use count is not the length of its use list");
  return absl::OkStatus();
}

absl::Status CheckResultUses(const GraphView& view, uint32_t op) {
  if (!view.HasResult(op)) return absl::OkStatus();
  WEFT_RETURN_IF_ERROR(CheckUseList(view, op, op));
  if (!view.HasExtraResults(op)) return absl::OkStatus();
  const uint32_t count = view.OperationAt(op).num_results();
  for (uint32_t i = 1; i < count; ++i)
    WEFT_RETURN_IF_ERROR(CheckUseList(view, op, view.result(op, i)));
  return absl::OkStatus();
}

// What the definition says of the op by itself: counts, attributes, types, number of regions.
absl::Status CheckDefinition(Operation op, bool* from_values) {
  const OpDef* def = op.def();
  if (!def) return absl::OkStatus();
  WEFT_RETURN_IF_ERROR(CheckCounts(op, *def));
  WEFT_RETURN_IF_ERROR(CheckAttributes(op, *def));
  return CheckTypes(op, *def, from_values);
}

absl::Status CheckRegions(const GraphView& view, Operation op) {
  const OpDef* def = op.def();
  if (def && def->info->num_regions >= 0 &&
      op.num_regions() != static_cast<uint32_t>(def->info->num_regions))
    return Fail(
        op, fmt::format("has {} regions but needs {}", op.num_regions(), def->info->num_regions));
  if (std::string error; def && def->verify && !def->verify(op, &error)) return Fail(op, error);
  for (uint32_t i = 0; i < op.num_regions(); ++i)
    for (Block block : op.region(i).blocks())
      for (Value argument : block.arguments())
        WEFT_RETURN_IF_ERROR(CheckUseList(view, op.id(), argument.id()));
  return absl::OkStatus();
}

// They are found by name: one of two would not be.
absl::Status CheckDistinct(Operation module, const Strings& names, std::string_view what) {
  std::vector<std::string_view> sorted(names.begin(), names.end());
  std::ranges::sort(sorted);
  const auto twice = std::ranges::adjacent_find(sorted);
  return twice == sorted.end() ? absl::OkStatus()
                               : Fail(module, fmt::format("has two {} called '{}'", what, *twice));
}

absl::Status CheckModule(Program& program) {
  const auto attrs = program.module().attrs_of<ModuleOp>();
  const Block body = program.body();
  if (attrs.input_names && attrs.input_names->size() != body.num_arguments())
    return Fail(program.module(), fmt::format("has {} inputs but {} input_names",
                                              body.num_arguments(), attrs.input_names->size()));
  const Operation end = body.Terminator();
  const size_t outputs = end ? end.num_operands() : 0;
  if (attrs.output_names && attrs.output_names->size() != outputs)
    return Fail(program.module(), fmt::format("has {} outputs but {} output_names", outputs,
                                              attrs.output_names->size()));
  if (attrs.input_names)
    WEFT_RETURN_IF_ERROR(CheckDistinct(program.module(), *attrs.input_names, "inputs"));
  if (attrs.output_names)
    WEFT_RETURN_IF_ERROR(CheckDistinct(program.module(), *attrs.output_names, "outputs"));
  return CheckDefaultInputs(program);
}

// What CheckInFull found right: it depends on no more than this.
struct Signature {
  static constexpr uint32_t kMaxOperands = 4;
  uint32_t opcode = 0;  // 0: none
  uint16_t has_result = 0, is_last = 0;
  uint32_t any_missing = 0;  // an operand that is not given
  uint32_t num_operands = 0, attrs = 0, result_type = 0;
  std::array<uint32_t, kMaxOperands> operand_types{};  // of that few; kNoId: not given

  bool operator==(const Signature& other) const {
    return std::memcmp(this, &other, sizeof(Signature)) == 0;
  }
  uint32_t Hash() const {
    uint64_t hash = (uint64_t{attrs} << 16 ^ opcode) * 0x9e3779b97f4a7c15u ^ result_type;
    for (uint32_t type : operand_types) hash = (hash ^ type) * 0xff51afd7ed558ccdu;
    return static_cast<uint32_t>(hash >> 32);
  }
};
static_assert(std::has_unique_object_representations_v<Signature>);

// An open-addressing set; it forgets everything rather than grow large.
class SignatureSet {
 public:
  bool Contains(const Signature& signature) {
    Signature& recent = recent_[(signature.opcode + 5 * signature.attrs + signature.result_type) &
                                (recent_.size() - 1)];
    if (recent == signature) return true;
    if (slots_[Find(signature)].opcode == 0) return false;
    recent = signature;
    return true;
  }
  void Add(const Signature& signature) {
    if (++size_ > slots_.size() / 2) Rehash();
    slots_[Find(signature)] = signature;
  }

 private:
  size_t Find(const Signature& signature) const {
    size_t i = signature.Hash() & (slots_.size() - 1);
    while (slots_[i].opcode != 0 && !(slots_[i] == signature)) i = (i + 1) & (slots_.size() - 1);
    return i;
  }
  void Rehash() {
    constexpr size_t kMaxSlots = 1 << 14;
    std::vector<Signature> old(slots_.size() < kMaxSlots ? 2 * slots_.size() : kMaxSlots);
    old.swap(slots_);
    size_ = 1;
    if (old.size() == kMaxSlots) return;
    for (const Signature& s : old) {
      if (s.opcode == 0) continue;
      slots_[Find(s)] = s;
      ++size_;
    }
  }
  std::array<Signature, 64> recent_{};  // found without a good hash
  std::vector<Signature> slots_ = std::vector<Signature>(64);
  size_t size_ = 0;
};

// Verifies the ops of a program in their order. Large programs repeat few combinations of
// opcode, attributes and types ("signatures"), so what was found right once is not looked at again.
class ProgramVerifier {
 public:
  explicit ProgramVerifier(Program& program);
  absl::Status Run();

 private:
  absl::Status CheckRegionsOf(Operation op);
  static void PushRegions(Operation op, std::vector<uint32_t>* next);
  // Whether the op is provably right; else Check() looks for the mistake, or for what makes it
  // right after all.
  bool LooksRight(uint32_t op, Signature* signature);
  absl::Status Check(uint32_t op, const Signature& signature);
  // Whether all operands are alive, in use lists, and defined before in the same block. Fills in
  // the signature.
  bool OperandsHold(const internal::OpRecord& r, uint32_t op, Signature* signature);
  bool Precedes(uint32_t def, uint32_t block) const;
  // For ops of at most one result.
  bool UseListHolds(const internal::OpRecord& r, uint32_t op) const;
  absl::Status CheckInFull(Operation op, bool* from_values);

  Program& program_;
  GraphView view_;
  bool has_parameters_, has_inplace_marks_ = false;
  std::vector<bool> seen_;                    // by op slot: verified already
  uint64_t num_operands_ = 0, num_uses_ = 0;  // operands that are given; lengths of use lists
  SignatureSet signatures_;
};

inline ProgramVerifier::ProgramVerifier(Program& program)
    : program_(program),
      view_(&program),
      has_parameters_(!program.ParameterNames().empty()),
      seen_(program.op_slots()) {}

inline absl::Status ProgramVerifier::Run() {
  WEFT_RETURN_IF_ERROR(CheckModule(program_));
  WEFT_RETURN_IF_ERROR(CheckRegionsOf(program_.module()));
  std::vector<uint32_t> next;  // a stack of the ops to resume at, inner ones on top
  PushRegions(program_.module(), &next);
  while (!next.empty()) {
    const uint32_t op = next.back();
    const uint32_t after = view_.next(op);
    Signature signature;
    if (!LooksRight(op, &signature)) WEFT_RETURN_IF_ERROR(Check(op, signature));
    seen_[op] = true;
    if (after == kNoId) {
      next.pop_back();
    } else {
      next.back() = after;
    }
    if (view_.HasRegions(op)) PushRegions(view_.OperationAt(op), &next);
  }
  // Every list is as long as it says and every operand in one: more uses are of erased ops.
  if (num_uses_ != num_operands_)
    return InvalidArgument(fmt::format("use lists hold {} uses but operations have {} operands",
                                       num_uses_, num_operands_));
  return has_inplace_marks_ ? VerifyInplaceMarks(program_) : absl::OkStatus();
}

inline absl::Status ProgramVerifier::CheckRegionsOf(Operation op) {
  for (uint32_t i = 0; i < op.num_regions(); ++i)
    for (Block block : op.region(i).blocks())
      for (Value argument : block.arguments()) num_uses_ += argument.use_count();
  return CheckRegions(view_, op);
}

inline void ProgramVerifier::PushRegions(Operation op, std::vector<uint32_t>* next) {
  for (uint32_t i = op.num_regions(); i > 0; --i) {
    const std::vector<Block> blocks = op.region(i - 1).blocks();
    for (auto block = blocks.rbegin(); block != blocks.rend(); ++block)
      if (const Operation first = block->front()) next->push_back(first.id());
  }
}

inline bool ProgramVerifier::LooksRight(uint32_t op, Signature* signature) {
  const internal::OpRecord& r = view_.record(op);
  const bool operands_hold = OperandsHold(r, op, signature);
  constexpr uint8_t kRare = internal::kOpHasRegions | internal::kOpHasExtraResults;
  return operands_hold && UseListHolds(r, op) && !(r.flags & kRare) &&
         signatures_.Contains(*signature);
}

inline absl::Status ProgramVerifier::Check(uint32_t op, const Signature& signature) {
  WEFT_RETURN_IF_ERROR(CheckOperands(view_, op, [&](uint32_t value) {
    if (view_.block_of_value(value) != view_.block(op)) return false;
    const uint32_t def = view_.DefiningOp(value);
    return def == kNoId || seen_[def];
  }));
  const Operation operation = view_.OperationAt(op);
  bool from_values = false;
  WEFT_RETURN_IF_ERROR(CheckInFull(operation, &from_values));
  WEFT_RETURN_IF_ERROR(CheckResultUses(view_, op));
  for (uint32_t i = 1; i < operation.num_results(); ++i)
    num_uses_ += operation.result(i).use_count();
  if (from_values || view_.HasRegions(op) || view_.HasExtraResults(op)) return absl::OkStatus();
  const bool covers_operands = signature.num_operands <= Signature::kMaxOperands ||
                               !operation.def() || !operation.def()->infer;
  if (covers_operands) signatures_.Add(signature);
  return absl::OkStatus();
}

inline bool ProgramVerifier::OperandsHold(const internal::OpRecord& r, uint32_t op,
                                          Signature* signature) {
  const uint32_t count = view_.num_operands(op);
  bool holds = true;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t use = r.operands + i;
    const internal::OperandRecord& u = view_.use_record(use);
    uint32_t type = kNoId, first_use;
    if (u.value == kNoId) {
      signature->any_missing = 1;
    } else {
      ++num_operands_;
      if (u.value & internal::kExtraBit) {
        const internal::ExtraValueRecord& extra = view_.extra_record(u.value);
        type = extra.type;
        first_use = extra.first_use;
        holds &= !extra.erased &&
                 (extra.is_argument ? extra.owner == r.block : Precedes(extra.owner, r.block));
      } else {
        const internal::OpRecord& def = view_.record(u.value);
        type = def.type;
        first_use = def.first_use;
        holds &= Precedes(u.value, r.block);
      }
      holds &= (u.prev == kNoId ? first_use : view_.next_use(u.prev)) == use;
    }
    if (count <= Signature::kMaxOperands) signature->operand_types[i] = type;
  }
  if (r.flags & internal::kOpHasResult) num_uses_ += view_.use_count(op);
  signature->opcode = r.opcode;
  signature->has_result = (r.flags & internal::kOpHasResult) != 0;
  signature->is_last = r.next == kNoId;
  signature->num_operands = count;
  signature->attrs = r.attrs;
  signature->result_type = r.type;
  return holds;
}

inline bool ProgramVerifier::Precedes(uint32_t def, uint32_t block) const {
  const internal::OpRecord& r = view_.record(def);
  return r.block == block && seen_[def] && !(r.flags & internal::kOpErased);
}

inline bool ProgramVerifier::UseListHolds(const internal::OpRecord& r, uint32_t op) const {
  if (!(r.flags & internal::kOpHasResult)) return true;
  if (r.flags & (internal::kOpHasExtraResults | internal::kOpManyUses)) return false;
  uint32_t count = 0, previous = kNoId;
  for (uint32_t use = r.first_use; use != kNoId; ++count) {
    const internal::OperandRecord& u = view_.use_record(use);
    if (count == r.use_count || u.value != op || u.prev != previous) return false;
    previous = use;
    use = u.next;
  }
  return count == r.use_count;
}

inline absl::Status ProgramVerifier::CheckInFull(Operation op, bool* from_values) {
  WEFT_RETURN_IF_ERROR(CheckDefinition(op, from_values));
  WEFT_RETURN_IF_ERROR(CheckRegionsOf(op));
  has_inplace_marks_ |= static_cast<bool>(InplaceMark(op));
  if (op.HasTrait(kTerminator) && op.next())
    return Fail(op, "ends its block but is not the last operation in it");
  if (!has_parameters_ || !op.Is<GetParameterOp>()) return absl::OkStatus();
  const std::string name = op.attrs_of<GetParameterOp>().parameter_name;
  const Attribute parameter = program_.parameter(name);
  if (!parameter) return Fail(op, "the program has no parameter " + name);
  const Type stated = op.result(0).type();
  if (parameter.Is(AttrKind::kDense) && !Compatible(stated, parameter.dense_type()))
    return Fail(op, fmt::format("result 0 is {} but parameter {} is {}", stated.ToString(), name,
                                parameter.dense_type().ToString()));
  return absl::OkStatus();
}

}  // namespace

absl::Status VerifyOperation(Operation op) {
  const GraphView view(op.program());
  bool from_values = false;
  WEFT_RETURN_IF_ERROR(CheckOperands(view, op.id(), [](uint32_t) { return false; }));
  WEFT_RETURN_IF_ERROR(CheckDefinition(op, &from_values));
  return CheckResultUses(view, op.id());
}

absl::Status Verify(Program& program) { return ProgramVerifier(program).Run(); }

}  // namespace weft::ir
