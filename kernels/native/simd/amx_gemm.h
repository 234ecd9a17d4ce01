// Products of f32 on AMX tiles, as accurate as a chain of multiply-adds in f32.
//
// Every float is three bf16 terms, x = high + middle + low (3 x 8 bits; the first two rounded to
// nearest, so that the errors of what is left out have no bias), and six of the nine products of
// terms are summed in f32: high high, high middle, middle high, middle middle, high low, low high.
// The others are below 2^-24 of the product. Measured over 64 x 64 results, in units of 2^-24 of sum
// |a||b|, worst / root mean square: depth 3072 of normal numbers 1.5 / 0.21, a chain of multiply-adds
// 3.0 / 0.47; of positive ones 15 / 4.2 and 50 / 12.6; of numbers in 2^+-50, depth 777, 13.2 / 1.7
// and 8.2 / 1.4.
//
// What f32 has and terms have not:
// * Inf, NaN, and overflow of a term or a sum make sums that are not finite. A row of a panel with such
//   a sum is computed again by the f32 kernel, whose answer is what it is without tiles.
// * Tiles read denormals as 0 and flush sums to 0: factors below 2^-126 vanish, and below about
//   2^-110 they lose the digits of their lower terms. The error stays below 3 * 2^-126 times the
//   other factor; no test of results sees it.
// * The order of sums is not that of the f32 kernel, so results differ in the last bits between
//   machines with tiles and without; they do not depend on the number of threads.
//
// With MatmulPrecision::kBf16x2 a float is two terms and three products are summed (high high, high
// middle, middle high), with kBf16 one term and one product; the last term is rounded to nearest, too.
// What is left out is at most 3 * 2^-16 and 2^-7 of a product; what is not finite is as above.
//
// B stays in the panels of gemm_tile.h: rows k and k + 1 of a panel are the two halves of a row of a
// tile. It is split into terms while the tiles multiply what was split before, which hides most of
// the work; splitting weights ahead (6 bytes each) is slower where they come from memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/isa.h"
#include "kernels/native/simd/gemm_tile.h"

namespace weft::kernels::simd {

inline constexpr int64_t kTermBlock = 32;     // rows, at most, and columns of C in four tiles
inline constexpr int64_t kTermChunk = 32;     // depth of a tile
inline constexpr int64_t kTermRowBytes = 64;  // of a tile: kTermChunk terms
inline constexpr int64_t kTermTileBytes = 1024;
inline constexpr int64_t kTermBlockBytes = 2 * kTermTileBytes;  // of one term: two tiles
inline constexpr int64_t kPartChunks = 32;  // of A and a panel of B that are split at a time

// Terms of a float, and the products of terms that are summed: those whose places (high 0, middle 1, low 2) add up to
// less than the number of terms.
constexpr int NumTerms(MatmulPrecision precision) { return 3 - static_cast<int>(precision); }
constexpr int NumTermProducts(int terms) { return terms * (terms + 1) / 2; }

// Up to kTermChunk steps along the depth.
struct TermChunk {
  int64_t a;       // where the chunk lies in the terms of A, in bytes from those of the block
  int64_t b_row;   // its first row of B
  int64_t b_rows;  // the rest of the chunk is zeros
};

// C = activation(A B + bias + residual) in blocks, panel after panel.
struct TermProduct {
  // Terms of A: row r of a block, which has twice tile_rows, is at r * kTermRowBytes of the block, the
  // next block at a_block, the next term at a_term.
  std::byte* a = nullptr;
  int64_t tile_rows = 16;
  int64_t a_block = 0;
  int64_t a_term = 0;
  // Where A is split while it is needed, kPartChunks at a time; null: it is split already.
  const float* a_source = nullptr;
  int64_t a_source_stride = 0;
  int64_t a_chunk = 0;  // from chunk to chunk
  int64_t depth = 0;

  const TermChunk* chunks = nullptr;
  int64_t num_chunks = 0;

  Panels b;
  int64_t first = 0;  // column, a multiple of kPanel
  int64_t last = 0;
  int64_t group_panels = 1;  // whose sums are kept from part to part of the depth

  std::byte* b_terms = nullptr;  // two panels of a part
  float* sums = nullptr;         // SumsFloats()

  int64_t rows = 0;
  const int32_t* row_of = nullptr;  // in C, -1: none; null: row i is row i
  float* c = nullptr;
  int64_t c_stride = 0;
  bool accumulate = false;
  const float* bias = nullptr;      // at column 0
  const float* residual = nullptr;  // may be c
  int64_t residual_stride = 0;
  Activation activation = {};
  const TileSet* tiles = nullptr;  // of the f32 kernels

  // Computes rows [row, row + rows) and `columns` columns from `column` on with the f32 kernel.
  void (*recompute)(const void* context, int64_t row, int64_t rows, int64_t column,
                    int64_t columns) = nullptr;
  const void* context = nullptr;

  int64_t blocks() const { return (rows + 2 * tile_rows - 1) / (2 * tile_rows); }
  int64_t parts() const { return (num_chunks + kPartChunks - 1) / kPartChunks; }
  int64_t PartBegin(int64_t part) const { return num_chunks * part / parts(); }
  int64_t SumsFloats() const {
    return kTermBlock * kTermBlock * (parts() == 1 ? 1 : group_panels * blocks());
  }
};

// The implementation for one kind of tiles and one number of terms.
struct TermTiles {
  int64_t terms;  // of a float
  void (*run)(const TermProduct& product);
  // Terms of `n` floats of one row, chunk after chunk; the last is filled up with zeros.
  void (*split_row)(const float* row, int64_t n, std::byte* terms, int64_t chunk_bytes,
                    int64_t term_bytes);
};

// Null where its instruction set has no tiles.
const TermTiles* TermTilesFor(const ComputeMode& mode);

// Whether tiles are faster than the f32 kernels, by an estimate.
bool PaysOnTiles(int64_t rows, int64_t depth, int64_t columns,
                 MatmulPrecision precision = MatmulPrecision::kFloat32);

// Of tiles that cut `rows` evenly: a product takes as long as its tile has rows.
int64_t TileRowsFor(int64_t rows);

// All of A [rows, tile.depth] as terms, for tasks that share it: rows [first, last).
int64_t TermBytesOfA(const TermTiles& term_tiles, int64_t rows, int64_t depth);
void SplitRowsOfA(const TermTiles& term_tiles, const Tile& tile, int64_t rows, int64_t first,
                  int64_t last, std::byte* terms);

// What RunBlock does (gemm_tile.h), for one segment. `first` is a multiple of kPanel. `terms_of_a`:
// by SplitRowsOfA for these rows, or null to split them on the way.
void RunBlockOnTiles(const TermTiles& term_tiles, const TileSet& tiles, const Block& block,
                     int64_t rows, int64_t first, int64_t last, std::byte* terms_of_a = nullptr);

}  // namespace weft::kernels::simd
