#include "ir/dialects/onnx/movement.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "ir/analysis/constant.h"
#include "ir/dialects/onnx/infer/shape_value.h"

namespace weft::ir::ops {
namespace {

// Number of elements start, start + step, ... before end in a dimension of `size`.
int64_t SliceSize(int64_t size, int64_t start, int64_t end, int64_t step) {
  if (start < 0) start += size;
  if (end < 0) end += size;
  if (step > 0) {
    start = std::clamp<int64_t>(start, 0, size);
    end = std::clamp<int64_t>(end, 0, size);
    return start >= end ? 0 : (end - start - 1) / step + 1;
  }
  if (size == 0) return 0;
  // What begins before the first begins with it.
  start = std::clamp<int64_t>(start, 0, size - 1);
  end = std::clamp<int64_t>(end, -1, size - 1);
  return start <= end ? 0 : (start - end - 1) / -std::max(step, -INT64_MAX) + 1;
}

// The same where one of them is no number.
int64_t SliceSize(int64_t dim, ShapeEntry start, ShapeEntry end, int64_t step) {
  if (start.is_number && end.is_number) {
    const int64_t from = start.value, to = end.value;
    if (IsStaticDim(dim)) return SliceSize(dim, from, to, step);
    // Counted from the same side, a slice that ends where it starts is empty whatever the size.
    if (step > 0 ? (from < 0) == (to < 0) && from >= to : from >= 0 && from <= to) return 0;
  }
  const DimExpr size = DimExpr::OfDim(dim);
  // Exporters write "to the end" as the largest i64 or i32.
  if (step < 0) {
    const bool whole = start.is_number && (start.value == -1 || start.value >= INT32_MAX) &&
                       end.is_number && end.value <= INT32_MIN && step > INT32_MIN;
    return whole ? CeilDiv(size, -step).ToDim() : kUnknownDim;
  }
  const bool from_end = start.is_number && start.value < 0;
  const bool whole_end = end.is_number && end.value >= INT32_MAX;
  if (!(start.is_size || from_end) || !(end.is_size || end.is_number)) return kUnknownDim;
  if (from_end && whole_end && step == 1) return Min(DimExpr(0) - start.expr(), size).ToDim();
  const DimExpr first = from_end ? Max(size + start.expr(), 0) : start.expr();
  const DimExpr last = whole_end ? size : end.is_size ? Min(end.expr(), size) : size + end.expr();
  return Max(CeilDiv(last - first, step), 0).ToDim();
}

}  // namespace

bool Transpose::Infer(InferContext& c) {
  if (!CheckTensors(c)) return false;
  const Dims x = DimsOf(c, 0);
  if (!x) return SetTensor(c, 0, DtypeOf(c, 0), std::nullopt);
  Dims dims;
  const auto perm = c.attrs_of<Transpose>().perm;
  if (!perm) return SetTensor(c, 0, DtypeOf(c, 0), Shape(x->rbegin(), x->rend()));
  return PermuteDims(c, *x, *perm, &dims) && SetTensor(c, 0, DtypeOf(c, 0), dims);
}

bool Concat::Infer(InferContext& c) {
  if (c.num_operands() == 0) return c.Fail("has no operands");
  std::vector<Type> types;
  for (size_t i = 0; i < c.num_operands(); ++i) types.push_back(c.operand_type(i));
  return CheckTensors(c) && ConcatTensors(c, types, c.attrs_of<Concat>().axis);
}

namespace {

// The sizes of the parts where there is no operand that has them.
bool EqualParts(InferContext& c, int64_t axis, const Shape& dims, std::optional<Shape>* sizes) {
  const auto num_outputs = c.attrs_of<Split>().num_outputs;
  const auto results = static_cast<int64_t>(c.num_results());
  const int64_t parts = num_outputs.value_or(results), size = dims[axis];
  if (parts < 1 || parts < results)
    return c.Fail(fmt::format("num_outputs is {} but there are {} results", parts, results));
  if (!num_outputs && IsStaticDim(size) && size % parts != 0)
    return c.Fail(fmt::format("dimension {} of {} does not split into {} equal parts", axis,
                              ToString(dims), parts));
  const DimExpr whole = DimExpr::OfDim(size);
  const DimExpr chunk = num_outputs ? CeilDiv(whole, parts) : FloorDiv(whole, parts);
  *sizes = Shape();
  for (int64_t i = 0; i < results; ++i) {
    const DimExpr part = num_outputs && i > 0 ? Min(chunk, Max(whole - chunk * i, 0)) : chunk;
    (*sizes)->push_back(part.ToDim());
  }
  return true;
}

bool GivenParts(InferContext& c, int64_t axis, const Shape& dims, std::optional<Shape>* sizes) {
  if (c.attrs_of<Split>().num_outputs) return c.Fail("has both split and num_outputs");
  std::optional<ShapeValue> given;
  if (const auto numbers = ConstantInts(c.operand(1))) {  // there may be more than a shape has
    given.emplace();
    for (const int64_t number : *numbers) given->push_back(ShapeEntry::Number(number));
  } else {
    given = ShapeOperand(c, 1);
  }
  if (!given) return true;
  *sizes = Shape();
  for (const ShapeEntry& s : *given) {
    if (s.is_number && s.value < 0) return c.Fail(fmt::format("split has the entry {}", s.value));
    (*sizes)->push_back(s.value);
  }
  const auto sum = SumOf(**sizes);
  if (!sum) return c.Fail(fmt::format("split {} is too large", ToString(**sizes)));
  const int64_t size = dims[axis];
  if (!IsStaticDim(size) || !IsStaticDim(*sum) || *sum == size) return true;
  return c.Fail(fmt::format("split adds up to {} but dimension {} of x is {}", *sum, axis, size));
}

}  // namespace

bool Split::Infer(InferContext& c) {
  if (!CheckTensors(c) || !CheckDtype(c, 1, DataType::kI64) || !CheckRank(c, 1, 1)) return false;
  const size_t parts = c.num_results();
  Dims dims = DimsOf(c, 0);
  if (!dims) {
    for (size_t i = 0; i < parts; ++i) SetTensor(c, i, DtypeOf(c, 0), std::nullopt);
    return true;
  }
  int64_t axis = c.attrs_of<Split>().axis;
  if (!NormalizeAxis(c, &axis, dims->size())) return false;
  if (!CheckVector(c, 1, static_cast<int64_t>(parts), "results")) return false;
  std::optional<Shape> sizes;
  if (!(c.HasOperand(1) ? GivenParts(c, axis, *dims, &sizes) : EqualParts(c, axis, *dims, &sizes)))
    return false;
  for (size_t i = 0; i < parts; ++i) {
    (*dims)[axis] = sizes && i < sizes->size() ? (*sizes)[i] : kUnknownDim;
    if (!SetTensor(c, i, DtypeOf(c, 0), dims)) return false;
  }
  return true;
}

bool Slice::Infer(InferContext& c) {
  if (!CheckTensors(c)) return false;
  for (size_t i = 1; i < 5; ++i)
    if (!CheckIndex(c, i) || !CheckRank(c, i, 1)) return false;
  Dims dims = DimsOf(c, 0);
  if (!dims) return SetTensor(c, 0, DtypeOf(c, 0), std::nullopt);
  const auto starts = ShapeOperand(c, 1), ends = ShapeOperand(c, 2);
  if (!starts || !ends) return SetTensor(c, 0, DtypeOf(c, 0), Shape(dims->size(), kUnknownDim));
  const size_t n = starts->size();
  for (size_t i = 2; i < 5; ++i)
    if (!CheckVector(c, i, static_cast<int64_t>(n), "starts")) return false;
  Ints first_axes(n);
  std::iota(first_axes.begin(), first_axes.end(), int64_t{0});
  std::optional<Ints> axes = c.HasOperand(3) ? KnownInts(c, 3) : first_axes;
  const std::optional<Ints> steps = c.HasOperand(4) ? KnownInts(c, 4) : Ints(n, 1);
  if (steps && std::find(steps->begin(), steps->end(), 0) != steps->end())
    return c.Fail("steps has the entry 0");
  if (!axes || axes->size() != n || ends->size() != n || (steps && steps->size() != n))
    return SetTensor(c, 0, DtypeOf(c, 0), Shape(dims->size(), kUnknownDim));
  Ints sorted = *axes;
  if (!NormalizeAxes(c, &sorted, dims->size())) return false;
  for (size_t i = 0; i < n; ++i) {
    int64_t& dim = (*dims)[(*axes)[i] < 0 ? (*axes)[i] + dims->size() : (*axes)[i]];
    dim = steps ? SliceSize(dim, (*starts)[i], (*ends)[i], (*steps)[i]) : kUnknownDim;
  }
  return SetTensor(c, 0, DtypeOf(c, 0), dims);
}

bool Gather::Infer(InferContext& c) {
  if (!CheckTensors(c) || !CheckIndex(c, 1)) return false;
  const Dims data = DimsOf(c, 0), indices = DimsOf(c, 1);
  int64_t axis = c.attrs_of<Gather>().axis;
  if (data && !NormalizeAxis(c, &axis, data->size())) return false;
  if (!data || !indices) return SetTensor(c, 0, DtypeOf(c, 0), std::nullopt);
  const int64_t size = (*data)[axis];
  if (const auto known = KnownInts(c, 1); known && IsStaticDim(size))
    for (int64_t i : *known)
      if (i < -size || i >= size)
        return c.Fail(fmt::format("index {} is out of range for dimension {} of {}", i, axis,
                                  ToString(*data)));
  Shape dims(data->begin(), data->begin() + axis);
  dims.insert(dims.end(), indices->begin(), indices->end());
  dims.insert(dims.end(), data->begin() + axis + 1, data->end());
  return SetTensor(c, 0, DtypeOf(c, 0), dims);
}

bool Expand::Infer(InferContext& c) {
  Dims target;
  if (!CheckTensors(c) || !DimsFromOperand(c, 1, &target)) return false;
  const Dims x = DimsOf(c, 0);
  if (!x || !target) return SetTensor(c, 0, DtypeOf(c, 0), std::nullopt);
  const auto dims = BroadcastShape(*x, *target);
  if (!dims)
    return c.Fail(
        fmt::format("x {} and shape {} do not broadcast", ToString(*x), ToString(*target)));
  return SetTensor(c, 0, DtypeOf(c, 0), *dims);
}

bool Tile::Infer(InferContext& c) {
  Dims repeats;
  if (!CheckTensors(c) || !DimsFromOperand(c, 1, &repeats)) return false;
  Dims dims = DimsOf(c, 0);
  if (!dims) return SetTensor(c, 0, DtypeOf(c, 0), std::nullopt);
  const auto rank = static_cast<int64_t>(dims->size());
  if (!CheckVector(c, 1, rank, "dimensions of x")) return false;
  if (repeats && repeats->size() != dims->size())
    return c.Fail(fmt::format("repeats has {} entries but x has rank {}", repeats->size(), rank));
  for (size_t i = 0; i < dims->size(); ++i) {
    const int64_t pair[] = {(*dims)[i], repeats ? (*repeats)[i] : kUnknownDim};
    const auto size = ProductOf(pair);
    if (!size) return c.Fail(fmt::format("the result is too large in dimension {}", i));
    (*dims)[i] = *size;
  }
  return SetTensor(c, 0, DtypeOf(c, 0), dims);
}

namespace {

// begin and end of one dimension.
using Border = std::pair<DimExpr, DimExpr>;

// What Pad's operands say of each dimension; false when they contradict its rank.
bool Borders(InferContext& c, size_t rank, std::vector<Border>* borders) {
  borders->assign(rank, Border(0, 0));
  std::optional<Ints> axes = Ints();
  if (c.HasOperand(3)) {
    axes = KnownInts(c, 3);
  } else {
    for (size_t i = 0; i < rank; ++i) axes->push_back(static_cast<int64_t>(i));
  }
  if (!axes) {
    borders->assign(rank, Border());
    return true;
  }
  const size_t count = axes->size();
  if (!CheckVector(c, 1, static_cast<int64_t>(2 * count), "begins and ends")) return false;
  const auto pads = ShapeOperand(c, 1);
  std::vector<bool> seen(rank);
  for (size_t i = 0; i < count; ++i) {
    int64_t axis = (*axes)[i];
    if (!NormalizeAxis(c, &axis, rank)) return false;
    if (seen[axis]) return c.Fail(fmt::format("axis {} is given twice", axis));
    seen[axis] = true;
    const bool known = pads && pads->size() == 2 * count;
    (*borders)[axis] = known ? Border((*pads)[i].expr(), (*pads)[count + i].expr()) : Border();
  }
  return true;
}

}  // namespace

bool Pad::Infer(InferContext& c) {
  DataType dtype;
  if (!CheckTensors(c) || !SameDtype(c, {0, 2}, &dtype) || !CheckDtype(c, 1, DataType::kI64) ||
      !CheckRank(c, 1, 1) || !CheckScalar(c, 2) || !CheckIndex(c, 3) || !CheckRank(c, 3, 1))
    return false;
  Dims dims = DimsOf(c, 0);
  if (!dims) return SetTensor(c, 0, dtype, std::nullopt);
  std::vector<Border> borders;
  if (!Borders(c, dims->size(), &borders)) return false;
  const bool reflect = c.attrs_of<Pad>().mode == PadMode::kReflect;
  for (size_t i = 0; i < dims->size(); ++i) {
    int64_t& dim = (*dims)[i];
    const auto first = borders[i].first.number(), last = borders[i].second.number();
    if (!first || !last || !IsStaticDim(dim)) {
      dim = (DimExpr::OfDim(dim) + borders[i].first + borders[i].second).ToDim();
      continue;
    }
    const int64_t begin = *first, end = *last;
    const auto both = CheckedAdd(begin, end);
    const auto size = both ? CheckedAdd(dim, *both) : std::nullopt;
    if (!size || *size < 0)
      return c.Fail(fmt::format("pads {} and {} do not fit dimension {} of {}", begin, end, i,
                                ToString(*dims)));
    if (reflect && std::max(begin, end) >= std::max<int64_t>(dim, 1))
      return c.Fail(fmt::format("pads {} and {} reflect more than dimension {} of {} has", begin,
                                end, i, ToString(*dims)));
    dim = *size;
  }
  return SetTensor(c, 0, dtype, dims);
}

bool ScatterND::Infer(InferContext& c) {
  DataType dtype;
  if (!CheckTensors(c) || !SameDtype(c, {0, 2}, &dtype) || !CheckDtype(c, 1, DataType::kI64) ||
      !CheckRank(c, 0, 1, SIZE_MAX) || !CheckRank(c, 1, 1, SIZE_MAX))
    return false;
  const Dims data = DimsOf(c, 0), indices = DimsOf(c, 1);
  if (data && indices && IsStaticDim(indices->back())) {
    const int64_t named = indices->back();
    if (named > static_cast<int64_t>(data->size()))
      return c.Fail(fmt::format("indices {} name {} dimensions but data has rank {}",
                                ToString(*indices), named, data->size()));
    Shape updates(indices->begin(), indices->end() - 1);
    updates.insert(updates.end(), data->begin() + named, data->end());
    if (!CheckShape(c, 2, updates)) return false;
  }
  return SetTensor(c, 0, dtype, data);
}

void LoadMovementOps(IrContext& context) {
  AddOps<Transpose, Concat, Split, Slice, Gather, Expand, Tile, Pad, ScatterND>(context);
}

}  // namespace weft::ir::ops
