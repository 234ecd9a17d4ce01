// One case of a rule: the source as tensors of a proof, what its constraints say of them, the result,
// and whether the two are the same.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "drr/rule/rule.h"
#include "passes/verify/proof/op_meaning.h"
#include "passes/verify/proof/rule_model.h"
#include "passes/verify/proof/rule_slice.h"

namespace weft::passes {

inline constexpr size_t kMaxProofList = 2;  // tensors in a list

// That a literal argument is.
double NumberOf(const drr::Formula::Argument& argument);

class RuleCase {
 public:
  // `slice`: the part of the source that is made; null: all of it.
  RuleCase(const drr::Rule& rule, ProofState& state, Script& script,
           const RuleSlice* slice = nullptr);
  // Whether every replaced value provably is what replaces it. Else outcome() says why, or that
  // nothing matches in this way.
  bool Prove();
  // Whether a constraint provably holds in this case, likewise.
  bool ProveFollows(const drr::Formula& constraint);
  // Sizes and lists with which the rule matches in this case (rule_model.h), if any are found.
  std::optional<RuleModel> FindModel(const ModelOptions& options);
  Case& outcome() { return c_; }

 private:
  // A value of the source or the result: a tensor, which may be absent, or a list.
  struct Bound {
    bool is_made = false;
    Tensor* tensor = nullptr;
    std::vector<Tensor*> list{};
  };
  struct BoundOp {
    bool is_made = false;
    std::optional<ProofOp> op{};
  };
  // What constraints say of an input.
  struct Known {
    bool one_element = false, unit_sizes = false, only_last = false, uniform = false;
    std::optional<size_t> rank{};
    std::optional<double> number{};
    std::optional<int64_t> whole_number{};
    bool zero_has_any_sign = false;
    TypeSet types = kAnyType;
  };
  using Formula = drr::Formula;

  // rule_case.cc
  bool MakeSource();
  bool MakeSlice();
  bool MakeValue(drr::ValueId id);
  bool MakeSkipped(drr::ValueId id);
  bool MakeOp(drr::OpId id);
  bool PickAlternative(drr::OpId id, ProofOp* op);
  ProofAttr AttrOf(const drr::AttrPattern& pattern, const ir::FieldDef& field);
  Leaf* MakeLeaf(drr::ValueId id, const std::string& name);
  bool MakeResultOp(drr::ResultOpId id);
  bool ReadResultOp(const drr::ResultOp& result, ProofOp* op);
  bool MakeUnknown(drr::OpId id);
  // What the engine accepts of a result, it knows to be valid.
  void AssumeResultIsValid();
  void AssumeResultHasElements();
  // rule_model.cc
  void Break(const Formula& constraint);
  void BreakSameType(TypeClass a, TypeClass b);
  struct Read {  // the integers of a model
    std::vector<Term> dims{}, list{};
  };
  std::map<size_t, Read> ReadValues();
  RuleModel ModelOf(const std::map<size_t, Read>& read, std::span<const int64_t> integers);
  std::vector<Term> Wishes(const std::map<size_t, Read>& read, const ModelOptions& options);

  bool ApplyEach(const ProofOp& op, const std::vector<Tensor*>& elements, Bound* result);
  bool AddResultAttr(const drr::ResultAttr& attr, ProofOp* op);
  const Bound* OperandOf(const drr::ResultOperand& operand);
  ProofAttr& VariableOf(drr::AttrId id);

  // constraint_facts.cc
  void ReadInputs();  // into known_
  // Of those that are followed and near enough: each is said once, as soon as it is about choices that
  // were made, or else at the end.
  bool IsSaid(const drr::Constraint& constraint) const;
  void SayWhatIsChosen();
  // What a constraint says, said by the functions below: assumed, or where there is a goal_ to be proved.
  void SayConstraint(const Formula& formula);
  void SayJoin(const Formula& formula);
  void SayRanks(const Formula& formula);
  void SaySizes(const Formula& formula);
  void SayBroadcastTogether(const Formula& formula);
  bool AreMadeByOneKind(const Formula& formula);
  void SayTypes(const Formula& formula);
  static bool IsOfAxes(const Formula& formula);
  void SayAxes(const Formula& formula);
  void SayNumber(const Formula& formula);
  void Say(bool holds);
  void Say(Term fact);
  void SaySame(const std::optional<Term>& a, const std::optional<Term>& b);  // sizes
  void SaySameType(TypeClass a, TypeClass b);
  void SayTypeIs(TypeClass type, TypeSet types);
  bool HasRank(Tensor& tensor, size_t rank);
  // Of what a proof does not know nothing is assumed, and nothing proved.
  void SayUnknown();
  bool IsAbsent(const Formula& formula) const;
  // Whether the formula alone says which sizes of its input are 1.
  bool HasChosenUnitSizes(const Formula& formula) const;
  bool IsList(const Formula& formula, size_t i) const;
  // Null where it is absent, and then nothing matches.
  Tensor* TensorOf(const Formula& formula, size_t i);
  std::optional<int64_t> IntegerOf(const Formula& formula, size_t i);
  // What makes a value of the source; null where that is not known.
  const ProofOp* OpThatMakes(const Formula& formula, size_t i) const;
  // Whether a constraint says that attributes of the op other than numbers have their defaults.
  bool HasOnlyNumbers(drr::OpId id) const;
  const ir::Ints* IntsOf(const Formula& formula, size_t i);
  std::optional<TypeClass> TypeOf(const Formula& formula, size_t i);
  // The size of axis `axis` (an argument) of value `v`; none where that is not known.
  std::optional<Term> SizeOf(const Formula& formula, size_t v, size_t axis);
  // What a formula computes; nothing where a proof does not know.
  std::optional<ProofAttr> Computed(const Formula& formula, ir::AttrKind kind);
  std::optional<ProofAttr> ComputedConstant(const Formula& formula);
  std::optional<ProofAttr> ComputedBounds(const Formula& formula);
  std::optional<ProofAttr> ComputedScale(const Formula& formula);
  std::optional<ProofAttr> ComputedJoin(const Formula& formula, std::string_view op);

  const drr::PatternGraph& graph_;
  const RuleSlice* slice_;
  Case c_;
  OpMeanings ops_;
  std::vector<Bound> values_, results_;
  std::vector<BoundOp> made_ops_;
  std::vector<std::optional<ProofAttr>> variables_;
  std::vector<bool> is_said_;      // by constraint
  std::map<size_t, Known> known_;  // by value
  bool* goal_ = nullptr;           // whether all that was said so far is proved
  // Of a constraint that is to be broken: that it is, or how it may be.
  struct Breach {
    bool is_made = false;
    std::vector<Term> ways{};
  };
  Breach* breach_ = nullptr;
  std::vector<std::optional<uint32_t>> choices_, alternatives_;  // by value, by op
};

}  // namespace weft::passes
