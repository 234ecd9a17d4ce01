#include "passes/verify/repair.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <span>

#include "ir/dialects/onnx/infer/infer_util.h"

namespace weft::passes {
namespace {

using drr::AttrId;
using drr::BoundTensor;
using drr::Formula;
using drr::PatternGraph;
using drr::ValueId;
using ir::Attribute;
using ir::AttrKind;
using ir::DataType;
using ir::Ints;
using ir::Shape;

class Repairer {
 public:
  Repairer(const Formula& formula, const drr::MatchContext& match, Draw& draw,
           Assignment* assignment)
      : formula_(formula),
        m_(match),
        graph_(match.rule().graph),
        draw_(draw),
        assignment_(*assignment) {}

  // --- arguments ---
  const Formula::Argument& argument(size_t i) const { return formula_.arguments[i]; }
  bool has(size_t i) const { return i < formula_.arguments.size(); }
  ValueId id(size_t i) const { return argument(i).value; }
  BoundTensor tensor(size_t i) const { return BoundTensor(m_.value(id(i))); }
  Attribute Held(size_t i) const {
    const Formula::Argument& a = argument(i);
    return a.kind == Formula::Argument::kVariable ? m_.attr(a.variable) : a.literal;
  }
  int64_t Integer(size_t i) const {
    const Attribute a = Held(i);
    return a.Is(AttrKind::kInt) ? a.AsInt() : 0;
  }
  double Number(size_t i) const {
    const Attribute a = Held(i);
    return a.Is(AttrKind::kInt) ? static_cast<double>(a.AsInt()) : a.AsDouble();
  }
  DataType Dtype(size_t i) const {
    const Attribute a = Held(i);
    return a.Is(AttrKind::kDataType) ? a.AsDataType() : DataType::kF32;
  }
  Draw& draw() { return draw_; }

  // --- decisions ---
  bool SetVariable(size_t i, Attribute value) {
    if (argument(i).kind != Formula::Argument::kVariable) return false;
    assignment_.variables[argument(i).variable] = value;
    return true;
  }
  bool SetInts(size_t i, const Ints& ints) {
    return SetVariable(i, graph_.context()->IntsAttr(ints));
  }
  bool SetShape(size_t i, const Shape& shape) {
    return Change(id(i), [&](Leaf& leaf) { Retype(leaf, leaf.type.dtype(), shape); });
  }
  // Of all below it that have the type it has.
  bool SetDtype(size_t i, DataType dtype) {
    const DataType old = tensor(i).dtype();
    bool changed = false;
    for (const ValueId leaf : LeavesBelow(graph_, id(i), assignment_))
      if (Leaf& l = *assignment_.leaves[leaf]; l.type.dtype() == old || draw_.OneIn(3)) {
        Retype(l, dtype, l.type.shape());
        changed = true;
      }
    return changed;
  }
  bool Fill(size_t i, double number) {
    return Change(id(i), [&](Leaf& leaf) { leaf.constant = draw_.Dense(leaf.type, {&number, 1}); });
  }
  bool MakeConstant(size_t i) {
    return Change(id(i), [&](Leaf& leaf) { leaf.constant = draw_.DrawContents(leaf.type); });
  }
  bool MakeInput(size_t i) {
    return Change(id(i), [](Leaf& leaf) { leaf.constant = {}; });
  }
  // A list as a constant of i64.
  bool SetConstantInts(size_t i, const Ints& ints) {
    return Change(id(i), [&](Leaf& leaf) {
      const auto size = static_cast<int64_t>(ints.size());
      leaf.type = graph_.context()->TensorType(DataType::kI64, {size});
      leaf.constant = graph_.context()->DenseAttrOf(leaf.type, std::span<const int64_t>(ints));
    });
  }
  // An attribute variable, or a constant.
  bool SetList(size_t i, const Ints& ints) {
    const bool is_value = argument(i).kind == Formula::Argument::kValue;
    return is_value ? SetConstantInts(i, ints) : SetInts(i, ints);
  }
  std::optional<Ints> List(size_t i) const {
    if (argument(i).kind == Formula::Argument::kValue) return tensor(i).ints();
    const Attribute held = Held(i);
    return held.Is(AttrKind::kInts) ? std::optional(held.AsInts()) : std::nullopt;
  }
  // Sizes of an axis that may be counted from the end.
  bool SetDim(size_t i, int64_t axis, int64_t size) {
    return Change(id(i), [&](Leaf& leaf) {
      Shape shape = leaf.type.shape();
      const int64_t at = ir::NormalAxis(axis, shape.size());
      if (at < 0 || at >= static_cast<int64_t>(shape.size())) return;
      shape[static_cast<size_t>(at)] = size;
      Retype(leaf, leaf.type.dtype(), shape);
    });
  }
  bool SetRank(size_t i, int64_t rank) {
    if (rank > static_cast<int64_t>(ir::kMaxRank)) return false;
    return Change(id(i), [&](Leaf& leaf) {
      Shape shape = leaf.type.shape();
      while (static_cast<int64_t>(shape.size()) > std::max<int64_t>(rank, 0))
        shape.erase(shape.begin());
      while (static_cast<int64_t>(shape.size()) < rank)
        shape.insert(shape.begin(), draw_.DrawSize());
      Retype(leaf, leaf.type.dtype(), shape);
    });
  }
  // Lists that have elements, and operands that are given.
  bool Present(size_t i) {
    assignment_.choices[graph_.Resolve(id(i))] = 1 + draw_.Below(2);
    return true;
  }

