#include "passes/verify/assignment.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "ir/analysis/constant.h"
#include "ir/builder.h"

namespace weft::passes {
namespace {

using drr::Formula;
using ir::Attribute;
using ir::AttrKind;
using ir::DataType;
using ir::Shape;
using ir::Value;

constexpr int64_t kSizes[] = {1, 2, 2, 3, 3, 3, 5};
constexpr size_t kMaxRank = 5;
constexpr int64_t kFar = 30;  // more than any size, and few enough elements where it is one

std::vector<Value> Ranked(std::span<const Value> near) {
  std::vector<Value> ranked;
  for (const Value v : near)
    if (v && v.type().IsStatic()) ranked.push_back(v);
  return ranked;
}

bool IsNumber(Attribute a) {
  return a.Is(AttrKind::kInt) || a.Is(AttrKind::kFloat) || a.Is(AttrKind::kDouble);
}
double NumberOf(Attribute a) {
  return a.Is(AttrKind::kInt) ? static_cast<double>(a.AsInt()) : a.AsDouble();
}

}  // namespace

void Assignment::Forget(std::mt19937_64& random, int count) {
  const size_t total = leaves.size() + choices.size() + alternatives.size() + swapped.size() +
                       variables.size() + fields.size();
  for (int i = 0; i < count; ++i) {
    size_t at = random() % std::max<size_t>(total, 1);
    const auto forget_in = [&](auto& list) {
      if (at < list.size()) {
        (list.begin() + static_cast<std::ptrdiff_t>(at))->reset();
        return true;
      }
      at -= list.size();
      return false;
    };
    if (forget_in(leaves) || forget_in(choices) || forget_in(alternatives) || forget_in(swapped))
      continue;
    if (at < variables.size()) {
      variables[drr::AttrId(at)] = Attribute();
    } else if (at - variables.size() < fields.size()) {
      std::next(fields.begin(), static_cast<std::ptrdiff_t>(at - variables.size()))->second.reset();
    }
  }
}

std::vector<drr::ValueId> LeavesBelow(const drr::PatternGraph& graph, drr::ValueId value,
                                      const Assignment& assignment) {
  std::vector<drr::ValueId> leaves, stack = {graph.Resolve(value)};
  std::set<drr::ValueId> seen;
  while (!stack.empty()) {
    const drr::ValueId at = stack.back();
    stack.pop_back();
    if (!seen.insert(at).second) continue;
    const drr::SourceValue& v = graph.values[at];
    if (assignment.leaves[at]) leaves.push_back(at);
    for (const drr::ValueId other : v.either) stack.push_back(graph.Resolve(other));
    if (v.through) stack.push_back(graph.Resolve(v.through));
    if (!v.producer) continue;
    for (const drr::ValueId operand : graph.ops[v.producer].operands)
      if (operand) stack.push_back(graph.Resolve(operand));
  }
  return leaves;
}

Draw::Draw(const drr::PatternGraph& graph, uint64_t seed)
    : context_(*graph.context()), random_(seed) {
  for (const drr::Constraint& constraint : graph.constraints)
    for (const Formula::Argument& argument : constraint.formula.arguments)
      if (argument.kind == Formula::Argument::kLiteral) AddNumbers(argument.literal);
  for (const drr::SourceOp& op : graph.ops)
    for (const drr::Alternative& alternative : op.alternatives)
      for (const drr::AttrPattern& attr : alternative.attrs)
        for (const Attribute value : attr.values) AddNumbers(value);
}

void Draw::AddNumbers(Attribute value) {
  if (IsNumber(value)) numbers_.push_back(NumberOf(value));
  if (value.Is(AttrKind::kInt)) AddSizes(value.AsInt());
  if (value.Is(AttrKind::kInts))
    for (const int64_t number : value.AsInts()) AddSizes(number);
}

void Draw::AddSizes(int64_t number) {
  constexpr int64_t kDrawn = 3, kMost = 64;
  if (number <= kDrawn || number > kMost) return;
  sizes_.insert(sizes_.end(), {number - 1, number, number + 1, 2 * number});
  for (const int64_t channels : {number * number, 2 * number * number})  // of blocks
    if (channels <= kMost) sizes_.push_back(channels);
}

int64_t Draw::DrawSize() {
  if (preferred_size_ && !OneIn(*preferred_size_ == 0 ? 2 : 20)) return *preferred_size_;
  if (!sizes_.empty() && OneIn(3)) return OneOf(sizes_);
  return OneIn(40) ? 0 : OneOf(kSizes);
}

double Draw::DrawNumber() {
  if (!numbers_.empty() && OneIn(2)) return OneOf(numbers_);
  constexpr double kNumbers[] = {0, 1, -1, 2, 3, 0.5, -2, 4};
  return OneOf(kNumbers);
}

DataType Draw::DrawDtype(std::span<const Value> near) {
  std::vector<DataType> there;
  for (const Value v : near)
    if (v && v.type().IsTensor() && ir::ElementSize(v.type().dtype()) > 0)  // not a type left open
      there.push_back(v.type().dtype());
  if (!there.empty() && !OneIn(5)) return OneOf(there);
  constexpr DataType kTypes[] = {DataType::kF32, DataType::kF32, DataType::kF32,  DataType::kF32,
                                 DataType::kI64, DataType::kI64, DataType::kBool, DataType::kI8,
                                 DataType::kU8,  DataType::kI32, DataType::kF16,  DataType::kF64};
  return OneOf(kTypes);
}

Shape Draw::ShapeOf(Value value) {
  Shape shape = value.type().shape();
  for (int64_t& size : shape)
    if (size < 0) size = DrawSize();
  return shape;
}

// What broadcasts with a shape, joins it, or multiplies it.
Shape Draw::Vary(Shape shape) {
  const size_t axis = shape.empty() ? 0 : Below(shape.size());
  switch (Below(11)) {
    case 0:
      return {};
    case 1:
      return {1};
    case 2:
      return shape.empty() ? shape : Shape{shape.back()};
    case 3:
      return shape.empty() ? shape : Shape{shape[axis]};
    case 4:
      if (!shape.empty()) shape[axis] = 1;
      return shape;
    case 5:
      if (!shape.empty()) shape[axis] = DrawSize();
      return shape;
    case 6:
      return {shape.begin() + static_cast<std::ptrdiff_t>(axis), shape.end()};
    case 7:
      std::shuffle(shape.begin(), shape.end(), random_);
      return shape;
    case 8:  // of a product: [.., k] and [k, n]
      return shape.empty() ? shape : Shape{shape.back(), DrawSize()};
    case 9:  // of a convolution: [n, c, ..] and [m, c, ..]
      for (size_t i = 0; i < shape.size(); ++i)
        if (i != 1) shape[i] = std::min<int64_t>(shape[i] + (i == 0), 1 + Below(3));
      return shape;
    default:
      if (shape.size() < kMaxRank) shape.insert(shape.begin(), DrawSize());
      return shape;
  }
}

void Draw::RegroupSizes(ir::Ints* sizes, bool may_have_more) {
  if (sizes->size() < 2) return;
  const size_t from = Below(sizes->size()), to = Below(sizes->size());
  int64_t factor = 2;
  while (factor < (*sizes)[from] && (*sizes)[from] % factor != 0) ++factor;
  if (may_have_more && OneIn(3)) {
    if (sizes->size() < kMaxRank) sizes->insert(sizes->begin() + from, 1);
  } else if ((*sizes)[from] >= 2 && from != to && !OneIn(3)) {
    (*sizes)[from] /= factor;
    (*sizes)[to] *= factor;
  } else {
    std::swap((*sizes)[from], (*sizes)[to]);
  }
}

void Draw::Regroup(Leaf* leaf) {
  const bool is_list = leaf->constant && leaf->type.dtype() == DataType::kI64;
  if (is_list && leaf->type.rank() == 1) {
    ir::Ints list;
    for (int64_t i = 0; i < leaf->type.NumElements(); ++i)
      list.push_back(static_cast<int64_t>(ir::DenseElement(leaf->constant, i)));
    RegroupSizes(&list, false);
    const std::vector<double> numbers(list.begin(), list.end());
    if (!numbers.empty()) leaf->constant = Dense(leaf->type, numbers);
    return;
  }
  const Shape shape = leaf->type.shape();
  ir::Ints sizes(shape.begin(), shape.end());
  RegroupSizes(&sizes, true);
  leaf->type = context_.TensorType(leaf->type.dtype(), sizes);
  if (leaf->constant) leaf->constant = DrawContents(leaf->type);
}

Shape Draw::DrawShape(std::span<const Value> near) {
  const std::vector<Value> ranked = Ranked(near);
  Shape shape;
  if (!ranked.empty() && !OneIn(4)) {
    shape = ShapeOf(OneOf(ranked));
    if (OneIn(2)) shape = Vary(std::move(shape));
  } else {
    constexpr size_t kRanks[] = {0, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 4, 5};
    const size_t rank = OneOf(kRanks);
    const bool equal = OneIn(6);  // permutations keep such a shape
    for (size_t i = 0; i < rank; ++i) shape.push_back(equal && i > 0 ? shape[0] : DrawSize());
  }
  while (std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>()) >
         kMaxElements)
    *std::max_element(shape.begin(), shape.end()) /= 2;
  return shape;
}

