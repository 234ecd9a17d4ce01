// A model is read with weft-onnx: onnx MODEL.onnx
#include "ir/dialects/onnx.h"

#include <cstdio>

#include "tools/onnx/import.h"

int main(int argc, char** argv) {
  if (argc != 2) return std::puts("usage: onnx MODEL.onnx"), 2;
  weft::ir::IrContext context;
  weft::ir::LoadOnnxDialect(context);
  const auto program = weft::onnx::ImportOnnx(context, argv[1]);
  if (!program.ok()) return std::puts(program.status().ToString().c_str()), 1;
  return 0;
}