 private:
  template <class F>
  bool Change(ValueId value, const F& change) {
    const std::vector<ValueId> leaves = LeavesBelow(graph_, value, assignment_);
    if (leaves.empty()) return false;
    change(*assignment_.leaves[draw_.OneOf(leaves)]);
    return true;
  }
  // Nothing where a size is not known, or the tensor would be large.
  void Retype(Leaf& leaf, DataType dtype, const Shape& shape) {
    constexpr int64_t kMaxElements = 1 << 16;
    int64_t elements = 1;
    for (const int64_t size : shape) {
      if (size < 0 || elements > kMaxElements / std::max<int64_t>(size, 1)) return;
      elements *= size;
    }
    const ir::Type type = graph_.context()->TensorType(dtype, shape);
    if (leaf.constant && leaf.type.dtype() == dtype) {
      const auto splat = Splat(leaf.constant);
      leaf.constant = splat ? draw_.Dense(type, {&*splat, 1}) : draw_.DrawContents(type);
    } else if (leaf.constant) {
      leaf.constant = draw_.DrawContents(type);
    }
    leaf.type = type;
  }
  static std::optional<double> Splat(Attribute dense) {
    const int64_t n = dense.dense_type().NumElements();
    if (n == 0) return std::nullopt;
    const double first = ir::DenseElement(dense, 0);
    for (int64_t i = 1; i < n; ++i)
      if (ir::DenseElement(dense, i) != first) return std::nullopt;
    return first;
  }

