// Rules in Paddle's spelling, for porting: names where drr/drr.h has handles. Both record the same
// PatternGraph and run on the same engine. Includes this header only:
//
//   class RemoveTwice : public ir::drr::DrrPatternBase<RemoveTwice> {
//     void operator()(ir::drr::DrrPatternContext* ctx) const override {
//       ir::drr::SourcePattern pat = ctx->SourcePattern();
//       const auto& inner = pat.Op("pd.transpose", {{"perm", pat.Attr("p")}});
//       ...
//
// The meaning is Paddle's: an attribute the rule does not mention may be anything, reasons are
// optional, a tensor or result op nobody uses is a warning, int and int64_t convert, and a result
// attribute that names an operand of a pd op becomes the pd.full or pd.full_int_array that feeds
// it. Names of ops, attributes and tensors are checked when the rule is built. A lambda that asks
// for what is not there, or throws, declines the match.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "drr/rule/match_context.h"

namespace weft::drr::string_spelling {

class Recorder;  // the rule being recorded (drr/paddle/string_spelling.cc)

// --- what lambdas see -----------------------------------------------------------

// A matched value. A dimension that is not known is -1, as in Paddle.
class MatchedTensor {
 public:
  explicit MatchedTensor(BoundTensor tensor) : tensor_(tensor) {}
  std::vector<int64_t> Shape() const;
  ir::DataType Dtype() const { return tensor_.dtype(); }
  const BoundTensor& bound() const { return tensor_; }

 private:
  BoundTensor tensor_;
};

class MatchContext {
 public:
  explicit MatchContext(const drr::MatchContext& match) : match_(match) {}

  // The value of attribute variable `name`: bool, any integer, float, double, std::string,
  // ir::DataType or a std::vector of integers or floats.
  template <class T>
  T Attr(std::string_view name) const;
  MatchedTensor Tensor(std::string_view name) const;

  const drr::MatchContext& match() const { return match_; }
  // What was asked for in vain first; empty when nothing was.
  const std::string& problem() const { return problem_; }

 private:
  ir::Attribute Find(std::string_view name) const;
  bool Bool(std::string_view name) const;
  int64_t Integer(std::string_view name) const;
  double Real(std::string_view name) const;
  Ints Integers(std::string_view name) const;
  Floats Reals(std::string_view name) const;
  std::string String(std::string_view name) const;
  ir::DataType Dtype(std::string_view name) const;
  void Problem(std::string what) const;
  void IsNo(std::string_view name, std::string_view kind) const;
  template <class T>
  T Narrow(std::string_view name, int64_t value) const {
    if (std::in_range<T>(value)) return static_cast<T>(value);
    IsNo(name, "number that fits");
    return T{};
  }

  const drr::MatchContext& match_;
  mutable std::string problem_;
};

template <class T>
T MatchContext::Attr(std::string_view name) const {
  if constexpr (std::same_as<T, bool>) {
    return Bool(name);
  } else if constexpr (std::integral<T>) {
    return Narrow<T>(name, Integer(name));
  } else if constexpr (std::floating_point<T>) {
    return static_cast<T>(Real(name));
  } else if constexpr (std::same_as<T, std::string>) {
    return String(name);
  } else if constexpr (std::same_as<T, ir::DataType>) {
    return Dtype(name);
  } else {
    using E = typename T::value_type;
    static_assert(std::is_arithmetic_v<E>, "no attribute holds a value of this type");
    T list;
    if constexpr (std::integral<E>) {
      for (int64_t v : Integers(name)) list.push_back(Narrow<E>(name, v));
    } else {
      for (float v : Reals(name)) list.push_back(static_cast<E>(v));
    }
    return list;
  }
}

// --- attributes, tensors, ops ----------------------------------------------------

namespace internal {
// The widest attribute value of the same sort as a C++ value; attributes convert from it.
template <class R>
auto Widen(const R& value) {
  if constexpr (std::same_as<R, bool> || std::same_as<R, ir::DataType>) {
    return value;
  } else if constexpr (std::integral<R>) {
    return static_cast<int64_t>(value);
  } else if constexpr (std::floating_point<R>) {
    return static_cast<double>(value);
  } else if constexpr (std::convertible_to<R, std::string>) {
    return std::string(value);
  } else if constexpr (std::integral<typename R::value_type>) {
    return Ints(value.begin(), value.end());
  } else {
    return Floats(value.begin(), value.end());
  }
}
}  // namespace internal

// In a source pattern the name of a variable; in a result pattern that, or a function of the match.
class Attribute {
 public:
  using Compute = std::function<ir::Attribute(ir::IrContext&, const MatchContext&)>;
  explicit Attribute(std::string_view name) : name_(name) {}
  Attribute(Compute compute, ir::AttrKind kind) : compute_(std::move(compute)), kind_(kind) {}
  const std::string& name() const { return name_; }
  const Compute& compute() const { return compute_; }
  ir::AttrKind kind() const { return kind_; }  // of what compute makes

 private:
  std::string name_;
  Compute compute_;
  ir::AttrKind kind_ = ir::AttrKind::kUnit;
};

struct NamedAttribute {
  std::string_view name;
  Attribute value;
};
using Attributes = std::initializer_list<NamedAttribute>;

// A value of the pattern. Owned by the rule being recorded: rules hold references.
class Tensor {
 public:
  Tensor(Recorder* recorder, int id) : recorder_(recorder), id_(id) {}
  Tensor(const Tensor&) = delete;
  // This name stands for that value: src.Tensor("y") = op(x). In a result pattern a name of the
  // source pattern is replaced by it.
  const Tensor& operator=(const Tensor& value) const;
  Recorder* recorder() const { return recorder_; }
  int id() const { return id_; }

