// Shapes of a whole program: fix an input's shape or a symbolic dimension, then infer again.
//
//   WEFT_RETURN_IF_ERROR(SetInputShape(program, "x", {1, 3, 224, 224}));
//   WEFT_RETURN_IF_ERROR(SetDim(program, "sequence", 128));
//   WEFT_RETURN_IF_ERROR(PropagateTypes(program));
//
// Shapes that the program computes (Shape, Gather, Concat ... Reshape) are followed where the
// dimensions they come from are known; see ir/dialects/onnx/infer/shape_value.h.
#pragma once

#include <span>
#include <string_view>

#include "ir/base/status.h"
#include "ir/program.h"
#include "ir/rewriter.h"

namespace weft::ir {

// Infers the result types of op and refines what is stated with what is inferred. Fails, naming the
// op, when its operands do not fit or contradict a stated type. An op without inference keeps its
// types.
absl::Status RefineResultTypes(Operation op, Rewriter& rewriter);

// Infers the result types of every operation again, in program order and in regions too, and
// refines them as RefineResultTypes() does; types refined until one fails stay refined.
absl::Status PropagateTypes(Program& program);

// Gives the input `name` (a block argument of the module, or the result of pd.feed) this static
// shape. A symbol in its present shape gets its size in the whole program; a size that is known
// already must be the same.
absl::Status SetInputShape(Program& program, std::string_view name, std::span<const int64_t> dims);
inline absl::Status SetInputShape(Program& program, std::string_view name,
                                  std::initializer_list<int64_t> dims) {
  return SetInputShape(program, name, std::span<const int64_t>(dims.begin(), dims.size()));
}

// The same for sizes that are known already, too: where one becomes another, what the program says of
// the shapes of its values is forgotten, for PropagateTypes() to find anew.
absl::Status OverwriteInputShape(Program& program, std::string_view name,
                                 std::span<const int64_t> dims);

// Replaces a symbolic dimension by its size in the types of all values, in expressions too. Fails when no type has it,
// or when a type would become too large to count its bytes.
absl::Status SetDim(Program& program, std::string_view symbol, int64_t size);

}  // namespace weft::ir
