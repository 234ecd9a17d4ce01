// What a match offers to constraints and computed attributes. Nothing here aborts on an unknown
// shape or a missing value: a constraint must be proved, so unknown answers compare equal to
// nothing.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "drr/rule/pattern_graph.h"
#include "ir/analysis/constant.h"
#include "ir/base/owned.h"
#include "ir/program.h"

namespace weft::drr {

// A matched value.
class BoundTensor {
 public:
  explicit BoundTensor(ir::Value value) : value_(value) {}
  ir::Value value() const { return value_; }
  ir::Type type() const { return value_ ? value_.type() : ir::Type(); }
  ir::DataType dtype() const { return type().IsTensor() ? type().dtype() : ir::DataType::kNull; }
  bool has_rank() const { return type().HasRank(); }
  bool is_static() const { return type().IsStatic(); }
  int64_t rank() const { return has_rank() ? static_cast<int64_t>(type().rank()) : -1; }
  // kUnknownDim when the axis (negative: from the end) does not exist or its size is not known.
  int64_t dim(int64_t axis) const {
    const int64_t r = rank();
    if (axis < 0) axis += r;
    return axis >= 0 && axis < r ? type().dims()[axis] : ir::kUnknownDim;
  }
  // A shape with one unknown dim when the rank is not known, which equals no static shape.
  ir::Shape shape() const { return has_rank() ? type().shape() : ir::Shape{ir::kUnknownDim}; }
  bool is_constant() const { return static_cast<bool>(constant()); }
  ir::Attribute constant() const {  // dense contents, or null
    const ir::Attribute dense = ir::ConstantValue(value_);
    return dense && !dense.IsElided() ? dense : ir::Attribute();
  }
  std::optional<double> splat() const { return ir::ConstantSplat(value_); }
  std::optional<ir::Ints> ints() const { return ir::ConstantInts(value_); }
  bool IsSplat(double expected, double tolerance = 0) const {
    const auto s = splat();
    return s && *s >= expected - tolerance && *s <= expected + tolerance;
  }

 private:
  ir::Value value_;
};

// What a function of the rule keeps while one op is matched: of the ways in which it may match, many
// ask the same.
struct MatchMemo {
  virtual ~MatchMemo() = default;
};

class Tensor;
template <class T>
class Attr;
template <class O>
class OpPattern;
template <class... Os>
class OneOfPattern;
class AnyOpPattern;
class RepeatPattern;
class TensorList;

class MatchContext {
 public:
  explicit MatchContext(const Rule* rule)
      : rule_(rule),
        values_(rule->graph.values.size()),
        bound_(rule->graph.values.size(), false),
        ops_(rule->graph.ops.size()),
        alternatives_(rule->graph.ops.size(), -1),
        attrs_(rule->graph.attrs.size()) {
    if (rule->graph.HasLists()) {
      lists_.resize(rule->graph.values.size());
      op_lists_.resize(rule->graph.ops.size());
    }
  }

  void Reset() {  // as new
    values_.assign(values_.size(), ir::Value());
    bound_.assign(bound_.size(), false);
    ops_.assign(ops_.size(), ir::Operation());
    alternatives_.assign(alternatives_.size(), -1);
    attrs_.assign(attrs_.size(), ir::Attribute());
    for (auto& list : lists_) list.clear();
    for (auto& list : op_lists_) list.clear();
    explanation_.clear();
    memo_ = nullptr;
  }

  ir::IrContext* context() const { return rule_->graph.context(); }
  const Rule& rule() const { return *rule_; }

