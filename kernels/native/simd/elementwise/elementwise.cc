#include "kernels/native/simd/elementwise/elementwise.h"

#include <algorithm>

namespace weft::kernels::simd {
namespace {

// Elements of the result at a time: a few slots of them and the inputs they are made of fit the
// first-level cache.
constexpr int64_t kTile = 1024;
constexpr int kResult = 3;

}  // namespace

LoopNest<4> ElementwiseProgram::NestOf(const Place (&places)[4]) const {
  LoopNest<4> nest;
  for (int i = 0; i < shape_.size(); ++i) {
    int64_t strides[4];
    for (int o = 0; o < 4; ++o) {
      const Place& place = places[o];
      strides[o] = (place.kind == Place::Kind::kNone ? places[kResult] : place).strides[i];
    }
    nest.Add(shape_[i], strides);
  }
  nest.Coalesce();
  return nest;
}

void ElementwiseProgram::Add(const RowFunction& function, std::span<const Place> operands,
                             const Place& result) {
  Step step;
  step.function = function;
  std::copy(operands.begin(), operands.end(), step.places);
  step.places[kResult] = result;
  step.nest = NestOf(step.places);
  steps_.push_back(step);
}

void ElementwiseProgram::SetStrides(int input, const Dims& strides) {
  for (Step& step : steps_) {
    for (Place& place : step.places)
      if (place.kind == Place::Kind::kInput && place.index == input) place.strides = strides;
    step.nest = NestOf(step.places);
  }
}

size_t ElementwiseProgram::ScratchBytes(int num_threads) const {
  return static_cast<size_t>(num_threads) * num_slots_ * kTile * kSlotElement;
}

void ElementwiseProgram::Run(std::span<const void* const> inputs, void* output, std::byte* scratch,
                             ThreadPool& pool) const {
  int64_t cost = 1;
  for (const Step& step : steps_) cost += step.function.cost;
  const int64_t count = NumElements(shape_);
  const size_t slots = ScratchBytes(1);
  pool.ParallelForSlots(count, TileFor(count, cost), [&](int slot, int64_t begin, int64_t end) {
    const Memory memory = {inputs, output, scratch + slots * static_cast<size_t>(slot)};
    for (int64_t at = begin; at < end; at += kTile)
      for (const Step& step : steps_) RunStep(step, memory, at, std::min(at + kTile, end));
  });
}

void ElementwiseProgram::RunStep(const Step& step, const Memory& memory, int64_t begin,
                                 int64_t end) {
  const int inner = step.nest.rank - 1;
  RowArgs args;
  for (int o = 0; o < kResult; ++o) args.stride[o] = step.nest.strides[o][inner];
  // A slot holds this piece of its value only.
  const auto address = [&](const Place& place, int64_t offset) -> std::byte* {
    switch (place.kind) {
      case Place::Kind::kNone:
        return nullptr;
      case Place::Kind::kInput:
        return static_cast<std::byte*>(const_cast<void*>(memory.inputs[place.index])) +
               offset * place.element_size;
      case Place::Kind::kSlot:
        return memory.slots + place.index * kTile * kSlotElement +
               (offset - begin) * place.element_size;
      case Place::Kind::kOutput:
        return static_cast<std::byte*>(memory.output) + offset * place.element_size;
    }
    return nullptr;
  };
  step.nest.ForEachRow(begin, end, [&](const int64_t(&offsets)[4], int64_t n) {
    for (int o = 0; o < kResult; ++o) args.in[o] = address(step.places[o], offsets[o]);
    args.out = address(step.places[kResult], offsets[kResult]);
    args.n = n;
    step.function.run(step.function, args);
  });
}

}  // namespace weft::kernels::simd