  const Formula& formula_;
  const drr::MatchContext& m_;
  const PatternGraph& graph_;
  Draw& draw_;
  Assignment& assignment_;
};

// A shape that broadcasts to another.
Shape Broadcastable(Draw& draw, Shape shape) {
  const auto drop = static_cast<std::ptrdiff_t>(draw.Below(shape.size() + 1));
  shape.erase(shape.begin(), shape.begin() + drop);
  for (int64_t& size : shape)
    if (draw.OneIn(3)) size = 1;
  return shape;
}

DataType OtherFloat(Draw& draw) {
  constexpr DataType kFloats[] = {DataType::kF32, DataType::kF32, DataType::kF64, DataType::kF16};
  return draw.OneOf(kFloats);
}
DataType OtherInteger(Draw& draw) {
  constexpr DataType kIntegers[] = {DataType::kI64, DataType::kI32, DataType::kI8, DataType::kU8};
  return draw.OneOf(kIntegers);
}

// --- one function for each word, or for several that want alike -------------------------------

bool RankOf(Repairer& r) {
  return r.SetRank(0, r.has(1) ? r.Integer(1) : static_cast<int64_t>(r.draw().Below(5)));
}
bool LikeRank(Repairer& r) {
  const size_t changed = r.draw().Below(2);
  return r.SetRank(changed, r.tensor(1 - changed).rank());
}
bool DimOf(Repairer& r) { return r.SetDim(0, r.Integer(1), r.Integer(2)); }
bool LikeDim(Repairer& r) {
  return r.draw().OneIn(2) ? r.SetDim(0, r.Integer(1), r.tensor(2).dim(r.Integer(3)))
                           : r.SetDim(2, r.Integer(3), r.tensor(0).dim(r.Integer(1)));
}
bool OneOfTypes(Repairer& r) {
  size_t count = 1;
  while (r.has(count + 1)) ++count;
  return r.SetDtype(0, r.Dtype(1 + r.draw().Below(count)));
}
bool LikeDtype(Repairer& r) {
  const size_t changed = r.draw().Below(2);
  return r.SetDtype(changed, r.tensor(1 - changed).dtype());
}
// Of a result that must not outgrow an operand: what else it is computed from broadcasts to that.
bool LikeShape(Repairer& r) {
  const size_t changed = r.draw().Below(2);
  const Shape like = r.tensor(1 - changed).shape();
  if (!r.tensor(0).is_static() || !r.tensor(1).is_static()) return false;
  switch (r.draw().Below(3)) {
    case 0:
      return r.SetShape(changed, Broadcastable(r.draw(), like));
    default:
      return r.SetShape(changed, like);
  }
}
bool LikeType(Repairer& r) {
  return r.tensor(0).dtype() == r.tensor(1).dtype() ? LikeShape(r) : LikeDtype(r);
}
bool OneElementOf(Repairer& r) { return r.SetShape(0, r.draw().OneIn(2) ? Shape{} : Shape{1}); }
bool NonEmptyOf(Repairer& r) {
  Shape shape = r.tensor(0).shape();
  for (int64_t& size : shape) size = std::max<int64_t>(size, 1 + r.draw().Below(3));
  return r.SetShape(0, shape);
}
// Or with what a tolerance lets pass, if it is more than that of rounded constants.
bool FilledWith(Repairer& r) {
  constexpr double kRoundedConstant = 1e-4;
  const double tolerance = r.has(2) && r.draw().OneIn(2) ? r.Number(2) : 0;
  return r.Fill(0, r.Number(1) + (tolerance > kRoundedConstant ? 0.75 * tolerance : 0));
}
bool RangeEndOf(Repairer& r) {
  const bool is_signed = r.tensor(0).dtype() == DataType::kI8;
  if (!is_signed && r.tensor(0).dtype() != DataType::kU8) return r.SetDtype(0, DataType::kI8);
  const double least = is_signed ? -128 : 0;
  return r.Fill(0, r.Integer(1) < 0 ? least : least + 255);
}
bool OneNumber(Repairer& r) {
  const double number = 1 + r.draw().Below(4);
  return r.Fill(0, number) && r.Fill(1, number);
}
bool InOrder(Repairer& r) {
  const int64_t first = r.draw().Below(4);
  return r.Fill(0, static_cast<double>(first)) &&
         r.Fill(1, static_cast<double>(first + r.draw().Below(4)));
}
bool ConstantsToJoin(Repairer& r) {
  for (const size_t i : {0, 1})
    if (!r.SetDtype(i, DataType::kF32) || !r.MakeConstant(i)) return false;
  return r.SetShape(r.draw().Below(2), r.draw().OneIn(2) ? Shape{} : Shape{1});
}
bool SignedZeroOf(Repairer& r) { return r.Fill(0, r.Integer(1) < 0 ? -0.0 : 0.0); }
bool Uniform(Repairer& r) {
  if (!r.tensor(0).is_static() || r.draw().OneIn(3)) OneElementOf(r);
  return r.Fill(0, r.draw().DrawNumber());
}
bool PositiveOf(Repairer& r) {
  OneElementOf(r);
  return r.Fill(0, 1 + r.draw().Below(4));
}
bool PerTensorOf(Repairer& r) {
  constexpr double kScales[] = {0.25, 0.5, 1, 2};
  for (const size_t i : {0, 1})
    if (!r.SetShape(i, {})) return false;
  r.SetDtype(0, DataType::kF32);
  r.SetDtype(1, r.draw().OneIn(2) ? DataType::kI8 : DataType::kU8);
  return r.Fill(0, r.draw().OneOf(kScales)) && r.Fill(1, r.draw().Below(4));
}
bool PerChannelOf(Repairer& r) {
  const int64_t size = r.tensor(1).dim(r.Integer(2));
  return ir::IsStaticDim(size) && r.SetShape(0, {size});
}
bool BroadcastsOf(Repairer& r) {
  return r.tensor(1).is_static() && r.SetShape(0, Broadcastable(r.draw(), r.tensor(1).shape()));
}
bool ShapeOfThird(Repairer& r) {
  return r.tensor(2).is_static() && r.SetShape(r.draw().Below(2), r.tensor(2).shape());
}
bool OfOneAxis(Repairer& r) {
  const Shape of = r.tensor(1).shape();
  int64_t axis = ir::NormalAxis(r.Integer(2), of.size());
  if (r.has(3)) {
    const Ints perm = r.List(3).value_or(Ints());
    axis = std::find(perm.begin(), perm.end(), axis) - perm.begin();
  }
  if (!r.tensor(1).is_static() || axis < 0 || axis >= static_cast<int64_t>(of.size())) return false;
  Shape shape(of.size() - static_cast<size_t>(axis), 1);
  if (!r.draw().OneIn(4)) shape[0] = of[static_cast<size_t>(axis)];
  return r.SetShape(0, shape);
}
bool ShapeFrom(Repairer& r) {
  const Shape of = r.tensor(1).shape();
  const int64_t axis = ir::NormalAxis(r.Integer(2), of.size());
  if (!r.tensor(1).is_static() || axis < 0 || axis > static_cast<int64_t>(of.size())) return false;
  return r.SetShape(0, Shape(of.begin() + static_cast<std::ptrdiff_t>(axis), of.end()));
}
bool LastAxesSwapped(Repairer& r) {
  Ints perm = r.List(0).value_or(Ints());
  if (perm.size() < 2) return false;
  std::iota(perm.begin(), perm.end(), int64_t{0});
  std::swap(perm[perm.size() - 2], perm[perm.size() - 1]);
  return r.SetInts(0, perm);
}
bool ListOfLength(Repairer& r) {
  constexpr int64_t kLongest = 8;
  Ints list(static_cast<size_t>(std::clamp<int64_t>(r.Integer(1), 0, kLongest)));
  std::iota(list.begin(), list.end(), -static_cast<int64_t>(list.size()));
  return r.SetList(0, list);
}
bool AxesOfBoth(Repairer& r) {
  std::optional<Ints> axes = r.List(0);
  if (!axes || axes->empty()) axes = Ints{0};
  const int64_t rank = std::max<int64_t>(r.tensor(1).rank(), 0);
  for (int64_t& axis : *axes) axis += axis < 0 ? rank : 0;
  return r.SetList(0, *axes) && r.SetList(2, *axes);
}
bool AxesToJoin(Repairer& r) { return r.SetList(r.draw().OneIn(2) ? 0 : 2, {r.draw().Below(3)}); }
bool PadsToJoin(Repairer& r) {
  const int64_t rank = r.tensor(0).rank();
  if (rank < 3) return false;
  Ints pads(static_cast<size_t>(2 * rank));
  for (size_t i = 0; i < pads.size(); ++i)
    if (i % static_cast<size_t>(rank) > 1) pads[i] = r.draw().Below(3);
  return r.SetConstantInts(1, pads);
}
bool LastAxesOf(Repairer& r) {
  const int64_t rank = r.tensor(1).rank();
  if (rank < 1) return r.SetRank(1, 2);
  Ints axes(1 + r.draw().Below(static_cast<size_t>(rank)));
  std::iota(axes.begin(), axes.end(), -static_cast<int64_t>(axes.size()));
  if (r.draw().OneIn(2))
    for (int64_t& axis : axes) axis += rank;
  std::shuffle(axes.begin(), axes.end(), r.draw().random());
  return r.SetInts(0, axes);
}
bool LastDimsOf(Repairer& r) {
  const Attribute axes = r.Held(2);
  if (!axes.Is(AttrKind::kInts) || !r.tensor(1).is_static()) return false;
  const Shape shape = r.tensor(1).shape();
  const size_t count = std::min(axes.AsInts().size(), shape.size());
  return r.SetShape(0, Shape(shape.end() - static_cast<std::ptrdiff_t>(count), shape.end()));
}
bool IdentityOf(Repairer& r) {
  const std::optional<Ints> list = r.List(0);
  if (!list) return r.SetList(0, {0, 1});
  Ints axes(list->size());
  std::iota(axes.begin(), axes.end(), int64_t{0});
  return r.SetList(0, axes);
}
bool InverseOf(Repairer& r) {
  const Attribute perm = r.Held(0);
  if (!perm.Is(AttrKind::kInts)) return false;
  Ints inverse(perm.AsInts().size());
  for (size_t i = 0; i < inverse.size(); ++i) {
    const auto to = static_cast<size_t>(perm.AsInts()[i]);
    if (to >= inverse.size()) return false;
    inverse[to] = static_cast<int64_t>(i);
  }
  return r.SetInts(1, inverse);
}
bool UnitDims(Repairer& r) {
  Shape shape = r.tensor(0).shape();
  if (shape.empty() || !r.tensor(0).is_static()) return r.SetRank(0, 3);
  const size_t kept = r.draw().Below(shape.size());
  for (size_t i = 0; i < shape.size(); ++i)
    if (i != kept) shape[i] = 1;
  return r.SetShape(0, shape);
}
bool Lists(Repairer& r) {
  size_t count = 0;
  while (r.has(count)) ++count;
  return r.Present(r.draw().Below(count));
}

using RepairFunction = bool (*)(Repairer&);

const std::map<std::string_view, RepairFunction>& Functions() {
  static const auto* functions = new std::map<std::string_view, RepairFunction>{
      {"constant", [](Repairer& r) { return r.MakeConstant(0); }},
      {"constant_like", [](Repairer& r) { return r.MakeConstant(0); }},
      {"not_constant", [](Repairer& r) { return r.MakeInput(0); }},
      {"rank_is", RankOf},
      {"rank_at_least", RankOf},
      {"rank_at_most", RankOf},
      {"same_rank", LikeRank},
      {"no_higher_rank", LikeRank},
      {"dim_is", DimOf},
      {"dim_at_least", DimOf},
      {"dim_at_most", DimOf},
      {"same_dim", LikeDim},
      {"dtype_is", OneOfTypes},
      {"same_dtype", LikeDtype},
      {"float", [](Repairer& r) { return r.SetDtype(0, OtherFloat(r.draw())); }},
      {"integer", [](Repairer& r) { return r.SetDtype(0, OtherInteger(r.draw())); }},
      {"same_type", LikeType},
      {"same_shape", LikeShape},
      {"one_element", OneElementOf},
      {"non_empty", NonEmptyOf},
      {"splat_is", FilledWith},
      {"signed_zero", SignedZeroOf},
      {"range_end", RangeEndOf},
      {"same_number", OneNumber},
      {"no_greater", InOrder},
      {"product", ConstantsToJoin},
      {"sum", ConstantsToJoin},
      {"uniform", Uniform},
      {"positive", PositiveOf},
      {"non_zero", PositiveOf},
      {"per_tensor", PerTensorOf},
      {"per_channel", PerChannelOf},
      {"broadcasts", BroadcastsOf},
      {"broadcast_together", ShapeOfThird},
      {"varies_along", OfOneAxis},
      {"covers_from", ShapeFrom},
      {"swaps_last", LastAxesSwapped},
      {"list_is", [](Repairer& r) { return r.SetList(0, r.Held(1).AsInts()); }},
      {"count_is", ListOfLength},
      {"same_axes", AxesOfBoth},
      {"join_axes", AxesToJoin},
      {"joined_pads", PadsToJoin},
      {"last_axes", LastAxesOf},
      {"last_dims", LastDimsOf},
      {"identity", IdentityOf},
      {"inverse", InverseOf},
      {"only_unit_dims_move", UnitDims},
      {"any_element", Lists},
  };
  return *functions;
}

}  // namespace

bool Repair(const Formula& formula, const drr::MatchContext& match, Draw& draw,
            Assignment* assignment) {
  const auto function = Functions().find(formula.name);
  if (function == Functions().end()) return false;
  Repairer repairer(formula, match, draw, assignment);
  return function->second(repairer);
}

}  // namespace weft::passes
