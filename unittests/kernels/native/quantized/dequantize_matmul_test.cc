// Products with weights quantised in blocks, packed by columns when the kernel is made: against the reference body.
#include <fmt/format.h>

#include "ir/dialects/fused/quantized_products.h"
#include "unittests/kernels/agreement.h"

namespace weft::kernels {
namespace {

struct Weights {
  DataType dtype = DataType::kI4;
  int64_t k = 64, n = 19, block = 16;
  bool zeros = false;
  bool constant = true;
};

AgreementOf Product(const Weights& w, ir::Shape x) {
  const ir::Shape blocks = {(w.k + w.block - 1) / w.block, w.n};
  const auto integers = [&](const ir::Shape& dims, uint64_t seed) {
    return Operand(*RandomTensor(w.dtype, dims, seed, 0), w.constant);
  };
  ir::Shape y = x;
  y.back() = w.n;
  std::vector<Operand> operands = {Random(std::move(x), 1), integers({w.k, w.n}, 2),
                                   Constant(RandomIn(blocks, 3, -0.1f, 0.2f))};
  if (w.zeros) operands.push_back(integers(blocks, 4));
  return Agreement<fused::DequantizeMatmul>(std::move(operands), {.block_size = w.block},
                                            {FloatResult(y)});
}

TEST(DequantizeMatmul, IsTheReferenceBodyForAllTypes) {
  for (const DataType dtype :
       {DataType::kI2, DataType::kU2, DataType::kI4, DataType::kU4, DataType::kI8, DataType::kU8})
    for (const bool zeros : {false, true})
      for (const int64_t rows : {1, 4, 40}) {
        SCOPED_TRACE(std::string(ir::DataTypeName(dtype)) + (zeros ? " with" : " without") +
                     " zero points, rows: " + std::to_string(rows));
        Product({.dtype = dtype, .zeros = zeros}, {rows, 64}).Of("native", 2e-6);
      }
}

// The last block with one row or but one; odd numbers of blocks, whose zero points fill half a byte.
TEST(DequantizeMatmul, HandlesAllTails) {
  for (const int64_t block : {16, 32, 128})
    for (const int64_t k : {1, 15, 16, 17, 31, 33, 47, 129, 300})
      for (const int64_t n : {1, 2, 33}) {
        SCOPED_TRACE(fmt::format("{} x {} in blocks of {}", k, n, block));
        Product({.k = k, .n = n, .block = block, .zeros = true}, {3, k}).Of("native", 2e-6);
      }
}

TEST(DequantizeMatmul, TakesAnyShapeOfX) {
  Product({}, {64}).Of("native", 2e-6);
  Product({}, {2, 3, 1, 64}).Of("native", 2e-6);
}

TEST(DequantizeMatmul, LeavesTheRestToTheReference) {
  Product({.block = 24}, {3, 64}).Of("reference");
  Product({.block = 8}, {3, 64}).Of("reference");
  Product({.constant = false}, {3, 64}).Of("reference");
  Product({}, {0, 64}).Of("none");
}

}  // namespace
}  // namespace weft::kernels
