// Internal to kernels/native/simd: the matrix kernel under Gemm, BatchMatmul, Conv2d and Attention.
//
// B is read in panels: kPanel neighbouring columns, row after row; a last panel that needs no more
// is 16 wide. One layout serves all instruction sets. A is read in place. A tile is a block of C
// that fits the vector registers; every element is one chain of multiply-adds over k in order, so
// results depend on neither the tiling nor the threads.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/isa.h"
#include "kernels/native/simd/activation.h"

namespace weft::kernels::simd {

inline constexpr int64_t kPanel = 32;
inline constexpr int64_t kLine = 16;  // floats of a cache line
// How far the lines of a tile's columns are apart that are brought near: those of a panel follow each other.
constexpr int64_t AheadStep(int64_t columns) { return columns < kPanel ? kPanel : kLine; }

// How many of b hold a; the least multiple of `to` that is not below a.
inline int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
inline int64_t RoundUp(int64_t a, int64_t to) { return CeilDiv(a, to) * to; }

// Columns that are stored for `columns` that exist: the last panel is padded with zeros to 16
// or 32.
inline int64_t PackedColumns(int64_t columns) { return (columns + 15) / 16 * 16; }

// The columns of a B that is packed, or that lies row-major in memory and has a multiple of 16
// columns.
struct Panels {
  const float* data = nullptr;
  int64_t row_stride = 0;  // 0: packed, where a row of a panel follows the other
  int64_t panel_stride = 0;
  int64_t columns = 0;

  static Panels Packed(const float* data, int64_t rows, int64_t columns) {
    return {data, 0, kPanel * rows, columns};
  }
  static Panels InPlace(const float* data, int64_t row_stride, int64_t columns) {
    return {data, row_stride, kPanel, columns};
  }
  const float* At(int64_t column) const {
    return data + column / kPanel * panel_stride + column % kPanel;
  }
  int64_t RowStrideAt(int64_t column) const {
    if (row_stride != 0) return row_stride;
    return std::min(kPanel, PackedColumns(columns) - column / kPanel * kPanel);
  }
};

// c[i][j] = sum over s < segments, k < depth of a[i * a_stride + a_offsets[s] + k] * b[b_rows[s] + k][j], added to c or
// the bias; then the residual is added, and the activation applied. Strides count floats.
struct Tile {
  static constexpr int64_t kStart[1] = {0};
  static constexpr int64_t kNoneAhead = INT64_MAX;

  const float* a = nullptr;
  int64_t a_stride = 0;
  const int64_t* a_offsets = kStart;
  int64_t segments = 1;
  int64_t depth = 0;

  const float* b = nullptr;
  const int64_t* b_rows = kStart;
  int64_t b_stride = 0;
  int64_t b_panel_stride = 0;
  // Lines brought near, one after the other: one wherever the rows of B that are left and ahead_mask
  // have no bit in common.
  const float* ahead = nullptr;
  int64_t ahead_mask = kNoneAhead;

  float* c = nullptr;
  int64_t c_stride = 0;
  int64_t columns = 0;
  bool accumulate = false;          // start from c instead of the bias
  const float* bias = nullptr;      // [columns], optional
  const float* residual = nullptr;  // optional; may be c
  int64_t residual_stride = 0;
  RegisterActivation activation = {};
};

inline constexpr int kMaxTileRows = 14;
inline constexpr int kTileWidths = 4;  // 1, 2, 4 and 8 vectors
inline constexpr int kWideTile = 2;    // of 4

// Tiles of one width, and how many of nearly equal height: 128 rows as 8 x 13 + 2 x 12, not 9 x 14 + 2.
struct TileShape {
  int width;
  int64_t row_tiles;
};

struct TermTiles;  // kernels/native/simd/amx_gemm.h

// The kernels of one instruction set.
struct TileSet {
  int lanes;
  int max_rows;
  int row_limits[kTileWidths];  // rows whose accumulators fit the registers, per width
  bool prefers_wide;            // products of many rows go in tiles of kWideTile
  void (*run[kTileWidths][kMaxTileRows + 1])(const Tile& tile);  // null beyond the limit
  // c = activation(c) for rows x columns of c.
  void (*activate)(const Activation& activation, float* c, int64_t c_stride, int64_t rows,
                   int64_t columns);
  // Packs panels [first, last) of b[i * row_stride + j * column_stride], i < rows, j < columns.
  void (*pack)(const float* b, int64_t row_stride, int64_t column_stride, int64_t rows,
               int64_t columns, int64_t first, int64_t last, float* packed);
  const TermTiles* term_tiles = nullptr;  // products run on these where given

  // How `rows` rows are cut where B has `packed_columns` columns left. Low and wide tiles load less: with 16 lanes 10
  // vectors for 24 multiply-adds, where 14 rows of two take 16 for 28. And rows of A that lie a multiple of 4 KB apart
  // share a set of an L1 cache, whose 8 or 12 ways hold no more of them.
  TileShape ShapeFor(int64_t rows, int64_t packed_columns) const {
    const int64_t most = row_limits[kWideTile];
    if (prefers_wide && rows > most && (lanes << kWideTile) <= packed_columns)
      return {kWideTile, CeilDiv(rows, most)};
    const int64_t row_tiles = CeilDiv(rows, max_rows);
    return {WidthFor(CeilDiv(rows, row_tiles), packed_columns), row_tiles};
  }

  // The widest tile of `rows` rows where B has `packed_columns` columns left.
  int WidthFor(int64_t rows, int64_t packed_columns) const {
    for (int width = kTileWidths - 1; width > 0; --width) {
      if (rows <= row_limits[width] && (lanes << width) <= packed_columns) return width;
    }
    return 0;
  }
};

// Without term tiles.
const TileSet& TilesFor(Isa isa);
// With term tiles where the mode has them and they are faster for a product of this size. That decides
// for all of a product, so that results do not depend on how it is cut.
const TileSet& TilesFor(const ComputeMode& mode, int64_t rows, int64_t depth, int64_t columns);

// What a block of C = activation(A B + bias + residual) needs besides its tiles.
struct Block {
  Tile tile;  // a, its strides and segments, c, residual and their strides at the first row and
              // column
  Panels b;
  const float* bias = nullptr;
  Activation activation = {};
};

// For a block that passes C more than once and whose residual is C: the first pass must not lose it. Sums start from C,
// and the bias is added last.
inline void StartFromResidual(Block* block) {
  block->tile.accumulate = true;
  block->tile.residual = block->bias;
  block->tile.residual_stride = 0;
  block->bias = nullptr;
}

// What of A should stay in half an L2 cache, in floats, while panel after panel of B passes; of deep
// products, so much of every row.
inline constexpr int64_t kCachedRowsOfA = 128 * 1024;
inline constexpr int64_t kMaxDepth = 1024;
// Products are cut along k into parts of about this, which C carries over: 32 KB of a panel, which an
// L1 cache holds while the rows pass. And rows of A that are 3072 floats apart, say, fall on one set
// of that cache, which holds a part of them.
inline constexpr int64_t kPartDepth = 256;

// Computes rows [0, rows) and columns [first, last) of the block in tiles; `first` is a multiple of
// kPanel. Columns go in groups of a tile's width, whose part of B stays near while the rows pass;
// the next group is prefetched.
void RunBlock(const TileSet& tiles, const Block& block, int64_t rows, int64_t first, int64_t last);
// The same without term tiles.
void RunBlockOnVectors(const TileSet& tiles, const Block& block, int64_t rows, int64_t first,
                       int64_t last);

}  // namespace weft::kernels::simd
