// Several elementwise functions in one pass over memory: a program of rows (rows.h), run on one
// piece of the result after the other, with the values in between in scratch memory that stays in
// the cache. Its numbers are, bit for bit, those of its functions run one by one.
//
//   ElementwiseProgram p(shape);                              // y = max(x * s, 0)
//   const int t = p.AddSlot();
//   p.Add(kMul, {p.Input(0, x_strides, 4), p.Input(1, s_strides, 4)}, p.Slot(t, 4));
//   p.Add(kRelu, {p.Slot(t, 4)}, p.Output(4));
//   p.Run(inputs, y, scratch, pool);
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/native/simd/elementwise/unary.h"
#include "kernels/shape_math.h"
#include "kernels/thread_pool.h"

namespace weft::kernels::simd {

// n elements of up to three operands (null: not given; strides in elements) and of the result.
struct RowArgs {
  const void* in[3] = {};
  int64_t stride[3] = {};
  void* out = nullptr;
  int64_t n = 0;
};

// What one step of a program does to a row.
struct RowFunction {
  void (*run)(const RowFunction& self, const RowArgs& args) = nullptr;
  UnaryParams params;  // run's own
  int64_t cost = 1;    // of an element, in units of TileFor
};

class ElementwiseProgram {
 public:
  // Where a value is.
  struct Place {
    enum class Kind : uint8_t { kNone, kInput, kSlot, kOutput } kind = Kind::kNone;
    int index = 0;         // of an input or slot
    int element_size = 0;  // bytes
    Dims strides;          // in elements, one per dimension of the result
  };

  // Of the result, and of every step. Rank at most kMaxRank, and not empty.
  explicit ElementwiseProgram(std::span<const int64_t> shape) : shape_(shape) {}

  // A value in between; its elements may have up to kSlotElement bytes.
  static constexpr int kSlotElement = 4;
  int AddSlot() { return num_slots_++; }

  Place Input(int index, Dims strides, int element_size) const {
    return {Place::Kind::kInput, index, element_size, strides};
  }
  Place Slot(int index, int element_size) const {
    return {Place::Kind::kSlot, index, element_size, RowMajorStrides(shape_)};
  }
  Place Output(int element_size) const {
    return {Place::Kind::kOutput, 0, element_size, RowMajorStrides(shape_)};
  }
  // At most three operands. The step that writes the output is the last; a step may write over an
  // operand of the same element size.
  void Add(const RowFunction& function, std::span<const Place> operands, const Place& result);
  // From now on the input lies so.
  void SetStrides(int input, const Dims& strides);

  size_t ScratchBytes(int num_threads) const;
  // Addresses by input; `output` may be an input that is not broadcast and has elements of its size.
  void Run(std::span<const void* const> inputs, void* output, std::byte* scratch,
           ThreadPool& pool) const;

 private:
  struct Step {
    RowFunction function;
    Place places[4];        // operands, result
    LoopNest<4> nest = {};  // of the places; those not given go with the result
  };
  struct Memory {
    std::span<const void* const> inputs;
    void* output;
    std::byte* slots;  // of this thread
  };
  LoopNest<4> NestOf(const Place (&places)[4]) const;
  static void RunStep(const Step& step, const Memory& memory, int64_t begin, int64_t end);

  Dims shape_;
  int num_slots_ = 0;
  std::vector<Step> steps_;
};

}  // namespace weft::kernels::simd
