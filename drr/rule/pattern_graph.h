// A rule as data: the source graph to find, the constraints, the result graph to put in its place.
// The front ends (drr/drr.h and others) record one, Check() reports every mistake in it, and the
// engine interprets it. Immutable once it is part of a Rule (drr/rule/rule.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "drr/rule/ids.h"
#include "drr/rule/native_function.h"
#include "drr/rule/numeric_class.h"
#include "ir/base/function.h"
#include "ir/op_def.h"
#include "ir/program.h"

namespace weft::drr {

class MatchContext;

struct SourceLoc {
  const char* file = "";
  int line = 0;
  static constexpr SourceLoc Here(const char* f = __builtin_FILE(), int l = __builtin_LINE()) {
    return {f, l};
  }
};

// What one attribute of a source op must be.
struct AttrPattern {
  enum Kind { kIsOneOf, kBind, kAny };
  ir::Name name;
  Kind kind = kIsOneOf;
  std::vector<ir::Attribute> values;  // kIsOneOf; a null attribute means: not given
  AttrId variable;                    // kBind
};

struct Alternative {
  const ir::OpDef* def = nullptr;
  std::vector<AttrPattern> attrs;  // those not listed may be anything
};

// An operand that is not given.
inline constexpr ValueId kAbsent;

// The terminator of an op's region must return these values.
struct RegionPattern {
  int region = 0;
  std::vector<ValueId> returned;  // kAbsent: whatever is returned there
  SourceLoc loc;
};

// How often a source op occurs.
enum class Times : uint8_t {
  kOnce,
  kChain,  // Repeat: from min_times to max_times ops in a row, each reading the one before
  kEach,   // Each: one op for every element of the list it reads
};

struct SourceOp {
  std::vector<Alternative> alternatives;  // OneOf has several; AnyOp has none
  std::vector<ValueId> operands;          // kAbsent: that optional operand is not given
  std::vector<ValueId> results;
  SourceLoc loc;
  bool called = false;
  Times times = Times::kOnce;
  int min_times = 0, max_times = 0;    // of a chain
  uint32_t traits = ir::kNone;         // of an op without alternatives: it has all of these
  std::string opcode;                  // of an op without alternatives: its name, if it matters
  std::vector<RegionPattern> regions;  // what is asked of its regions

  std::string_view Name() const {  // for messages
    if (!alternatives.empty()) return alternatives[0].def->name();
    return opcode.empty() ? std::string_view("any op") : std::string_view(opcode);
  }
};

enum class Escape : uint8_t {
  kForbid,     // an intermediate value with an external use refuses the match
  kKeep,       // its defining op stays for the external uses
  kRecompute,  // so do all matched ops below: what the result needs of them is computed again
};

// An op that may stand between a value and its user.
struct SkippedOp {
  const ir::OpDef* def = nullptr;
  bool same_type = false;  // only where its result has the type of its operand
};

struct SourceValue {
  std::string name;
  std::string label{};  // as a rule in text writes it: %x
  SourceLoc loc;
  OpId producer;
  int result_index = 0;         // of the producer
  std::vector<ValueId> either;  // values one of which this is
  bool optional = false;        // an optional operand that may be absent
  Escape escape = Escape::kForbid;
  ValueId alias;                   // string spelling: another name for that value
  bool list = false;               // any number of consecutive operands, or what an Each makes
  bool outside = false;            // its defining op may lie in a block around the user's
  ValueId through;                 // this value, or that one with skipped ops in between
  std::vector<SkippedOp> skipped;  // what may stand between; at most kMaxSkipped in a row
  std::vector<ValueId> nots;       // values of patterns that must not make this one
};
inline constexpr int kMaxSkipped = 16;

struct AttrVariable {
  std::string name;
  SourceLoc loc;
  bool bound = false;
  std::string label{};  // as a rule in text writes it: $axis
};

struct ResultOperand {
  enum Kind { kNone, kSource, kResult, kOutside };
  Kind kind = kNone;
  bool list = false;
  // The one that `kind` says is set.
  ValueId source;
  ResultValueId result;
  OutsideId outside;

  static ResultOperand Source(ValueId id, bool list = false) { return {kSource, list, id, {}, {}}; }
  static ResultOperand Result(ResultValueId id, bool list = false) {
    return {kResult, list, {}, id, {}};
  }
  static ResultOperand Outside(OutsideId id) { return {kOutside, false, {}, {}, id}; }
};

// A value of one program that the pattern does not reach, taken as it is. The rule declines where
// that value is gone or does not come before the result.
struct OutsideValue {
  std::string node;  // the operation's location
  int result = 0;    // negative: from the end
  ir::Value value;
  SourceLoc loc;
};

// A constraint or a computed attribute in words of the vocabulary (drr/rule/vocabulary.h); without
// a name it is native code.
struct Formula {
  struct Argument {
    enum Kind { kValue, kVariable, kLiteral };
    Kind kind = kLiteral;
    ValueId value{};        // kValue
    AttrId variable{};      // kVariable
    bool if_given = false;  // %x?: the constraint holds where that value is absent
    ir::Attribute literal{};
  };
  std::string name{};
  std::vector<Argument> arguments{};
};

using ComputeAttr = ir::Function<ir::Attribute(const MatchContext&)>;

struct ResultAttr {
  ir::Name name;
  ir::Attribute literal;  // set, or
  AttrId variable;        // set, or
  ComputeAttr compute;    // set
  Formula formula{};      // of compute
};

struct ResultOp {
  const ir::OpDef* def = nullptr;
  std::vector<ResultAttr> attrs;  // later entries override earlier ones
  OpId attrs_of;                  // source op whose attributes of the same names are copied first
  OpId like;  // or: the same op (or chain of ops), with all its attributes, as that source op
  bool each = false;  // one op for every element of the list that is its first operand
  std::vector<ResultOperand> operands;
  std::vector<ResultValueId> results;
  SourceLoc loc;
  bool called = false;
  // The location is that of the root, unless it is
  ValueId location_of;        // that of the defining op of this source value, or
  std::string location = {};  // this
};

struct Replacement {
  ValueId source;
  ResultOperand with;
  SourceLoc loc;
};

struct Constraint {
  std::string reason;  // what must hold, e.g. "w is a constant matrix"
  ir::Function<bool(const MatchContext&)> holds;
  SourceLoc loc;
  Formula formula{};
  bool profitable = false;  // it is about gain: without it the rewrite would be right, but no good
  // Of native code that a text names: what `holds` calls, with the arguments of `formula`, which has
  // no name.
  NativeFunction function{};
};

// Run after a match was applied, on what it made; see drr/rule/post_context.h.
class PostContext;
struct PostHook {
  ir::Function<void(PostContext&)> run;
  SourceLoc loc;
};

// What the rule is written in, so that messages name things as its author did.
enum class Spelling : uint8_t { kCpp, kText, kMappingDict };

class PatternGraph {
 public:
  PatternGraph(std::string_view rule, ir::IrContext* context);
  PatternGraph(const PatternGraph& other);  // these are compiled once, not in every rule
  PatternGraph(PatternGraph&& other) noexcept;
  ~PatternGraph();

