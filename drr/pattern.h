// A rule as data: the source graph to find, the constraints, the result graph to put in its place.
// The authoring API (drr/drr.h) records one; Check() reports every mistake in it; the matcher and
// the rewriter (drr/matcher.h, drr/apply.h) interpret it. Immutable after a successful Build.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/op_def.h"

namespace weft::drr {

class MatchContext;

struct SourceLoc {
  const char* file = "";
  int line = 0;
  static constexpr SourceLoc Here(const char* f = __builtin_FILE(), int l = __builtin_LINE()) {
    return {f, l};
  }
};

// How a rewrite may change numbers; a run has a contract, and rules outside it are not eligible.
enum class NumericClass : uint8_t {
  kExact,         // bit for bit the same, whatever the inputs
  kReassociates,  // the same in real arithmetic, rounded elsewhere (float sums in another order,
                  // folding)
  kApproximate,   // another function that is close
};
std::string_view NumericClassName(NumericClass numerics);

// What one attribute of a source op must be.
struct AttrPattern {
  enum Kind { kIsOneOf, kBind, kAny };
  ir::Name name;
  Kind kind = kIsOneOf;
  std::vector<ir::Attribute> values;  // kIsOneOf; a null attribute means: not given
  int variable = -1;                  // kBind
};

struct Alternative {
  const ir::OpDef* def = nullptr;
  std::vector<AttrPattern> attrs;  // those not listed may be anything
};

struct SourceOp {
  std::vector<Alternative> alternatives;  // OneOf has several
  std::vector<int> operands;              // values; kAbsent: that optional operand is not given
  std::vector<int> results;
  SourceLoc loc;
  bool called = false;
};
inline constexpr int kAbsent = -1;

enum class Escape : uint8_t {
  kForbid,  // an intermediate value that anything else reads refuses the match
  kKeep,    // its producer stays for the other readers
};

struct SourceValue {
  std::string name;
  SourceLoc loc;
  int producer = -1;        // source op
  int result_index = 0;     // of the producer
  std::vector<int> either;  // values one of which this is
  bool optional = false;    // an optional operand that may be absent
  Escape escape = Escape::kForbid;
  int alias = -1;  // string spelling: another name for that value
};

struct AttrVariable {
  std::string name;
  SourceLoc loc;
  bool bound = false;
};

struct ResultOperand {
  enum Kind { kNone, kSource, kResult };
  Kind kind = kNone;
  int id = -1;
};

using ComputeAttr = std::function<ir::Attribute(const MatchContext&)>;

struct ResultAttr {
  ir::Name name;
  ir::Attribute literal;  // set, or
  int variable = -1;      // set, or
  ComputeAttr compute;    // set
};

struct ResultOp {
  const ir::OpDef* def = nullptr;
  std::vector<ResultAttr> attrs;  // later entries override earlier ones
  int attrs_of = -1;              // source op whose attributes of the same names are copied first
  int like = -1;                  // or: the same op, with all its attributes, as that source op
  std::vector<ResultOperand> operands;
  std::vector<int> results;
  SourceLoc loc;
  bool called = false;
};

struct Replacement {
  int source = -1;
  ResultOperand with;
  SourceLoc loc;
};

struct Constraint {
  std::string reason;  // what must hold, e.g. "w is a constant matrix"
  std::function<bool(const MatchContext&)> holds;
  SourceLoc loc;
};

class PatternGraph {
 public:
  PatternGraph(std::string_view rule, ir::IrContext* context) : rule_(rule), context_(context) {}

  ir::IrContext* context() const { return context_; }
  std::string_view rule() const { return rule_; }
  void Error(SourceLoc loc, const std::string& what);
  // What is likely a mistake, but harmless.
  void Warning(SourceLoc loc, const std::string& what);
  const std::vector<std::string>& warnings() const { return warnings_; }
  int NewValue(std::string_view name, SourceLoc loc);  // one value per name; "" is always new
  int NewAttr(std::string_view name, SourceLoc loc);
  int NewOp(SourceOp op);
  int NewResultOp(ResultOp op);
  // Applies source op `op` to operands: makes its results.
  void Call(int op, std::span<const int> operands, size_t num_results);
  void CallResult(int op, std::span<const ResultOperand> operands, size_t num_results);
  int Resolve(int value) const;  // through aliases
  std::string Describe(int value) const;
  const ir::OpDef& DefOf(const ResultOp& op) const {  // of a Like() op: its first alternative
    return op.def ? *op.def : *ops[op.like].alternatives[0].def;
  }

  // Every mistake: operands never bound, results forgotten, handles unused, attributes left open.
  // Empty when the rule is good; then roots() is filled.
  std::vector<std::string> Check();
  // Ops whose results no other source op reads.
  const std::vector<int>& roots() const { return roots_; }
  // The replaced value where matching starts: a result of the first root, or an Either() of
  // results.
  int root_value() const { return root_value_; }
  // Every op that may make root_value().
  std::vector<int> RootProducers() const;
  // Whether matching is a walk down one tree with nothing to choose but operand orders: one root,
  // ops of fixed alternatives whose operands are named one by one (some optional or absent),
  // attributes that are literals, sets, variables or anything. No Either(), no joined roots, and
  // none of what the general matcher alone understands. A value may be read twice (a DAG).
  bool IsPlain() const;
  // Result ops in the order they are built: operands first, left to right, whatever order the
  // compiler evaluated the rule's expressions in.
  const std::vector<int>& result_order() const { return result_order_; }

  std::vector<SourceOp> ops;
  std::vector<SourceValue> values;
  std::vector<AttrVariable> attrs;
  std::vector<Constraint> constraints;
  std::vector<ResultOp> result_ops;
  int num_result_values = 0;
  std::vector<Replacement> replacements;
  bool lenient = false;  // string spelling: what nobody uses is a warning, not an error

 private:
  friend class PatternChecker;
  std::string rule_;
  ir::IrContext* context_;
  std::vector<std::string> errors_, warnings_;
  std::vector<int> roots_, result_order_;
  int root_value_ = -1;
};

// A checked rule.
struct Rule {
  std::string name;     // kebab-case: the flag, the golden folder, the log tag
  std::string algebra;  // before => after, one line
  NumericClass numerics = NumericClass::kReassociates;
  int benefit = 0;  // larger is tried first; default: the number of source ops
  PatternGraph graph;

  explicit Rule(PatternGraph g) : graph(std::move(g)) {}
};

}  // namespace weft::drr
