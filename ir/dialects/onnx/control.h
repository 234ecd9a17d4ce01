// Control flow: operators whose graphs are regions. A region may read values of the blocks around it.
//
//   y = onnx.If(cond)  {then_branch} {else_branch}
//   y = onnx.Loop(M, cond, v...)  {body: (i, cond, v...) -> (cond, v..., scan outputs...)}
//   y = onnx.Scan(state..., scan inputs...)  {body: (state..., elements...) -> (state..., elements...)}
//
//   s = onnx.SequenceMap(sequence, sequences or tensors...)  {body: (elements or tensors...) -> (elements...)}
//
// Infer says what follows from the operands, InferFromRegions what the regions return.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ir/dialects/onnx/infer/op_base.h"

namespace weft::ir::ops {

// A branch has no arguments and returns the results.
struct If : PlainOp {
  static constexpr OpInfo kInfo = {.name = "onnx.If",
                                   .operands = {"cond"},
                                   .results = {Variadic("outputs")},
                                   .onnx = "If",
                                   .since = 25,
                                   .num_regions = 2,
                                   .doc = "one of two branches"};
  static bool Infer(InferContext& c);
  static bool Verify(Operation op, std::string* error);
};

// As often as M says, at most as long as cond holds; without both for ever.
struct Loop : PlainOp {
  static constexpr OpInfo kInfo = {
      .name = "onnx.Loop",
      .operands = {Optional("M"), Optional("cond"), Variadic("v_initial")},
      .results = {Variadic("v_final_and_scan_outputs")},
      .onnx = "Loop",
      .since = 25,
      .num_regions = 1,
      .doc = "a body that is repeated"};
  static constexpr uint32_t kFirstCarried = 2;  // operand, and argument of the body
  static bool Infer(InferContext& c);
  static bool Verify(Operation op, std::string* error);
};

// Once per index of the scanned axes, which are of one size. A state keeps its shape.
struct Scan {
  static constexpr OpInfo kInfo = {.name = "onnx.Scan",
                                   .operands = {Variadic("initial_state_and_scan_inputs")},
                                   .results = {Variadic("final_state_and_scan_outputs")},
                                   .onnx = "Scan",
                                   .since = 25,
                                   .num_regions = 1,
                                   .doc = "a body that is run on the slices of tensors"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> num_scan_inputs{};
    Slot<std::optional<Ints>> scan_input_axes{};
    Slot<std::optional<Ints>> scan_input_directions{};
    Slot<std::optional<Ints>> scan_output_axes{};
    Slot<std::optional<Ints>> scan_output_directions{};
    static constexpr auto Fields() {
      return std::tuple(Field{"num_scan_inputs", &Attrs::num_scan_inputs},
                        Field{"scan_input_axes", &Attrs::scan_input_axes},
                        Field{"scan_input_directions", &Attrs::scan_input_directions},
                        Field{"scan_output_axes", &Attrs::scan_output_axes},
                        Field{"scan_output_directions", &Attrs::scan_output_directions});
    }
  };
  static bool Infer(InferContext& c);
  static bool Verify(Operation op, std::string* error);
};

// Once per element of the first sequence. Of the other operands sequences, of the same length, give
// an element each time, and tensors themselves. Without a reference body, which is made from operands
// and attributes: it would be a Loop around the op's own region.
struct SequenceMap : PlainOp {
  static constexpr OpInfo kInfo = {.name = "onnx.SequenceMap",
                                   .operands = {"input_sequence", Variadic("additional_inputs")},
                                   .results = {Variadic("out_sequence")},
                                   .onnx = "SequenceMap",
                                   .since = 17,
                                   .num_regions = 1,
                                   .doc = "a body that is run on the elements of sequences"};
  static bool Infer(InferContext& c);
  static bool Verify(Operation op, std::string* error);
};

// Names of the regions, which are ONNX's of the attributes; none for an op without such regions.
std::span<const std::string_view> RegionNames(Opcode opcode);

// Result types as the regions of `op` give them: null where they do not say, and for ops without such
// regions. `types` has one entry per result. On false *error says what does not fit.
bool InferFromRegions(Operation op, std::span<Type> types, std::string* error);

void LoadControlOps(IrContext& context);

}  // namespace weft::ir::ops