  ir::IrContext* context() const { return context_; }
  std::string_view rule() const { return rule_; }
  void Error(SourceLoc loc, const std::string& what);
  // What is likely a mistake, but harmless.
  void Warning(SourceLoc loc, const std::string& what);
  const std::vector<std::string>& warnings() const { return warnings_; }
  // One value per name; "" is always new.
  ValueId NewValue(std::string_view name, SourceLoc loc, bool list = false);
  AttrId NewAttr(std::string_view name, SourceLoc loc);
  OpId NewOp(SourceOp op);
  OpId NewOp(SourceLoc loc);  // with alternatives to be added
  void AddAlternative(OpId op, const ir::OpDef& def);
  ResultOpId NewResultOp(ResultOp op);
  ResultOpId NewResultOp(const ir::OpDef& def, OpId attrs_of, SourceLoc loc);
  ResultValueId NewResultValue() { return ResultValueId(num_result_values++); }
  // Apply the op to operands and make its results, of which the numbers follow that of the first,
  // which is returned.
  ValueId Call(OpId op, std::span<const ValueId> operands, size_t num_results);
  ResultValueId CallResult(ResultOpId op, std::span<const ResultOperand> operands,
                           size_t num_results);
  // Apply the op to every element of a list; the result is a list.
  ValueId CallEach(OpId op, ValueId list);
  ResultValueId CallEachResult(ResultOpId op, std::span<const ResultOperand> operands);
  ValueId Resolve(ValueId value) const;  // through aliases
  std::string Describe(ValueId value) const;
  // Of a Like() op: its first alternative; null when that may be any op.
  const ir::OpDef* DefOf(const ResultOp& op) const {
    if (op.def) return op.def;
    const SourceOp& like = ops[op.like];
    return like.alternatives.empty() ? nullptr : like.alternatives[0].def;
  }
  std::string_view NameOf(const ResultOp& op) const {
    return op.def ? op.def->name() : ops[op.like].Name();
  }

  // Every mistake: operands never bound, results forgotten, handles unused, attributes left open.
  // Empty when the rule is good; then roots() is filled.
  std::vector<std::string> Check();
  // Ops whose results no other source op reads.
  const std::vector<OpId>& roots() const { return roots_; }
  // The replaced value where matching starts: a result of the first root, or an Either() of
  // results.
  ValueId root_value() const { return root_value_; }
  // Every op that may make root_value().
  std::vector<OpId> RootProducers() const;
  // Whether matching is a walk down one tree with nothing to choose but operand orders: one root,
  // ops of fixed alternatives whose operands are named one by one (some optional or absent),
  // attributes that are literals, sets, variables or anything. No Either(), no secondary roots, no
  // Repeat, Each or list, AnyOp, Not, skipped op, region, or Recompute(), and no op with any number
  // of results. A value may be read twice (a DAG).
  bool IsPlain() const;
  bool HasLists() const { return has_lists_; }      // or chains: one op or value stands for several
  bool HasRegions() const { return has_regions_; }  // looks into a region, or out of one
  // Result ops in the order they are built: operands first, left to right, whatever order the
  // compiler evaluated the rule's expressions in.
  const std::vector<ResultOpId>& result_order() const { return result_order_; }

  IdVector<SourceOp> ops;
  IdVector<SourceValue> values;
  IdVector<AttrVariable> attrs;
  std::vector<Constraint> constraints;
  IdVector<ResultOp> result_ops;
  IdVector<OutsideValue> outside;
  size_t num_result_values = 0;
  size_t num_lets = 0;  // values that constraints compute for later functions of the rule
  std::vector<Replacement> replacements;
  std::vector<PostHook> post_hooks;
  SourceLoc loc;         // of the rule
  bool lenient = false;  // string spelling: what nobody uses is a warning, not an error
  Spelling spelling = Spelling::kCpp;

 private:
  friend class PatternChecker;
  std::string rule_;
  ir::IrContext* context_;
  std::vector<std::string> errors_, warnings_;
  std::vector<OpId> roots_;
  std::vector<ResultOpId> result_order_;
  ValueId root_value_;
  bool has_lists_ = false, has_regions_ = false;
};

}  // namespace weft::drr