ir::Type Draw::DrawType(std::span<const Value> near) {
  const DataType dtype = DrawDtype(near);
  return context_.TensorType(dtype, DrawShape(near));
}

Attribute Draw::Dense(ir::Type type, std::span<const double> numbers) const {
  std::vector<std::byte> bytes;
  for (int64_t i = 0, n = type.NumElements(); i < n; ++i) {
    const double number = numbers[numbers.size() == 1 ? 0 : static_cast<size_t>(i)];
    const std::vector<std::byte> element = ir::ElementBytes(type.dtype(), number);
    bytes.insert(bytes.end(), element.begin(), element.end());
  }
  return context_.DenseAttr(type, bytes);
}

Attribute Draw::DrawContents(ir::Type type) {
  const auto count = static_cast<size_t>(type.NumElements());
  std::vector<double> numbers(count);
  const bool same = OneIn(2), positive = OneIn(3);
  // As the padding of a maximum is, or a mask.
  const bool is_infinite = same && ir::IsFloat(type.dtype()) && OneIn(12);
  const double all = is_infinite ? -std::numeric_limits<double>::infinity() : DrawNumber();
  for (double& number : numbers) {
    number = same ? all : static_cast<double>(Below(7)) - 3;
    if (positive && !is_infinite) number = std::fabs(number) + (same ? 0 : 1);
    const DataType dtype = type.dtype();
    if (dtype == DataType::kU8) number = std::fabs(number);
    if (dtype == DataType::kBool) number = number != 0;
    if (ir::IsInteger(dtype)) number = std::trunc(number);
  }
  if (numbers.empty()) numbers.push_back(0);
  return Dense(type, numbers);
}

