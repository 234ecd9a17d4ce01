#include "kernels/native/simd/rotary_embedding.h"

#define WEFT_ISA_BODY "kernels/native/simd/rotary_embedding_body.inc"
#include "kernels/native/simd/foreach_isa.inc"

namespace weft::kernels::simd {

void RotaryEmbedding(const RotaryArguments& arguments, ThreadPool& pool) {
  const int64_t columns = 2 * arguments.pairs;
  if (arguments.rows * columns == 0) return;
  const auto turn = WEFT_DISPATCH(TurnRow);
  pool.ParallelFor(
      arguments.rows, TileFor(arguments.rows, 2 * columns), [&](int64_t begin, int64_t end) {
        int64_t row = begin;
        arguments.angles.ForEachRow(begin, end, [&](const int64_t(&offsets)[2], int64_t n) {
          const int last = arguments.angles.rank - 1;
          for (int64_t i = 0; i < n; ++i, ++row)
            turn(arguments, arguments.x + row * columns,
                 arguments.cos + offsets[0] + i * arguments.angles.strides[0][last],
                 arguments.sin + offsets[1] + i * arguments.angles.strides[1][last],
                 arguments.y + row * columns);
        });
      });
}

}  // namespace weft::kernels::simd
