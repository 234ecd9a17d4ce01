// Words about lists of integers: axes, permutations, pads and sizes.
#include <algorithm>
#include <numeric>

#include "drr/rule/vocabulary_functions.h"
#include "ir/dialects/onnx/infer/shape_value.h"

namespace weft::drr::internal {

using ir::Attribute;
using ir::AttrKind;
using ir::Ints;

namespace {

constexpr int64_t kMaxAxis = 63;  // what a program may say is not searched further
constexpr int64_t kMaxPad = int64_t{1} << 31;

// Axes of a tensor counted from its beginning; nothing where one is negative and the rank not known.
std::optional<Ints> NormalAxes(std::optional<Ints> axes, const BoundTensor& of) {
  if (!axes) return std::nullopt;
  for (int64_t& axis : *axes) {
    if (axis < 0 && !of.has_rank()) return std::nullopt;
    axis += axis < 0 ? of.rank() : 0;
    if (axis < 0 || axis > kMaxAxis) return std::nullopt;
  }
  return axes;
}

// `first`, and those that `others` are among what `first` leaves over.
Ints JoinLists(const Ints& first, const Ints& others) {
  Ints all = first;
  for (int64_t left : others) {
    int64_t axis = 0;
    for (;; ++axis)
      if (std::find(first.begin(), first.end(), axis) == first.end() && left-- == 0) break;
    all.push_back(axis);
  }
  std::sort(all.begin(), all.end());
  return all;
}

// All that are in either list.
Ints UnionOf(Ints all, const Ints& others) {
  all.insert(all.end(), others.begin(), others.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

// The target of an Expand of x as numbers, where 1 leaves a size of x as it is.
std::optional<Ints> ExpandTarget(const BoundTensor& x, const ir::ShapeValue& entries) {
  if (!x.has_rank()) return std::nullopt;
  Ints target;
  for (size_t i = 0; i < entries.size(); ++i) {
    const ir::ShapeEntry entry = entries[i];
    const int64_t from_end = static_cast<int64_t>(i) - static_cast<int64_t>(entries.size());
    const bool is_own =
        ir::IsSymbolicDim(entry.value) && -from_end <= x.rank() && entry.value == x.dim(from_end);
    if (!entry.is_number && !is_own) return std::nullopt;
    target.push_back(entry.is_number ? entry.value : 1);
  }
  return target;
}

// The target of a Reshape of x as numbers, where 0 copies a size of x and one entry may be -1; nothing
// when that does not say the same for all sizes. A -1 beside a copied size says nothing when that size
// is 0, so the two never stand together unless the program has said so itself.
std::optional<Ints> KnownTarget(const BoundTensor& x, const ir::ShapeValue& entries) {
  if (!x.has_rank()) return std::nullopt;
  Ints target;
  bool copies = false, empty = false, derived = false;
  int computed = 0;
  for (size_t i = 0; i < entries.size(); ++i) {
    const ir::ShapeEntry entry = entries[i];
    const bool is_copy = !entry.is_number && i < static_cast<size_t>(x.rank()) &&
                         ir::IsSymbolicDim(entry.value) &&
                         entry.value == x.dim(static_cast<int64_t>(i));
    target.push_back(entry.is_number ? entry.value : is_copy ? 0 : -1);
    copies |= is_copy;
    empty |= entry.is_number && entry.value == 0;
    computed += target.back() == -1;
    derived |= !entry.is_number && !is_copy;
  }
  if (computed > 1 || (derived && (copies || empty))) return std::nullopt;
  return target;
}

// Of the spatial dimensions, all begins and then all ends, of a Pad of these amounts; nothing where
// others are padded too, or something is cut off. Without axes all are listed.
std::optional<Ints> SpatialPads(const Ints& amounts, const std::optional<Ints>& axes,
                                int64_t rank) {
  const size_t count = axes ? axes->size() : static_cast<size_t>(rank);
  if (amounts.size() != 2 * count) return std::nullopt;
  Ints spatial(static_cast<size_t>(2 * (rank - 2)));
  for (size_t i = 0; i < amounts.size(); ++i) {
    const int64_t amount = amounts[i];
    if (amount == 0) continue;
    const size_t place = i % count;
    int64_t axis = axes ? (*axes)[place] : static_cast<int64_t>(place);
    axis += axis < 0 ? rank : 0;
    if (amount < 0 || amount > kMaxPad || axis < 2 || axis >= rank) return std::nullopt;
    spatial[static_cast<size_t>(axis - 2 + (i < count ? 0 : rank - 2))] += amount;
  }
  return spatial;
}

// The pads of a window that moves by one place, so that there are as many places as elements: they do
// not depend on sizes. The odd one is at the end (upper) or at the begin.
std::optional<Ints> SamePads(ir::Operation op, bool upper, int64_t rank) {
  const auto dims = static_cast<size_t>(rank - 2);
  const Attribute kernel = op.attr("kernel_shape"), dilations = op.attr("dilations"),
                  strides = op.attr("strides");
  for (const Attribute& list : {kernel, dilations, strides})
    if (list.Is(AttrKind::kInts) && list.AsInts().size() != dims) return std::nullopt;
  Ints pads(2 * dims);
  for (size_t i = 0; i < dims; ++i) {
    const auto at = static_cast<int64_t>(i);
    const int64_t extent = kernel.Is(AttrKind::kInts) ? kernel.AsInts()[i]
                           : op.num_operands() > 1    ? BoundTensor(op.operand(1)).dim(at + 2)
                                                      : 0;
    const int64_t dilation = dilations.Is(AttrKind::kInts) ? dilations.AsInts()[i] : 1;
    if (strides.Is(AttrKind::kInts) && strides.AsInts()[i] != 1) return std::nullopt;
    if (extent < 1 || extent > kMaxPad || dilation < 1 || dilation > kMaxPad) return std::nullopt;
    const int64_t all = (extent - 1) * dilation, less = all / 2;
    pads[i] = upper ? less : all - less;
    pads[i + dims] = upper ? all - less : less;
  }
  return pads;
}

// Whether what op pads follows from its attributes: *pads, empty where it does not pad. x has `rank`.
bool PadsExplicitly(const Evaluation& e, ir::Operation op, int64_t rank, Ints* pads) {
  const Attribute given = op.attr("pads"), attribute = AttributeNamed(e, op, "auto_pad");
  if (attribute && !attribute.Is(AttrKind::kString)) return false;
  const std::string_view mode = attribute ? std::string_view(attribute.AsString()) : "NOTSET";
  if (mode == "VALID") return true;
  if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
    std::optional<Ints> same = SamePads(op, mode == "SAME_UPPER", rank);
    if (!same) return false;
    *pads = *std::move(same);
    return true;
  }
  if (given.Is(AttrKind::kInts)) *pads = given.AsInts();
  return mode == "NOTSET";
}

}  // namespace

bool IsIdentity(const Evaluation& e) {
  const auto list = e.ints(0);
  if (!list) return false;
  for (size_t i = 0; i < list->size(); ++i)
    if ((*list)[i] != static_cast<int64_t>(i)) return false;
  return true;
}
bool SwapsLast(const Evaluation& e) {
  const auto perm = e.ints(0);
  if (!perm || perm->size() < 2) return false;
  const auto rank = static_cast<int64_t>(perm->size());
  for (int64_t i = 0; i + 2 < rank; ++i)
    if ((*perm)[static_cast<size_t>(i)] != i) return false;
  return (*perm)[perm->size() - 2] == rank - 1 && perm->back() == rank - 2;
}
bool ListIs(const Evaluation& e) {
  const auto list = e.ints(0);
  return list && e.literal(1).Is(AttrKind::kInts) && *list == e.literal(1).AsInts();
}
bool CountIs(const Evaluation& e) {
  int64_t count = 0;
  const auto list = e.ints(0);
  return e.Integer(1, &count) && list && static_cast<int64_t>(list->size()) == count;
}
bool SameAxes(const Evaluation& e) {
  std::optional<Ints> a = NormalAxes(e.ints(0), e.tensor(1)),
                      b = NormalAxes(e.ints(2), e.tensor(3));
  if (!a || a->empty() || !b || !e.tensor(1).has_rank()) return false;
  std::sort(a->begin(), a->end());
  std::sort(b->begin(), b->end());
  return *a == *b;
}
bool VariesAlong(const Evaluation& e) {
  const BoundTensor t = e.tensor(0), of = e.tensor(1);
  int64_t axis = 0;
  if (!e.Integer(2, &axis) || !t.has_rank() || t.rank() > of.rank()) return false;
  axis += axis < 0 ? of.rank() : 0;
  if (e.has(3)) {
    const auto perm = e.ints(3);
    if (!perm) return false;
    axis = std::find(perm->begin(), perm->end(), axis) - perm->begin();
  }
  if (axis < 0 || axis >= of.rank()) return false;
  for (int64_t i = 1; i <= t.rank(); ++i)
    if (t.dim(-i) != 1 && (of.rank() - i != axis || !ir::SameDim(t.dim(-i), of.dim(-i))))
      return false;
  return true;
}
// Every size of the third is one of the others': no size of 1 is enlarged by it.
bool BroadcastTogether(const Evaluation& e) {
  const BoundTensor x = e.tensor(0), y = e.tensor(1), out = e.tensor(2);
  if (!x.has_rank() || !y.has_rank() || !out.has_rank()) return false;
  const auto has = [&](const BoundTensor& t, int64_t from_end) {
    return from_end <= t.rank() && t.dim(-from_end) == out.dim(-from_end);
  };
  for (int64_t i = 1; i <= out.rank(); ++i)
    if (out.dim(-i) == ir::kUnknownDim || !(has(x, i) || has(y, i))) return false;
  return true;
}
bool CoversFrom(const Evaluation& e) {
  const BoundTensor parameter = e.tensor(0), x = e.tensor(1);
  int64_t axis = 0;
  if (!e.Integer(2, &axis) || axis < -kMaxAxis || (axis >= 0 && !x.has_rank())) return false;
  const int64_t count = axis >= 0 ? x.rank() - axis : -axis;
  if (count < 0 || parameter.rank() != count) return false;
  for (int64_t i = -count; i < 0; ++i) {
    const int64_t size = parameter.dim(i);
    const bool is_that_of_x = size != ir::kUnknownDim && size == x.dim(i);
    if (!is_that_of_x && (!ir::IsStaticDim(size) || size == 1)) return false;
  }
  return true;
}

Attribute SizesIn(const Evaluation& e) {
  const auto entries = ir::EvaluateShapeValue(e.tensor(0).value());
  if (!entries) return {};
  if (e.has(1)) {
    int64_t is_expand = 0;
    const bool expands = e.has(2) && e.Integer(2, &is_expand) && is_expand != 0;
    const auto target = (expands ? ExpandTarget : KnownTarget)(e.tensor(1), *entries);
    return target ? e.m.context()->IntsAttr(*target) : Attribute();
  }
  Ints numbers;
  for (const ir::ShapeEntry& entry : *entries) {
    if (!entry.is_number) return {};
    numbers.push_back(entry.value);
  }
  return e.m.context()->IntsAttr(numbers);
}
Attribute ReversedAxes(const Evaluation& e) {
  if (!e.tensor(0).has_rank()) return {};
  Ints reversed(static_cast<size_t>(e.tensor(0).rank()));
  std::iota(reversed.rbegin(), reversed.rend(), int64_t{0});
  return e.m.context()->IntsAttr(reversed);
}
Attribute JoinAxes(const Evaluation& e) {
  const auto first = NormalAxes(e.ints(0), e.tensor(1)),
             others = NormalAxes(e.ints(2), e.tensor(3));
  if (!first || !others) return {};
  if (!e.has(4)) return e.m.context()->IntsAttr(JoinLists(*first, *others));
  int64_t stay = 0;
  if (!e.Integer(4, &stay) || first->empty() || others->empty()) return {};
  return e.m.context()->IntsAttr(stay != 0 ? UnionOf(*first, *others) : JoinLists(*first, *others));
}
Attribute ListAlong(const Evaluation& e) {
  int64_t axis = 0;
  if (!e.Integer(1, &axis) || !e.tensor(0).has_rank()) return {};
  const int64_t rank = e.tensor(0).rank();
  axis += axis < 0 ? rank : 0;
  if (axis < 0 || axis >= rank) return {};
  Ints sizes(static_cast<size_t>(rank - axis), 1);
  sizes[0] = -1;
  return e.m.context()->IntsAttr(sizes);
}
Attribute JoinedPads(const Evaluation& e) {
  const ir::Value made = e.tensor(0).value();
  const ir::Operation op = made ? made.DefiningOp() : ir::Operation();
  const auto amounts = e.tensor(1).ints(), axes = e.tensor(2).ints();
  if (!op || op.operands().empty() || !amounts || (e.tensor(2).value() && !axes)) return {};
  const int64_t rank = BoundTensor(op.operand(0)).rank();
  Ints own;
  if (rank < 3 || !PadsExplicitly(e, op, rank, &own)) return {};
  const std::optional<Ints> added = SpatialPads(*amounts, axes, rank);
  std::optional<Ints> pads = added;
  if (!pads || (!own.empty() && own.size() != pads->size())) return {};
  for (size_t i = 0; i < own.size(); ++i) {
    if (own[i] < -kMaxPad || own[i] > kMaxPad) return {};
    (*pads)[i] += own[i];
  }
  int64_t of_windows = 0;
  if (!e.has(3) || !e.Integer(3, &of_windows) || of_windows == 0)
    return e.m.context()->IntsAttr(*pads);
  const Attribute window = op.attr("kernel_shape");
  if (!window.Is(AttrKind::kInts) || pads->size() != 2 * window.AsInts().size()) return {};
  for (size_t i = 0; i < pads->size(); ++i)
    if ((*pads)[i] >= window.AsInts()[i % window.AsInts().size()]) return {};
  if (of_windows > 1 && !StepsStayInside(e, op, *added)) return {};
  return e.m.context()->IntsAttr(*pads);
}

}  // namespace weft::drr::internal
