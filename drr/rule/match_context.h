// What a match offers to constraints and computed attributes. Nothing here aborts on an unknown
// shape or a missing value: a constraint must be proved, so unknown answers compare equal to
// nothing.
#pragma once

#include <compare>
#include <concepts>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "drr/rule/rule.h"
#include "ir/analysis/constant.h"
#include "ir/base/owned.h"
#include "ir/program.h"

namespace weft::drr {

using ir::Floats;
using ir::Ints;
using ir::Shape;

// A size or a rank. One that is no number is equal to itself where it is a symbol, unknown like any other
// where not; it is not less than anything, nor more, and what is computed from it is unknown.
class BoundSize {
 public:
  explicit constexpr BoundSize(int64_t value) : value_(value) {}
  // As ir::Type has it: kUnknownDim or a symbol where it is no number.
  constexpr operator int64_t() const { return value_; }
  bool is_known() const { return ir::IsStaticDim(value_); }

  friend bool operator==(BoundSize a, BoundSize b) { return ir::SameDim(a.value_, b.value_); }
  template <std::integral T>
  friend bool operator==(BoundSize a, T b) {
    return a.value_ == static_cast<int64_t>(b);
  }
  friend std::partial_ordering operator<=>(BoundSize a, BoundSize b) { return Order(a, b); }
  template <std::integral T>
  friend std::partial_ordering operator<=>(BoundSize a, T b) {
    return Order(a, BoundSize(static_cast<int64_t>(b)));
  }

