// Options of the pass convert-floats: a program in another floating point type.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ir/analysis/convert_floats.h"

namespace weft::passes {

// What the statistics of the pass count.
inline constexpr char kConvertedOps[] = "operations converted", kKeptOps[] = "operations kept",
                      kClampedWeights[] = "weights out of range",
                      kLostWeights[] = "weights too small";

struct ConvertFloatsOptions {
  // f32, f16 or bf16; the other two become it, f64 stays.
  ir::DataType to = ir::DataType::kF16;
  bool keep_io = false;  // inputs and outputs keep their types
  // Ops that keep theirs, besides fused ones: by operator, as onnx.Softmax or Softmax, or by location, which is the name
  // of an ONNX node. InvalidArgument for one that the program has not.
  std::vector<std::string> keep = {};
  // Whether an operand or result may have the type. Not set: all may that inference lets pass.
  std::function<bool(const ir::FloatSlot&)> takes = nullptr;
};

}  // namespace weft::passes