  BoundTensor operator[](Tensor tensor) const;
  bool Has(Tensor tensor) const;  // bound and given
  std::vector<BoundTensor> operator[](TensorList list) const;
  ir::Operation operator[](AnyOpPattern op) const;
  const std::vector<ir::Operation>& operator[](RepeatPattern chain) const;  // innermost first
  template <class T>
  T operator[](Attr<T> attr) const {
    T value{};
    ir::ReadAttr(attrs_[attr.id()], &value);
    return value;
  }
  template <class O>
  typename O::template Attrs<ir::Plain> operator[](OpPattern<O> op) const {
    return ir::ReadAttrs<O>(this->op(op.id()) ? this->op(op.id()).attrs() : ir::AttrDict());
  }
  template <class O>
  bool Has(OpPattern<O> op) const {
    return static_cast<bool>(this->op(op.id()));
  }
  template <class O, class... Os>
  bool Is(OneOfPattern<Os...> op) const {
    static_assert((std::is_same_v<O, Os> || ...), "this op is not among the alternatives");
    return this->op(op.id()) && this->op(op.id()).template Is<O>();
  }
  template <class O, class... Os>
  typename O::template Attrs<ir::Plain> As(OneOfPattern<Os...> op) const {
    static_assert((std::is_same_v<O, Os> || ...), "this op is not among the alternatives");
    return ir::ReadAttrs<O>(this->op(op.id()) ? this->op(op.id()).attrs() : ir::AttrDict());
  }
  template <class... Os>
  bool Has(OneOfPattern<Os...> op) const {
    return static_cast<bool>(this->op(op.id()));
  }

  // A function of the rule may say why it refuses; the reason that is told then ends in this.
  void Explain(std::string why) const { explanation_ = std::move(why); }
  const std::string& explanation() const { return explanation_; }

  // Whether anything but attribute variables was read since ForgetReads(): if not, what a function
  // of the rule computed depends on those alone, and the engine need not ask it again.
  void ForgetReads() const { read_more_ = false; }
  bool ReadMoreThanAttrs() const { return read_more_; }

  // Null for every op that is matched; the program does not change while it lives.
  ir::Owned<MatchMemo>& memo() const { return memo_; }

  // By number, for the matcher, the rewriter and the string spelling.
  ir::Value value(int id) const {
    read_more_ = true;
    return values_[rule_->graph.Resolve(id)];
  }
  bool bound(int id) const {
    read_more_ = true;
    return bound_[rule_->graph.Resolve(id)];
  }
  ir::Operation op(int id) const {
    read_more_ = true;
    return ops_[id];
  }
  ir::Attribute attr(int id) const { return attrs_[id]; }
  // Of a list value.
  const std::vector<ir::Value>& list(int id) const {
    read_more_ = true;
    return lists_[rule_->graph.Resolve(id)];
  }
  // Of a source op that occurs more than once: a chain innermost first, an Each() in list order.
  const std::vector<ir::Operation>& op_list(int id) const {
    read_more_ = true;
    return op_lists_[id];
  }
  // Ops between a value and its reader that only the match reads.
  const std::vector<ir::Operation>& absorbed() const { return absorbed_; }
  // Whether a complete match holds `op`.
  bool Contains(ir::Operation op) const;
  // The operand through which a chain goes on: the first, or of a commutative op the second when
  // the first is a constant.
  static uint32_t ChainOperand(ir::Operation op);

 private:
  friend class Matcher;
  friend class PlainMatcher;
  const Rule* rule_;
  std::vector<ir::Value> values_;  // null: not bound, or an absent optional operand
  std::vector<bool> bound_;
  std::vector<ir::Operation> ops_;
  std::vector<int> alternatives_;
  std::vector<ir::Attribute> attrs_;
  std::vector<std::vector<ir::Value>> lists_;         // by value; empty when the rule has no list
  std::vector<std::vector<ir::Operation>> op_lists_;  // by op; empty when the rule has no list
  std::vector<ir::Operation> skipped_;                // all that were skipped
  std::vector<ir::Operation> terminators_;            // of regions that were looked into
  std::vector<ir::Operation> absorbed_;
  std::vector<uint32_t> sorted_;  // op ids in lists, for Contains()
  mutable std::string explanation_;
  mutable bool read_more_ = false;
  mutable ir::Owned<MatchMemo> memo_;
};

}  // namespace weft::drr