 private:
  static std::partial_ordering Order(BoundSize a, BoundSize b) {
    if (!a.is_known()) return std::partial_ordering::unordered;
    return std::partial_ordering(a.value_ <=> b.value_);
  }
  int64_t value_;
};

namespace internal {
template <class T>
inline constexpr bool kIsSize = std::is_same_v<T, BoundSize>;
template <class A, class B>
concept SizeAndNumber = (kIsSize<A> && (kIsSize<B> || std::integral<B>)) ||
                        (kIsSize<B> && std::integral<A>);
template <class T>
bool IsKnown(T number) {
  if constexpr (kIsSize<T>) return number.is_known();
  return true;
}
template <class A, class B, class F>
BoundSize Computed(A a, B b, F f) {
  return BoundSize(IsKnown(a) && IsKnown(b) ? f(static_cast<int64_t>(a), static_cast<int64_t>(b))
                                            : ir::kUnknownDim);
}
}  // namespace internal

template <class A, class B>
requires internal::SizeAndNumber<A, B> BoundSize operator+(A a, B b) {
  return internal::Computed(a, b, [](int64_t x, int64_t y) { return x + y; });
}
template <class A, class B>
requires internal::SizeAndNumber<A, B> BoundSize operator-(A a, B b) {
  return internal::Computed(a, b, [](int64_t x, int64_t y) { return x - y; });
}
template <class A, class B>
requires internal::SizeAndNumber<A, B> BoundSize operator*(A a, B b) {
  return internal::Computed(a, b, [](int64_t x, int64_t y) { return x * y; });
}
template <class A, class B>
requires internal::SizeAndNumber<A, B> BoundSize operator/(A a, B b) {
  return internal::Computed(a, b, [](int64_t x, int64_t y) { return x / y; });
}
template <class A, class B>
requires internal::SizeAndNumber<A, B> BoundSize operator%(A a, B b) {
  return internal::Computed(a, b, [](int64_t x, int64_t y) { return x % y; });
}

// A matched value.
class BoundTensor {
 public:
  explicit BoundTensor(ir::Value value) : value_(value) {}
  ir::Value value() const { return value_; }
  ir::Type type() const { return value_ ? value_.type() : ir::Type(); }
  ir::DataType dtype() const { return type().IsTensor() ? type().dtype() : ir::DataType::kNull; }
  bool has_rank() const { return type().HasRank(); }
  bool is_static() const { return type().IsStatic(); }
  BoundSize rank() const {
    return BoundSize(has_rank() ? static_cast<int64_t>(type().rank()) : ir::kUnknownDim);
  }
  // Negative axes count from the end; of an axis that does not exist the size is not known.
  BoundSize dim(int64_t axis) const {
    if (!has_rank()) return BoundSize(ir::kUnknownDim);
    axis = ir::NormalAxis(axis, type().rank());
    return BoundSize(axis >= 0 && axis < rank() ? type().dims()[axis] : ir::kUnknownDim);
  }
  // With unknown sizes and symbols as they are, and one unknown size when the rank is not known: to prove that
  // shapes are the same is for SameShape().
  ir::Shape shape() const { return has_rank() ? type().shape() : ir::Shape{ir::kUnknownDim}; }
  bool is_constant() const { return static_cast<bool>(constant()); }
  ir::Attribute constant() const {  // dense contents, or null
    return ir::Contents(value_);
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

namespace internal {

// Holds one value of any type, always of the same one.
class AnyValue {
 public:
  AnyValue() = default;
  AnyValue(AnyValue&& other) noexcept
      : value_(std::exchange(other.value_, nullptr)), destroy_(other.destroy_) {}
  AnyValue& operator=(AnyValue&&) = delete;
  ~AnyValue() {
    if (value_) destroy_(value_);
  }
  template <class T>
  void Set(T value) {
    if (value_) {
      *static_cast<T*>(value_) = std::move(value);
    } else {
      value_ = new T(std::move(value));
      destroy_ = [](void* v) { delete static_cast<T*>(v); };
    }
  }
  template <class T>
  const T* Get() const {
    return static_cast<const T*>(value_);
  }

 private:
  void* value_ = nullptr;
  void (*destroy_)(void*) = nullptr;
};

}  // namespace internal

// What a function of the rule keeps while one op is matched: of the ways in which it may match,
// many ask the same.
struct MatchMemo {
  virtual ~MatchMemo() = default;
};

class MatchContext {
 public:
  explicit MatchContext(const Rule* rule);
  ~MatchContext();
  void Reset();  // as new

  ir::IrContext* context() const { return rule_->graph.context(); }
  const Rule& rule() const { return *rule_; }

  // What a handle of the rule (drr/cpp/handles.h) stands for: the BoundTensor of a Tensor, the
  // value of an Attr<T> or Let<T>, the attributes of an op.
  template <class Handle>
  decltype(auto) operator[](const Handle& handle) const {
    return handle.In(*this);
  }
  // Whether a tensor, or an op, is bound and given.
  template <class Handle>
  bool Has(const Handle& handle) const {
    return handle.IsIn(*this);
  }
  // Which op a OneOf matched, and the attributes it has.
  template <class O, class OneOf>
  bool Is(const OneOf& op) const {
    return op.template Is<O>(*this);
  }
  template <class O, class OneOf>
  typename O::template Attrs<ir::Plain> As(const OneOf& op) const {
    return op.template As<O>(*this);
  }

  // A function of the rule may say why it refuses; the reported reason then ends in this.
  void Explain(std::string why) const { explanation_ = std::move(why); }
  const std::string& explanation() const { return explanation_; }

  // Whether anything but attribute variables was read since ForgetReads(): if not, what a function
  // of the rule computed depends on those alone, and the engine need not ask it again.
  void ForgetReads() const { read_more_ = false; }
  bool ReadMoreThanAttrs() const { return read_more_; }

  // Null for every op that is matched; the program does not change while it lives.
  ir::Owned<MatchMemo>& memo() const { return memo_; }

  // By number, for handles, the engine and the other front ends.
  ir::Value value(ValueId id) const {
    read_more_ = true;
    return values_[rule_->graph.Resolve(id)];
  }
  bool bound(ValueId id) const {
    read_more_ = true;
    return bound_[rule_->graph.Resolve(id)];
  }
  ir::Operation op(OpId id) const {
    read_more_ = true;
    return ops_[id];
  }
  ir::Attribute attr(AttrId id) const { return attrs_[id]; }
  // Of a list value.
  const std::vector<ir::Value>& list(ValueId id) const {
    read_more_ = true;
    return lists_[rule_->graph.Resolve(id)];
  }
  // Of a source op that occurs more than once: a chain innermost first, an Each() in list order.
  const std::vector<ir::Operation>& op_list(OpId id) const {
    read_more_ = true;
    return op_lists_[id];
  }
  // What SourcePattern::Let computed for this match, which it did when its constraint held.
  template <class T>
  const T& let(LetId id) const {
    read_more_ = true;
    static const T kNone{};
    const T* value = lets_[id].template Get<T>();
    return value ? *value : kNone;
  }
  template <class T>
  void SetLet(LetId id, T value) const {
    lets_[id].Set(std::move(value));
  }
  // Ops between a value and its user that have no external use.
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
  IdVector<SourceValue, ir::Value> values_;  // null: not bound, or an absent optional operand
  IdVector<SourceValue, bool> bound_;
  IdVector<SourceOp, ir::Operation> ops_;
  IdVector<SourceOp, int> alternatives_;
  IdVector<AttrVariable, ir::Attribute> attrs_;
  // Empty when the rule has no list.
  IdVector<SourceValue, std::vector<ir::Value>> lists_;
  IdVector<SourceOp, std::vector<ir::Operation>> op_lists_;
  std::vector<ir::Operation> skipped_;      // all that were skipped
  std::vector<ir::Operation> terminators_;  // of regions that were looked into
  std::vector<ir::Operation> absorbed_;
  std::vector<uint32_t> sorted_;  // op ids in lists, for Contains()
  mutable IdVector<LetValue, internal::AnyValue> lets_;
  mutable std::string explanation_;
  mutable bool read_more_ = false;
  mutable ir::Owned<MatchMemo> memo_;
};

}  // namespace weft::drr
