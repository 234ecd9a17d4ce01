// The builtin dialect: module, constants, named parameters, tuples, return. Loaded by every
// IrContext.
#pragma once

#include "ir/infer.h"
#include "ir/op_def.h"

namespace weft::ir {

// The top of a program: one region, one block. Block arguments are the program's inputs; a final
// builtin.return gives its outputs (Paddle programs use pd.feed and pd.fetch instead of both).
struct ModuleOp {
  static constexpr OpInfo kInfo = {.name = "builtin.module",
                                   .operands = {},
                                   .results = {},
                                   .traits = kIsolated,
                                   .num_regions = 1,
                                   .doc = "a whole program"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<std::optional<Strings>> input_names{};   // of the block arguments
    Slot<std::optional<Strings>> output_names{};  // of the operands of builtin.return
    // Inputs that the caller may leave out; then they are the parameters of these names.
    Slot<std::optional<Strings>> default_inputs{};
    static constexpr auto Fields() {
      return std::tuple(Field{"input_names", &Attrs::input_names},
                        Field{"output_names", &Attrs::output_names},
                        Field{"default_inputs", &Attrs::default_inputs});
    }
  };
};

// Ends a block; its operands are the outputs of the program, or the results of the op whose region
// it ends.
struct ReturnOp {
  static constexpr OpInfo kInfo = {.name = "builtin.return",
                                   .operands = {Variadic("values")},
                                   .results = {},
                                   .traits = kTerminator,
                                   .doc = "ends a block and gives its results"};
  template <template <class> class Slot>
  using Attrs = NoAttrs<Slot>;
};

struct ConstantOp {
  static constexpr OpInfo kInfo = {.name = "builtin.constant",
                                   .operands = {},
                                   .traits = kPure | kConstantLike,
                                   .doc = "a tensor known before run time"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<Attribute> value{};  // dense; Paddle listings also have IntArray here
    static constexpr auto Fields() { return std::tuple(Field{"value", &Attrs::value}); }
  };
  static bool Infer(InferContext& c);
};

struct GetParameterOp {
  static constexpr OpInfo kInfo = {.name = "builtin.get_parameter",
                                   .operands = {},
                                   .traits = kPure | kConstantLike,
                                   .doc = "a named weight of the program"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<std::string> parameter_name{};
    static constexpr auto Fields() {
      return std::tuple(Field{"parameter_name", &Attrs::parameter_name});
    }
  };
};

struct CombineOp {
  static constexpr OpInfo kInfo = {.name = "builtin.combine",
                                   .operands = {Variadic("inputs")},
                                   .traits = kPure | kView,
                                   .doc = "a vector of its operands"};
  template <template <class> class Slot>
  using Attrs = NoAttrs<Slot>;
  static bool Infer(InferContext& c);
};

struct SplitOp {
  static constexpr OpInfo kInfo = {.name = "builtin.split",
                                   .operands = {"input"},
                                   .results = {Variadic("outputs")},
                                   .traits = kPure | kView,
                                   .doc = "the elements of a vector, one result each"};
  template <template <class> class Slot>
  using Attrs = NoAttrs<Slot>;
  static bool Infer(InferContext& c);
};

void LoadBuiltinDialect(IrContext& context);

}  // namespace weft::ir