Attribute Draw::DrawSpecial(Attribute dense) {
  const ir::Type type = dense.dense_type();
  if (!ir::IsFloat(type.dtype()) || type.NumElements() == 0) return {};
  std::vector<double> numbers;
  for (int64_t i = 0, n = type.NumElements(); i < n; ++i)
    numbers.push_back(ir::DenseElement(dense, i));
  const bool are_equal =
      std::adjacent_find(numbers.begin(), numbers.end(), std::not_equal_to<>()) == numbers.end();
  using Limits = std::numeric_limits<double>;
  constexpr double kSpecial[] = {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity(), -0.0,
                                 std::numeric_limits<float>::max()};
  const double special = OneOf(kSpecial);
  if (are_equal) numbers.assign(numbers.size(), special);
  numbers[Below(numbers.size())] = special;
  return Dense(type, numbers);
}

ir::Ints Draw::DrawInts(std::span<const Value> near) {
  const std::vector<Value> ranked = Ranked(near);
  const Shape like = ranked.empty() ? Shape{2, 3} : ShapeOf(OneOf(ranked));
  const size_t rank = like.size();
  ir::Ints list;
  const auto fill = [&](size_t size, int64_t least, int64_t most) {
    for (size_t i = 0; i < size; ++i)
      list.push_back(least + Below(static_cast<size_t>(most - least + 1)));
  };
  // Those of a slice have one length, and say something together.
  for (const Value v : near)
    if (v && v.type().IsStatic() && v.type().dtype() == DataType::kI64 && v.type().rank() == 1 &&
        OneIn(2)) {
      constexpr int64_t kEnds[] = {-1, -1, 0, 1, 2, kFar, -kFar};
      list.resize(static_cast<size_t>(std::min<int64_t>(v.type().dims()[0], kMaxRank)));
      for (int64_t& end : list) end = OneOf(kEnds);
      return list;
    }
  switch (Below(14)) {
    case 0:
    case 1:  // a permutation
      list.resize(rank);
      std::iota(list.begin(), list.end(), int64_t{0});
      if (!OneIn(4)) std::shuffle(list.begin(), list.end(), random_);
      break;
    case 2:  // axes, in any order
      list.resize(rank);
      std::iota(list.begin(), list.end(), OneIn(2) ? int64_t{0} : -static_cast<int64_t>(rank));
      std::shuffle(list.begin(), list.end(), random_);
      list.resize(rank == 0 ? 0 : 1 + Below(rank));
      break;
    case 3:  // a shape
      list.assign(like.begin(), like.end());
      break;
    case 4:  // a shape that copies and computes
      list.assign(like.begin(), like.end());
      if (!list.empty()) list[Below(list.size())] = OneIn(2) ? 0 : -1;
      break;
    case 5:  // two sizes as one, or all
      list.assign(like.begin(), like.end());
      if (const size_t at = rank < 2 ? 0 : Below(rank - 1); rank >= 2) {
        list[at] *= list[at + 1];
        list.erase(list.begin() + static_cast<std::ptrdiff_t>(at) + 1);
      }
      break;
    case 6:
      list = {-1};
      break;
    case 7:  // pads
      fill(2 * (rank > 2 && OneIn(2) ? rank - 2 : rank), 0, 1);
      break;
    case 8:  // strides, dilations, windows
      fill(rank > 2 ? rank - 2 : 1, 1, 3);
      break;
    case 9:  // ends of slices, of either direction
      list.resize(1 + Below(rank));
      for (int64_t& end : list) end = OneIn(3) ? int64_t{-1} : OneIn(2) ? kFar : -kFar;
      break;
    case 10:
      list = {static_cast<int64_t>(Below(rank + 1)) - (OneIn(3) ? 1 : 0)};
      break;
    default:
      fill(OneIn(2) ? 1 : 1 + Below(rank + 1), -2, 3);
  }
  return list;
}

