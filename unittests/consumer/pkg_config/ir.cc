// A program is read and printed with weft-ir alone.
#include <cstdio>

#include "ir/dialects/onnx.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"

int main() {
  weft::ir::IrContext context;
  weft::ir::LoadOnnxDialect(context);
  const std::string text = R"(module {} (%0: tensor<2xf32>) {
 (%1) = "onnx.Relu" (%0) {} : (tensor<2xf32>) -> tensor<2xf32>
 () = "builtin.return" (%1) {} : (tensor<2xf32>) -> 
}
)";
  const auto program = weft::ir::ParseProgram(context, text);
  if (!program.ok()) return std::puts(program.status().ToString().c_str()), 1;
  if (weft::ir::PrintProgram(**program) != text) return std::puts("printed otherwise"), 1;
  return 0;
}
