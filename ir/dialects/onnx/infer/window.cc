#include "ir/dialects/onnx/infer/window.h"

#include <fmt/format.h>

#include "ir/dim/dim_expr.h"

namespace weft::ir {
namespace {

constexpr int64_t kMaxEntry = INT32_MAX;  // so that sums and products below fit int64

bool CheckList(InferContext& c, std::string_view name, const Ints& list, size_t size, int64_t min) {
  if (list.size() != size)
    return c.Fail(fmt::format("{} has {} entries but needs {}", name, list.size(), size));
  for (int64_t n : list)
    if (n < min || n > kMaxEntry) return c.Fail(fmt::format("{} has the entry {}", name, n));
  return true;
}

bool Complete(InferContext& c, size_t n, Window* w) {
  if (w->strides.empty()) w->strides.assign(n, 1);
  if (w->dilations.empty()) w->dilations.assign(n, 1);
  if (w->pads.empty()) w->pads.assign(2 * n, 0);
  Ints known = w->kernel;
  for (int64_t& size : known)
    if (w->kernel_of_operand && !IsStaticDim(size)) size = 1;
  return CheckList(c, "kernel_shape", known, n, 1) && CheckList(c, "strides", w->strides, n, 1) &&
         CheckList(c, "dilations", w->dilations, n, 1) && CheckList(c, "pads", w->pads, 2 * n, 0);
}

int64_t CeilQuotient(int64_t a, int64_t b) { return a / b + (a % b != 0); }

// The number of positions along a dimension that is no number: what WindowDims computes, for all
// sizes that the window fits. `begin` and `pads` are in force.
DimExpr Positions(const DimExpr& size, int64_t begin, int64_t pads, int64_t extent, int64_t stride,
                  bool ceil_mode, bool may_exceed) {
  const DimExpr room = size + pads - extent;
  if (!ceil_mode) {
    const DimExpr positions = FloorDiv(room, stride) + 1;
    return may_exceed ? Max(positions, 0) : positions;
  }
  // No position begins in the end padding. What holds only of some windows is left out: those on
  // nothing but padding, and more padding at the end than a window is long.
  if ((begin > 0 && !size.IsAtLeast(1)) || pads - begin >= extent) return {};
  const DimExpr last = Min(CeilDiv(room, stride), FloorDiv(size + begin - 1, stride));
  return Max(last + 1, 0);
}

}  // namespace

bool WindowDims(InferContext& c, std::span<const int64_t> spatial, Window w, Shape* result) {
  const size_t n = spatial.size();
  if (!Complete(c, n, &w)) return false;
  result->assign(n, kUnknownDim);
  for (size_t i = 0; i < n; ++i) {
    const int64_t size = spatial[i], stride = w.strides[i];
    const bool same =
        w.auto_pad == ops::AutoPad::kSameUpper || w.auto_pad == ops::AutoPad::kSameLower;
    const int64_t extent = (w.kernel[i] - 1) * w.dilations[i] + 1;
    const bool padded_by_hand = w.auto_pad == ops::AutoPad::kNotSet;
    const int64_t begin = padded_by_hand ? w.pads[i] : 0;
    const int64_t pads = padded_by_hand ? w.pads[i] + w.pads[n + i] : 0;
    if (same) {
      (*result)[i] = CeilDiv(DimExpr::OfDim(size), stride).ToDim();
      continue;
    }
    if (!IsStaticDim(w.kernel[i])) continue;
    if (!IsStaticDim(size)) {
      (*result)[i] =
          Positions(DimExpr::OfDim(size), begin, pads, extent, stride, w.ceil_mode, w.may_exceed)
              .ToDim();
      continue;
    }
    const int64_t room = size + pads - extent;
    if (room < 0 && !w.may_exceed)
      return c.Fail(
          fmt::format("a window of {} does not fit the padded size {}", extent, size + pads));
    if (room < 0) {  // with ceil_mode a window that begins inside may reach beyond the end
      (*result)[i] = w.ceil_mode && size > 0 && -room < stride;
      continue;
    }
    int64_t steps = w.ceil_mode ? CeilQuotient(room, stride) : room / stride;
    if (w.ceil_mode && steps > 0 && steps * stride >= size + begin) --steps;
    (*result)[i] = steps + 1;
  }
  return true;
}

std::optional<Ints> EffectivePads(std::span<const int64_t> spatial, const Window& w) {
  const size_t n = spatial.size();
  if (w.auto_pad == ops::AutoPad::kNotSet) return w.pads.empty() ? Ints(2 * n, 0) : w.pads;
  Ints pads(2 * n, 0);
  if (w.auto_pad == ops::AutoPad::kValid) return pads;
  for (size_t i = 0; i < n; ++i) {
    if (!IsStaticDim(spatial[i])) return std::nullopt;
    const int64_t stride = w.strides.empty() ? 1 : w.strides[i];
    const int64_t dilation = w.dilations.empty() ? 1 : w.dilations[i];
    const int64_t extent = (w.kernel[i] - 1) * dilation + 1;
    const int64_t needed = (CeilQuotient(spatial[i], stride) - 1) * stride + extent - spatial[i];
    const int64_t total = std::max<int64_t>(needed, 0), half = total / 2;
    pads[i] = w.auto_pad == ops::AutoPad::kSameUpper ? half : total - half;
    pads[n + i] = total - pads[i];
  }
  return pads;
}

bool CheckConvChannels(InferContext& c, int64_t channels, std::span<const int64_t> w,
                       int64_t group) {
  if (group < 1 || group > kMaxEntry) return c.Fail(fmt::format("group is {}", group));
  if (IsStaticDim(w[0]) && w[0] % group != 0)
    return c.Fail(fmt::format("w has {} output channels, no multiple of group {}", w[0], group));
  if (!IsStaticDim(w[1])) return true;
  const auto read = CheckedMul(w[1], group);
  if (!read) return c.Fail(fmt::format("w reads {} channels in each of {} groups", w[1], group));
  if (IsStaticDim(channels) && channels != *read)
    return c.Fail(fmt::format("x has {} channels but w reads {} in each of {} groups", channels,
                              w[1], group));
  return true;
}

}  // namespace weft::ir