Leaf Draw::DrawLeaf(std::span<const Value> near) {
  if (OneIn(6)) {  // a list of integers
    const ir::Ints ints = DrawInts(near);
    const ir::Type type = context_.TensorType(DataType::kI64, {static_cast<int64_t>(ints.size())});
    return {type, context_.DenseAttrOf(type, std::span<const int64_t>(ints))};
  }
  const ir::Type type = DrawType(near);
  return {type, OneIn(2) ? DrawContents(type) : Attribute()};
}

Attribute Draw::DrawField(const ir::FieldDef& field, std::span<const Value> near) {
  if (field.make_default && OneIn(2)) return field.make_default(context_);
  if (field.optional && OneIn(2)) return {};
  if (!field.enumerators.empty())
    return context_.StringAttr(field.enumerators[Below(field.enumerators.size())]);
  return DrawOfKind(field, near);
}

std::string Draw::DrawEquation(std::span<const Value> near) {
  constexpr std::string_view kLetters = "abcde";
  std::string equation, used;
  for (const Value x : near) {
    if (!x) continue;
    std::string term(kLetters);
    std::shuffle(term.begin(), term.end(), random_);
    term.resize(std::min(term.size(), x.type().HasRank() ? x.type().rank() : size_t{2}));
    equation += equation.empty() ? term : "," + term;
    for (const char letter : term)
      if (used.find(letter) == std::string::npos) used += letter;
  }
  // What is summed is left out; half of the time the others stay in their order.
  if (OneIn(2)) std::shuffle(used.begin(), used.end(), random_);
  std::erase_if(used, [&](char) { return OneIn(4); });
  return equation + "->" + used;
}

Attribute Draw::DrawOfKind(const ir::FieldDef& field, std::span<const Value> near) {
  switch (field.kind) {
    case AttrKind::kBool:
      return context_.BoolAttr(OneIn(2));
    case AttrKind::kInt:
      return context_.IntAttr(static_cast<int64_t>(Below(6)) - 2);
    case AttrKind::kFloat: {
      // What exporters write where a mask hides a score.
      constexpr float kFills[] = {std::numeric_limits<float>::lowest(),
                                  -std::numeric_limits<float>::infinity(), -10000};
      if (field.name.str() == "fill" && OneIn(2)) return context_.FloatAttr(OneOf(kFills));
      // Below 0 it keeps no division from 0, and differences from it cancel.
      const double number = DrawNumber();
      const bool is_epsilon = field.name.str() == "epsilon";
      return context_.FloatAttr(static_cast<float>(is_epsilon ? std::fabs(number) : number));
    }
    case AttrKind::kDouble:
      return context_.DoubleAttr(DrawNumber());
    case AttrKind::kInts:
      return context_.IntsAttr(DrawInts(near));
    case AttrKind::kFloats:
      return context_.FloatsAttr(OneIn(2) ? ir::Floats{} : ir::Floats{-1, 2});
    case AttrKind::kStrings:
      return context_.StringsAttr({});
    case AttrKind::kString:
      return context_.StringAttr(field.name.str() == "equation" ? DrawEquation(near) : "");
    case AttrKind::kDataType:
      return context_.DataTypeAttr(DrawDtype(OneIn(2) ? near : std::span<const Value>()));
    case AttrKind::kDense:
      return DrawLeaf(near).constant;
    default:
      return field.make_default ? field.make_default(context_) : Attribute();
  }
}

}  // namespace weft::passes
