#include "weft/picture/weights.h"

#include <algorithm>
#include <cmath>

#include "ir/analysis/constant.h"

namespace weft::picture {

std::optional<WeightStatistics> StatisticsOf(ir::Attribute dense) {
  if (!dense.Is(ir::AttrKind::kDense) || dense.IsElided()) return std::nullopt;
  const ir::Type type = dense.dense_type();
  const int64_t size = type.NumElements();
  if (size < 2 || !(ir::IsFloat(type.dtype()) || ir::IsInteger(type.dtype()))) return std::nullopt;
  const int64_t stride = (size + kMostElementsSeen - 1) / kMostElementsSeen;
  WeightStatistics all;
  std::vector<double> values;
  uint64_t zeros = 0;
  double sum = 0;
  for (int64_t i = 0; i < size; i += stride) {
    const double value = ir::DenseElement(dense, i);
    ++all.seen;
    if (!std::isfinite(value)) {
      ++all.not_finite;
      continue;
    }
    if (value == 0) ++zeros;
    sum += value;
    values.push_back(value);
  }
  all.zeros = static_cast<double>(zeros) / static_cast<double>(all.seen);
  if (values.empty()) return all;
  const auto [min, max] = std::minmax_element(values.begin(), values.end());
  all.min = *min;
  all.max = *max;
  all.mean = sum / static_cast<double>(values.size());
  double squares = 0;
  all.histogram.assign(kHistogramBins, 0);
  const double width = all.max - all.min;
  for (const double value : values) {
    squares += (value - all.mean) * (value - all.mean);
    const double at = width > 0 ? (value - all.min) / width * kHistogramBins : 0;
    ++all.histogram[std::min(static_cast<size_t>(at), kHistogramBins - 1)];
  }
  all.deviation = std::sqrt(squares / static_cast<double>(values.size()));
  return all;
}

}  // namespace weft::picture