 private:
  Recorder* recorder_;
  int id_;
};

class Op {
 public:
  Op(Recorder* recorder, int id) : recorder_(recorder), id_(id) {}
  Op(const Op&) = delete;
  Op& operator=(const Op&) = delete;

  // op(x, y): the first result.
  template <std::same_as<Tensor>... T>
  Tensor& operator()(const T&... inputs) const {
    return Call({&inputs...});
  }
  // op({&x, &y}, {&out, &res.NoneTensor()}): names the results.
  void operator()(std::initializer_list<const Tensor*> inputs,
                  std::initializer_list<const Tensor*> outputs) const;

 private:
  Tensor& Call(std::initializer_list<const Tensor*> inputs) const;
  Recorder* recorder_;
  int id_;
};

// --- source and result patterns ---------------------------------------------------

class ResultPattern {
 public:
  explicit ResultPattern(Recorder* recorder) : recorder_(recorder) {}
  const string_spelling::Op& Op(std::string_view name, Attributes attrs = {},
                                SourceLoc loc = SourceLoc::Here());
  string_spelling::Tensor& Tensor(std::string_view name, SourceLoc loc = SourceLoc::Here());
  // An optional operand that is not given, or a result nobody reads.
  string_spelling::Tensor& NoneTensor();
  string_spelling::Tensor& NonTensor() { return NoneTensor(); }
  Attribute Attr(std::string_view source_variable) const { return Attribute(source_variable); }
  template <std::invocable<const MatchContext&> F>
  Attribute Attr(F fn) const {
    using R = std::decay_t<std::invoke_result_t<F, const MatchContext&>>;
    using V = decltype(internal::Widen<R>(std::declval<R>()));
    return Attribute(
        [fn = std::move(fn)](ir::IrContext& context, const MatchContext& m) {
          return ir::MakeAttr<V>(context, internal::Widen<R>(fn(m)));
        },
        ir::AttrKindOf<V>());
  }

 private:
  Recorder* recorder_;
};

class SourcePattern {
 public:
  explicit SourcePattern(Recorder* recorder) : recorder_(recorder) {}
  const string_spelling::Op& Op(std::string_view name, Attributes attrs = {},
                                SourceLoc loc = SourceLoc::Here());
  string_spelling::Tensor& Tensor(std::string_view name, SourceLoc loc = SourceLoc::Here());
  string_spelling::Tensor& NoneTensor();
  Attribute Attr(std::string_view name) const { return Attribute(name); }
  void RequireNativeCall(std::function<bool(const MatchContext&)> holds,
                         SourceLoc loc = SourceLoc::Here()) {
    RequireNativeCall("", std::move(holds), loc);
  }
  void RequireNativeCall(std::string_view why, std::function<bool(const MatchContext&)> holds,
                         SourceLoc loc = SourceLoc::Here());
  string_spelling::ResultPattern ResultPattern() {
    return string_spelling::ResultPattern(recorder_);
  }

 private:
  Recorder* recorder_;
};

class DrrPatternContext {
 public:
  DrrPatternContext(std::string_view rule, ir::IrContext* context);
  ~DrrPatternContext();
  string_spelling::SourcePattern SourcePattern() {
    return string_spelling::SourcePattern(recorder_.get());
  }
  BuildResult Finish(std::string_view algebra, NumericClass numerics, int benefit);

 private:
  std::unique_ptr<Recorder> recorder_;
};

namespace internal {
// RemoveRedundantCastPattern, as the compiler writes it in `function`, => remove-redundant-cast.
std::string RuleName(std::string_view function);
template <class T>
std::string RuleNameOf() {
  if constexpr (requires { T::kName; }) {
    return std::string(T::kName);
  } else {
    return RuleName(__PRETTY_FUNCTION__);
  }
}
}  // namespace internal

// A rule: derive and override operator(). kName (default: the class name in kebab-case), kAlgebra,
// kNumerics and kBenefit are optional.
template <class Derived>
class DrrPatternBase {
 public:
  virtual ~DrrPatternBase() = default;
  virtual void operator()(DrrPatternContext* ctx) const = 0;

  BuildResult Build(ir::IrContext* context) const {
    DrrPatternContext ctx(internal::RuleNameOf<Derived>(), context);
    (*this)(&ctx);
    std::string_view algebra;
    NumericClass numerics = NumericClass::kReassociates;
    int benefit = 0;
    if constexpr (requires { Derived::kAlgebra; }) algebra = Derived::kAlgebra;
    if constexpr (requires { Derived::kNumerics; }) numerics = Derived::kNumerics;
    if constexpr (requires { Derived::kBenefit; }) benefit = Derived::kBenefit;
    return ctx.Finish(algebra, numerics, benefit);
  }
};

}  // namespace weft::drr::string_spelling

// Paddle's name for all this.
namespace ir {                                 // NOLINT(google-global-names-in-headers)
namespace drr = ::weft::drr::string_spelling;  // NOLINT(misc-unused-alias-decls)
}  // namespace ir
