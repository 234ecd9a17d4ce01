// The loops that run pd ops in tests: one function for each op, and what they share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "ir/dialects/builtin.h"
#include "ir/dialects/pd.h"
#include "unittests/passes/pd/evaluate.h"

namespace weft::passes {

// Operands that are given, then results, in order; a vector of tensors stands for its elements. Last
// results that nobody reads may be left out.
using PdList = std::vector<PdTensor>;
using PdKernel = PdList (*)(ir::Operation op, const PdList& in);
bool AddPdKernel(std::string_view op_name, PdKernel kernel);

#define WEFT_PD_KERNEL(Op, ...)                                                       \
  [[maybe_unused]] static const bool WEFT_CONCAT(weft_pd_kernel_in_line_, __LINE__) = \
      ::weft::passes::AddPdKernel(Op::kInfo.name, __VA_ARGS__)

inline constexpr double kPi = 3.14159265358979323846;

inline int64_t Count(const ir::Shape& dims) {
  int64_t n = 1;
  for (int64_t d : dims) n *= d;
  return n;
}

// Where broadcasting to a larger shape finds its element at `index`.
inline size_t OffsetAt(const ir::Shape& dims, const ir::Shape& index) {
  int64_t offset = 0;
  const size_t skip = index.size() - dims.size();
  for (size_t i = 0; i < dims.size(); ++i)
    offset = offset * dims[i] + (dims[i] == 1 ? 0 : index[skip + i]);
  return static_cast<size_t>(offset);
}
inline double At(const PdTensor& t, const ir::Shape& index) {
  return t.data[OffsetAt(t.dims, index)];
}

// Every index of a tensor, in the order of its elements.
template <class F>
void ForEachIndex(const ir::Shape& dims, F&& f) {
  ir::Shape index(dims.size(), 0);
  for (int64_t n = Count(dims); n > 0; --n) {
    f(static_cast<const ir::Shape&>(index));
    for (size_t axis = dims.size(); axis > 0 && ++index[axis - 1] == dims[axis - 1]; --axis)
      index[axis - 1] = 0;
  }
}
template <class F>
PdTensor Generate(const ir::Shape& dims, F&& f) {
  PdTensor t{dims, {}};
  ForEachIndex(dims, [&](const ir::Shape& index) { t.data.push_back(f(index)); });
  return t;
}
inline PdTensor Zeros(const ir::Shape& dims) {
  return {dims, std::vector<double>(static_cast<size_t>(Count(dims)))};
}
template <class F>
PdTensor Map(PdTensor t, F&& f) {
  for (double& v : t.data) v = f(v);
  return t;
}

inline ir::Shape Broadcast(ir::Shape a, ir::Shape b) {
  while (a.size() < b.size()) a.insert(a.begin(), 1);
  while (b.size() < a.size()) b.insert(b.begin(), 1);
  for (size_t i = 0; i < a.size(); ++i) a[i] = std::max(a[i], b[i]);
  return a;
}

// Every row along an axis: f(offset of its first entry, stride, offset among the rows).
template <class F>
void ForEachRow(const ir::Shape& dims, int64_t axis, F&& f) {
  const size_t at = static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(dims.size()) : axis);
  int64_t inner = 1, outer = 1;
  for (size_t i = 0; i < dims.size(); ++i) (i < at ? outer : inner) *= i == at ? 1 : dims[i];
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < inner; ++i)
      f(static_cast<size_t>(o * dims[at] * inner + i), static_cast<size_t>(inner),
        static_cast<size_t>(o * inner + i));
}

PdTensor TransposePd(const PdTensor& x, const ir::Ints& perm);
PdTensor AddPd(const PdTensor& x, const PdTensor& y);
PdTensor SoftmaxPd(PdTensor x, int64_t axis);

}  // namespace weft::passes
