#include "kernels/native/simd/amx_gemm.h"

#include <cmath>
#include <new>

#include "kernels/thread_scratch.h"

#define WEFT_ISA_BODY "kernels/native/simd/amx_gemm_body.inc"
#include "kernels/native/simd/foreach_isa.inc"

namespace weft::kernels::simd {
namespace {

// Half an L2 cache for the terms of rows of A, a fourth for sums that wait for the next part of the
// depth. (2 MB on all CPUs with AMX so far.)
constexpr int64_t kBytesOfA = 1 << 20;
constexpr int64_t kBytesOfSums = 1 << 19;
// Of A one line apart more, so that what is split of a row does not fall on two sets of the L1 cache.
constexpr int64_t kTermBytesOfA = kTermBlockBytes + kTermRowBytes;

int64_t ChunkBytesOfA(const TermTiles& term_tiles) { return term_tiles.terms * kTermBytesOfA; }

// What the f32 kernel needs to compute a block again.
struct Original {
  const TileSet* tiles;
  const Block* block;
};

void Recompute(const void* context, int64_t row, int64_t rows, int64_t column, int64_t columns) {
  const auto& original = *static_cast<const Original*>(context);
  Block block = *original.block;
  block.tile.a += row * block.tile.a_stride;
  block.tile.c += row * block.tile.c_stride;
  if (block.tile.residual != nullptr) block.tile.residual += row * block.tile.residual_stride;
  RunBlockOnVectors(*original.tiles, block, rows, column, column + columns);
}

// Everything but memory and the rows.
TermProduct ProductOf(const TermTiles& term_tiles, const TileSet& tiles, const Block& block,
                      int64_t first, int64_t last) {
  const Tile& tile = block.tile;
  TermProduct p;
  p.a_term = kTermBytesOfA;
  p.a_chunk = ChunkBytesOfA(term_tiles);
  p.a_source_stride = tile.a_stride;
  p.depth = tile.depth;
  p.num_chunks = CeilDiv(tile.depth, kTermChunk);
  p.a_block = CeilDiv(p.num_chunks, p.parts()) * p.a_chunk;
  p.b = block.b;
  p.first = first;
  p.last = last;
  p.c_stride = tile.c_stride;
  p.accumulate = tile.accumulate;
  p.bias = block.bias;
  p.residual_stride = tile.residual_stride;
  p.activation = block.activation;
  p.tiles = &tiles;
  p.recompute = Recompute;
  return p;
}

}  // namespace

const TermTiles* TermTilesFor(const ComputeMode& mode) {
  const auto precision = static_cast<size_t>(mode.precision);
  if (mode.isa == Isa::kEmulatedAmx) return &baseline::kTermTiles[precision];
#if defined(__x86_64__)
  if (mode.isa == Isa::kAmx) return &avx512::kTermTiles[precision];
#endif
  return nullptr;
}

bool PaysOnTiles(int64_t rows, int64_t depth, int64_t columns, MatmulPrecision precision) {
  if (rows < 24 || depth < 16 || columns < 16) return false;
  // Nanoseconds on one thread of a Granite Rapids, fitted to 20 shapes of transformers and pointwise
  // convolutions with weights from memory; most come out within 20 %.
  const auto m = static_cast<double>(rows), n = static_cast<double>(columns),
             k = static_cast<double>(depth);
  const auto whole_k = static_cast<double>(RoundUp(depth, kTermChunk)),
             whole_n = static_cast<double>(RoundUp(columns, kPanel)),
             vector_n = static_cast<double>(RoundUp(columns, 16));
  const double products = NumTermProducts(NumTerms(precision));
  const double multiply = 2 * m * whole_n * whole_k / 380 * products / NumTermProducts(3),
               split_a = 0.2 * m * whole_k, split_b = 0.22 * k * n, blocks = 0.06 * m * whole_n,
               finish = 0.22 * m * n;
  // To configure tiles, and for all threads to wait once more, when A is split: with this products of
  // bert_tiny and mobilenet_v2 that two threads do not make faster on tiles stay on vectors.
  constexpr double kStart = 16000;
  const double on_tiles = kStart + multiply + split_a + split_b + blocks + finish;
  const double on_vectors = 2 * m * vector_n * k / 178 + 0.05 * m * n + 0.05 * k * n;
  return 1.1 * on_tiles < on_vectors;
}

int64_t TileRowsFor(int64_t rows) { return CeilDiv(rows, CeilDiv(rows, kTermBlock / 2)); }

int64_t TermBytesOfA(const TermTiles& term_tiles, int64_t rows, int64_t depth) {
  const int64_t block_rows = 2 * TileRowsFor(rows);
  return CeilDiv(rows, block_rows) * CeilDiv(depth, kTermChunk) * ChunkBytesOfA(term_tiles);
}

void SplitRowsOfA(const TermTiles& term_tiles, const Tile& tile, int64_t rows, int64_t first,
                  int64_t last, std::byte* terms) {
  const int64_t block_rows = 2 * TileRowsFor(rows);
  const int64_t chunk_bytes = ChunkBytesOfA(term_tiles);
  const int64_t block_bytes = CeilDiv(tile.depth, kTermChunk) * chunk_bytes;
  for (int64_t row = first; row < last; ++row) {
    term_tiles.split_row(tile.a + tile.a_offsets[0] + row * tile.a_stride, tile.depth,
                         terms + row / block_rows * block_bytes + row % block_rows * kTermRowBytes,
                         chunk_bytes, kTermBytesOfA);
  }
}

void RunBlockOnTiles(const TermTiles& term_tiles, const TileSet& tiles, const Block& block,
                     int64_t rows, int64_t first, int64_t last, std::byte* terms_of_a) {
  if (rows == 0 || first >= last) return;
  TermProduct p = ProductOf(term_tiles, tiles, block, first, last);
  p.tile_rows = TileRowsFor(rows);
  const int64_t blocks = CeilDiv(rows, 2 * p.tile_rows), panels = CeilDiv(last - first, kPanel);
  const int64_t groups = CeilDiv(blocks, std::max<int64_t>(1, kBytesOfA / p.a_block));
  const int64_t group_blocks = CeilDiv(blocks, groups), group_rows = group_blocks * 2 * p.tile_rows;
  constexpr int64_t kSumBytes = kTermBlock * kTermBlock * sizeof(float);
  p.rows = group_rows;
  p.group_panels = p.parts() == 1
                       ? panels
                       : std::clamp<int64_t>(kBytesOfSums / (group_blocks * kSumBytes), 1, panels);

  const int64_t chunks_bytes =
      RoundUp(p.num_chunks * static_cast<int64_t>(sizeof(TermChunk)), kTermRowBytes);
  const bool is_split = terms_of_a != nullptr;
  const int64_t a_bytes = is_split ? 0 : group_blocks * p.a_block,
                b_bytes = 2 * kPartChunks * term_tiles.terms * kTermBlockBytes;
  std::byte* scratch =
      ThreadScratch(chunks_bytes + a_bytes + b_bytes + p.SumsFloats() * 4, ScratchUse::kTask);
  auto* chunks = new (scratch) TermChunk[static_cast<size_t>(p.num_chunks)];
  p.chunks = chunks;
  p.a = scratch + chunks_bytes;
  p.b_terms = p.a + a_bytes;
  p.sums = reinterpret_cast<float*>(p.b_terms + b_bytes);
  for (int64_t part = 0; part < p.parts(); ++part) {
    for (int64_t i = p.PartBegin(part); i < p.PartBegin(part + 1); ++i) {
      const int64_t row = i * kTermChunk;
      const int64_t first_of_a = is_split ? 0 : p.PartBegin(part);
      chunks[i] = {(i - first_of_a) * p.a_chunk, block.tile.b_rows[0] + row,
                   std::min(kTermChunk, p.depth - row)};
    }
  }
  if (is_split) p.a_block = p.num_chunks * p.a_chunk;
  for (int64_t row = 0; row < rows; row += group_rows) {
    Block part = block;
    part.tile.a += row * block.tile.a_stride;
    part.tile.c += row * block.tile.c_stride;
    if (part.tile.residual != nullptr) part.tile.residual += row * block.tile.residual_stride;
    const Original original = {&tiles, &part};
    p.rows = std::min(group_rows, rows - row);
    if (is_split) {
      p.a = terms_of_a + row / (2 * p.tile_rows) * p.a_block;
    } else {
      p.a_source = part.tile.a + block.tile.a_offsets[0];
    }
    p.c = part.tile.c;
    p.residual = part.tile.residual;
    p.context = &original;
    term_tiles.run(p);
  }
}

}  // namespace weft::kernels::simd
