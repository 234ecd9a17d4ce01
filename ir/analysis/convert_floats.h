// Gives the floating point values of a program other element types, with a Cast wherever a value of
// one type meets an op that needs the other.
//
//   ConvertFloats(program, {.target = [](DataType t) { return t == kF32 ? kF16 : t; },
//                           .choose = [](Operation) { return FloatChoice::kConvert; },
//                           .inputs_and_outputs = true});
//
// A value is cast once, right after it is made, however many ops read the result. An op whose
// inference refuses the new types keeps its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "ir/program.h"

namespace weft::ir {

// kFollow: converted where an operand is a value that has been converted, else kept.
enum class FloatChoice : uint8_t { kKeep, kConvert, kFollow };

// An operand or result of an op that would get the element type `to`.
struct FloatSlot {
  Operation op;
  bool is_result = false;
  uint32_t index = 0;
  DataType to = DataType::kNull;
};

struct FloatConversion {
  // The type in place of the one given; the same for types that stay.
  std::function<DataType(DataType)> target;
  // Of an op with regions it is about its operands, results and what its regions take and return;
  // the ops in them are asked for themselves. Ops without definition or with values that are no
  // tensors are kept, and so is what computes in a region in place of an op (kBodyInRegion).
  std::function<FloatChoice(Operation)> choose;
  // Slots of converted ops that keep their types. Not set: none.
  std::function<bool(const FloatSlot&)> keeps = nullptr;
  // Converted ops, without regions, that read numbers as the original types round them: of what a converted op
  // gives, after a Cast there and back. Not set: none.
  std::function<bool(Operation)> rounds = nullptr;
  // Whether inputs, outputs and defaults of inputs are converted too.
  bool inputs_and_outputs = false;
  // The contents of a constant as the type given. Not set, or null: constants get a Cast.
  std::function<Attribute(Attribute dense, Type type)> constant = nullptr;
};

// The number of ops that compute in other types than before.
size_t ConvertFloats(Program& program, const FloatConversion& conversion);

}  // namespace weft::ir
