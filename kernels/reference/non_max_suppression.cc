// Boxes that overlap no better one too much.
#include <algorithm>

#include "ir/dialects/onnx/indexing.h"
#include "kernels/reference/reference.h"

namespace weft::kernels::reference {
namespace {

namespace ops = ir::ops;

struct Box {
  double low[2], high[2], area;
};

// Two opposite corners in any order, or a centre and sizes.
Box ReadBox(const float* box, bool is_center) {
  Box result;
  for (int i = 0; i < 2; ++i) {
    const double a = box[i], b = box[i + 2];
    result.low[i] = is_center ? a - b / 2 : std::min(a, b);
    result.high[i] = is_center ? a + b / 2 : std::max(a, b);
  }
  result.area = (result.high[0] - result.low[0]) * (result.high[1] - result.low[1]);
  return result;
}

// Intersection over union; 0 where either box has no area.
double Overlap(const Box& a, const Box& b) {
  double intersection = 1;
  for (int i = 0; i < 2; ++i) {
    const double side = std::min(a.high[i], b.high[i]) - std::max(a.low[i], b.low[i]);
    if (!(side > 0)) return 0;
    intersection *= side;
  }
  const double total = a.area + b.area - intersection;
  return a.area > 0 && b.area > 0 && total > 0 ? intersection / total : 0;
}

struct Limits {
  int64_t max_boxes = 0;
  double overlap = 0;
  std::optional<double> score;
};

struct Candidate {
  float score;
  int64_t box;
  // Worse: a lower score, or an equal one of a later box.
  bool operator<(const Candidate& other) const {
    return score != other.score ? score < other.score : box > other.box;
  }
};

// Of one class, best first; equal scores in the order of the boxes. Most candidates are never looked at, so they lie in a
// heap, in no order.
std::vector<int64_t> Select(const std::vector<Box>& boxes, const float* scores,
                            const Limits& limits) {
  std::vector<Candidate> heap;
  for (size_t i = 0; i < boxes.size(); ++i) {
    const bool is_candidate = limits.score ? scores[i] > *limits.score : scores[i] == scores[i];
    if (is_candidate) heap.push_back({scores[i], static_cast<int64_t>(i)});
  }
  std::make_heap(heap.begin(), heap.end());
  std::vector<int64_t> selected;
  while (!heap.empty() && static_cast<int64_t>(selected.size()) < limits.max_boxes) {
    std::pop_heap(heap.begin(), heap.end());
    const int64_t box = heap.back().box;
    heap.pop_back();
    const auto overlaps = [&](int64_t other) {
      return Overlap(boxes[static_cast<size_t>(box)], boxes[static_cast<size_t>(other)]) >
             limits.overlap;
    };
    if (std::none_of(selected.begin(), selected.end(), overlaps)) selected.push_back(box);
  }
  return selected;
}

absl::StatusOr<std::vector<Tensor>> NonMaxSuppression(const AttrsOf<ops::NonMaxSuppression>& attrs,
                                                      const KernelArgs& args) {
  const TensorView& scores = args.inputs[1];
  const int64_t batches = scores.dims[0], classes = scores.dims[1], count = scores.dims[2];
  Limits limits;
  if (args.HasInput(2)) limits.max_boxes = ReadInts(args.inputs[2]).front();
  if (args.HasInput(3)) limits.overlap = ReadScalar(args.inputs[3]);
  if (args.HasInput(4)) limits.score = ReadScalar(args.inputs[4]);
  std::vector<int64_t> rows;
  for (int64_t batch = 0; batch < batches; ++batch) {
    std::vector<Box> boxes;
    for (int64_t i = 0; i < count; ++i)
      boxes.push_back(
          ReadBox(args.input<float>(0) + (batch * count + i) * 4, attrs.center_point_box != 0));
    for (int64_t c = 0; c < classes; ++c) {
      const float* of_class = args.input<float>(1) + (batch * classes + c) * count;
      for (const int64_t box : Select(boxes, of_class, limits))
        rows.insert(rows.end(), {batch, c, box});
    }
  }
  std::vector<Tensor> results(1);
  WEFT_ASSIGN_OR_RETURN(
      results[0], CreateDynamic(ir::DataType::kI64, {static_cast<int64_t>(rows.size() / 3), 3}));
  std::copy(rows.begin(), rows.end(), results[0].values<int64_t>().begin());
  return results;
}
absl::Status CheckNonMaxSuppression(const KernelContext& context) {
  const std::span<const int64_t> boxes = context.dims(0), scores = context.dims(1);
  if (boxes.size() != 3 || scores.size() != 3 || boxes[2] != 4 || boxes[0] != scores[0] ||
      boxes[1] != scores[2])
    return context.InvalidArgument("scores " + ir::ToString(scores) + " do not fit boxes " +
                                   ir::ToString(boxes));
  for (size_t i = 0; i < context.num_inputs(); ++i) {
    const ir::DataType dtype = i == 2 ? ir::DataType::kI64 : ir::DataType::kF32;
    if (!context.HasInput(i)) continue;
    if (context.input_type(i).dtype() != dtype)
      return context.Unsupported("operands of these element types");
    if (i >= 2 && context.input_type(i).NumElements() != 1)
      return context.InvalidArgument("operand " + std::to_string(i) + " is not one number");
  }
  return absl::OkStatus();
}
const RegisterSizing<ops::NonMaxSuppression> kNonMaxSuppression(&NonMaxSuppression,
                                                                &CheckNonMaxSuppression);

}  // namespace
}  // namespace weft::kernels::reference
