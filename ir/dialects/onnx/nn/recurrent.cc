#include "ir/dialects/onnx/nn/recurrent.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/dialects/onnx/infer/agreed.h"
#include "ir/dialects/onnx/infer/infer_util.h"

namespace weft::ir::ops {
namespace {

constexpr size_t kW = 1, kR = 2, kB = 3, kLengths = 4, kInitialH = 5, kInitialC = 6, kP = 7;

struct Layer {  // of which kind it is
  int64_t gates;
  size_t activations;  // of one direction
};

template <class Attrs>
bool CheckRecurrentAttrs(InferContext& c, const Attrs& attrs, const Layer& layer,
                         size_t directions) {
  if (attrs.layout != 0 && attrs.layout != 1)
    return c.Fail(fmt::format("layout is {}", attrs.layout));
  if (attrs.clip && !(*attrs.clip > 0)) return c.Fail(fmt::format("clip is {}", *attrs.clip));
  if (!attrs.activations) return true;
  if (attrs.activations->size() < layer.activations * directions)
    return c.Fail(fmt::format("activations has {} entries but needs {}", attrs.activations->size(),
                              layer.activations * directions));
  const auto known = EnumNames(GateActivation());
  for (const std::string& name : *attrs.activations)
    if (std::find(known.begin(), known.end(), name) == known.end())
      return c.Fail(fmt::format("activations has the unknown {}", name));
  return true;
}

int64_t Times(int64_t dim, int64_t factor) {
  const int64_t dims[] = {dim, factor};
  return ProductOf(dims).value_or(kUnknownDim);
}

// The number of neurons, as the weights and the attribute say; fails when they disagree.
bool HiddenSize(InferContext& c, const std::optional<int64_t>& attribute, int64_t* hidden) {
  *hidden = c.Ranked(kR) ? (*DimsOf(c, kR))[2] : kUnknownDim;
  if (!attribute) return true;
  if (*attribute < 1) return c.Fail(fmt::format("hidden_size is {}", *attribute));
  if (!MergeDim(*hidden, *attribute))
    return c.Fail(fmt::format("hidden_size is {} but r has {} columns", *attribute, *hidden));
  *hidden = *attribute;
  return true;
}

struct Sizes {
  int64_t time = kUnknownDim, batch = kUnknownDim, input = kUnknownDim;
};

Sizes SizesOf(const InferContext& c, bool batch_first) {
  Sizes s;
  if (const Dims x = DimsOf(c, 0))
    s = {(*x)[batch_first ? 1 : 0], (*x)[batch_first ? 0 : 1], (*x)[2]};
  const int64_t lengths = VectorLength(c, kLengths);
  if (!IsStaticDim(s.batch) && IsStaticDim(lengths)) s.batch = lengths;
  return s;
}

template <class O>
bool InferRecurrent(InferContext& c, const Layer& layer) {
  const auto attrs = c.attrs_of<O>();
  DataType dtype;
  const int64_t directions = attrs.direction == RecurrentDirection::kBidirectional ? 2 : 1;
  if (!CheckTensors(c) || !SameDtype(c, {0, kW, kR, kB, kInitialH, kInitialC, kP}, &dtype) ||
      !CheckFloat(c, 0) || !CheckDtype(c, kLengths, DataType::kI32) ||
      !CheckRecurrentAttrs(c, attrs, layer, static_cast<size_t>(directions)))
    return false;
  for (size_t i : {size_t{0}, kW, kR})
    if (!CheckRank(c, i, 3)) return false;
  int64_t hidden;
  if (!HiddenSize(c, attrs.hidden_size, &hidden)) return false;
  const bool batch_first = attrs.layout == 1;
  const Sizes s = SizesOf(c, batch_first);
  const int64_t rows = Times(hidden, layer.gates);
  const Shape w = {directions, rows, s.input}, r = {directions, rows, hidden};
  const Shape b = {directions, Times(rows, 2)}, p = {directions, Times(hidden, 3)};
  const Shape state =
      batch_first ? Shape{s.batch, directions, hidden} : Shape{directions, s.batch, hidden};
  const Shape y = batch_first ? Shape{s.batch, s.time, directions, hidden}
                              : Shape{s.time, directions, s.batch, hidden};
  if (!CheckShape(c, kW, w) || !CheckShape(c, kR, r) || !CheckShape(c, kB, b) ||
      !CheckShape(c, kLengths, {&s.batch, 1}) || !CheckShape(c, kInitialH, state) ||
      !CheckShape(c, kInitialC, state) || !CheckShape(c, kP, p))
    return false;
  return SetTensor(c, 0, dtype, y) && SetTensor(c, 1, dtype, state) &&
         SetTensor(c, 2, dtype, state);
}

}  // namespace

bool RNN::Infer(InferContext& c) { return InferRecurrent<RNN>(c, {.gates = 1, .activations = 1}); }
bool GRU::Infer(InferContext& c) { return InferRecurrent<GRU>(c, {.gates = 3, .activations = 2}); }
bool LSTM::Infer(InferContext& c) {
  return InferRecurrent<LSTM>(c, {.gates = 4, .activations = 3});
}

void LoadRecurrentOps(IrContext& context) { AddOps<RNN, GRU, LSTM>(context); }

}  // namespace weft::ir::ops
