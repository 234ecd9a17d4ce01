// Words about the numbers of constants, and those that compute a constant.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "drr/rule/constant_f32.h"
#include "drr/rule/vocabulary_functions.h"
#include "ir/builder.h"

namespace weft::drr::internal {

using ir::Attribute;
using ir::DataType;
using ir::Shape;

namespace {

struct Range {
  double least, greatest;
};

template <class T>
Range RangeOf() {
  return {double{std::numeric_limits<T>::min()}, double{std::numeric_limits<T>::max()}};
}

// Nothing for integers of 64 bits, which are not all doubles.
std::optional<Range> IntegerRange(DataType dtype) {
  switch (dtype) {
    case DataType::kI8:
      return RangeOf<int8_t>();
    case DataType::kU8:
      return RangeOf<uint8_t>();
    case DataType::kI16:
      return RangeOf<int16_t>();
    case DataType::kU16:
      return RangeOf<uint16_t>();
    case DataType::kI32:
      return RangeOf<int32_t>();
    default:
      return std::nullopt;
  }
}

using Join = double (*)(double, double);
double Times(double a, double b) { return a * b; }
double Plus(double a, double b) { return a + b; }

// (a . b)[i] = a[i] . b[i], of which one may be a number.
Attribute JoinElements(const Evaluation& e, Join join) {
  const BoundTensor a = e.tensor(0), b = e.tensor(1);
  const auto first = ConstantF32(a), second = ConstantF32(b);
  if (!first || !second) return {};
  if (a.shape() != b.shape() && first->size() != 1 && second->size() != 1) return {};
  Shape shape = (first->size() == 1 ? b : a).shape();
  shape.insert(shape.begin(), static_cast<size_t>(std::max(a.rank(), b.rank())) - shape.size(), 1);
  return MakeF32(e.m.context(), shape, [&](int64_t i) {
    const auto at = static_cast<size_t>(i);
    return join(double{(*first)[first->size() == 1 ? 0 : at]},
                double{(*second)[second->size() == 1 ? 0 : at]});
  });
}

// The same, where b has a number for each place of an axis of a, or one.
Attribute JoinPlaces(const Evaluation& e, Join join) {
  const BoundTensor a = e.tensor(0);
  const auto numbers = ConstantF32(a), places = ConstantF32(e.tensor(1));
  int64_t axis = 0;
  if (!numbers || !places || !e.Integer(2, &axis)) return {};
  axis += axis < 0 ? a.rank() : 0;
  if (axis < 0 || axis >= a.rank()) return {};
  const int64_t count = a.dim(axis);
  if (places->size() != 1 && static_cast<int64_t>(places->size()) != count) return {};
  int64_t inner = 1;
  for (int64_t i = axis + 1; i < a.rank(); ++i) inner *= a.dim(i);
  return MakeF32(e.m.context(), a.shape(), [&](int64_t i) {
    const int64_t place = places->size() == 1 ? 0 : i / inner % count;
    return join(double{(*numbers)[static_cast<size_t>(i)]},
                double{(*places)[static_cast<size_t>(place)]});
  });
}

// Of a bias that may be absent and one number, or one for each place of axis 0 of the weights.
Attribute JoinBias(const Evaluation& e, Join join) {
  const BoundTensor bias = e.tensor(0), weights = e.tensor(2);
  const auto others = ConstantF32(e.tensor(1)), given = ConstantF32(bias);
  const int64_t count = weights.dim(0);
  if (!others || (bias.value() && !given) || !ir::IsStaticDim(count)) return {};
  const auto fits = [&](size_t size) { return static_cast<int64_t>(size) == count; };
  if ((others->size() != 1 && !fits(others->size())) || (given && !fits(given->size()))) return {};
  return MakeF32(e.m.context(), Shape{count}, [&](int64_t i) {
    const auto at = static_cast<size_t>(i);
    return join(given ? double{(*given)[at]} : 0, double{(*others)[others->size() == 1 ? 0 : at]});
  });
}

}  // namespace

bool RangeEnd(const Evaluation& e) {
  int64_t sign = 0;
  const auto range = IntegerRange(e.tensor(0).dtype());
  return e.Integer(1, &sign) && range &&
         e.tensor(0).IsSplat(sign < 0 ? range->least : range->greatest);
}
bool SameNumber(const Evaluation& e) {
  const auto a = e.tensor(0).splat(), b = e.tensor(1).splat();
  return a && b && *a == *b;
}
bool NoGreater(const Evaluation& e) {
  const auto a = e.tensor(0).splat(), b = e.tensor(1).splat();
  return a && b && *a <= *b;
}

Attribute IntegerBounds(const Evaluation& e) {
  const auto range = IntegerRange(e.tensor(0).dtype());
  if (!range) return {};
  ir::Ints bounds;
  for (const size_t i : {1, 2}) {
    const auto given = e.tensor(i).splat();
    if (e.tensor(i).value() && !given) return {};
    const double bound = given ? *given : i == 1 ? range->least : range->greatest;
    if (!(bound >= range->least && bound <= range->greatest)) return {};
    bounds.push_back(static_cast<int64_t>(bound));
  }
  return e.m.context()->IntsAttr(bounds);
}
Attribute QuantizedNumber(const Evaluation& e) {
  int64_t end = 0;
  const BoundTensor x = e.tensor(0);
  const auto number = x.splat(), scale = e.tensor(1).splat(), zero = e.tensor(2).splat();
  const DataType dtype = e.tensor(2).dtype();
  const auto range = IntegerRange(dtype);
  if (!range || !scale || !zero || !e.Integer(3, &end) || (x.value() && !number)) return {};
  double q = end < 0 ? range->least : range->greatest;
  if (number) {
    const double steps = std::nearbyint(static_cast<float>(*number / *scale)) + *zero;
    // fmin() and fmax() make the largest of a NaN, as QuantizeLinear does.
    q = std::fmax(range->least, std::fmin(steps, range->greatest));
  }
  ir::IrContext* context = e.m.context();
  return context->DenseAttr(context->TensorType(dtype, Shape()), ir::ElementBytes(dtype, q));
}
Attribute ZeroPoint(const Evaluation& e) {
  const auto is_byte = [](DataType dtype) {
    return dtype == DataType::kI8 || dtype == DataType::kU8;
  };
  const DataType first = e.tensor(0).dtype(), second = e.tensor(1).dtype();
  const BoundTensor scale = e.tensor(2);
  if (is_byte(first) == is_byte(second) || !scale.is_static() || scale.type().NumElements() != 1)
    return {};
  const DataType dtype = is_byte(first) ? first : second;
  ir::IrContext* context = e.m.context();
  return context->DenseAttr(context->TensorType(dtype, scale.shape()), ir::ElementBytes(dtype, 0));
}
Attribute Converted(const Evaluation& e) {
  const auto is_number = [](DataType type) { return ir::IsFloat(type) || ir::IsInteger(type); };
  const ir::Operation op = DefiningOp(e.tensor(0));
  const DataType to = e.dtype(2);
  if (!op || !is_number(to)) return {};
  const Attribute given = AttributeNamed(e, op, e.string(1));
  if (given && (!given.Is(ir::AttrKind::kDense) || given.dense_type().NumElements() != 1 ||
                given.bytes().empty() || !is_number(given.dense_type().dtype())))
    return {};
  const double number = given ? ir::DenseElement(given, 0) : 0;
  // From here on a double may be another integer than the one that was given, or is made of it.
  constexpr double kInexact = 1LL << 53;
  const bool is_integer = ir::IsInteger(to) || (given && ir::IsInteger(given.dense_type().dtype()));
  if (is_integer && !(std::abs(number) < kInexact)) return {};
  const Attribute converted = e.m.context()->DenseAttr(e.m.context()->TensorType(to, Shape{1}),
                                                       ir::ElementBytes(to, number));
  return ir::DenseElement(converted, 0) == number ? converted : Attribute();
}
Attribute Ones(const Evaluation& e) {
  if (e.has(2) && e.tensor(2).value()) return e.tensor(2).constant();
  const auto axes = e.ints(1);
  const Shape shape = e.tensor(0).shape();
  if (!axes || !e.tensor(0).has_rank() || axes->size() > shape.size()) return {};
  const Shape last(shape.end() - static_cast<std::ptrdiff_t>(axes->size()), shape.end());
  if (!std::all_of(last.begin(), last.end(), ir::IsStaticDim)) return {};
  return MakeF32(e.m.context(), last, [](int64_t) { return 1.0; });
}
Attribute Product(const Evaluation& e) {
  return e.has(2) ? JoinPlaces(e, Times) : JoinElements(e, Times);
}
Attribute Sum(const Evaluation& e) {
  return e.has(2) ? JoinPlaces(e, Plus) : JoinElements(e, Plus);
}
Attribute Quotient(const Evaluation& e) {
  return JoinElements(e, [](double a, double b) { return a / b; });
}
Attribute BiasProduct(const Evaluation& e) { return JoinBias(e, Times); }
Attribute BiasSum(const Evaluation& e) { return JoinBias(e, Plus); }

}  // namespace weft::drr::internal
