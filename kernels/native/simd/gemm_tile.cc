#include "kernels/native/simd/gemm_tile.h"

#include <limits>

#include "kernels/native/simd/amx_gemm.h"

#define WEFT_ISA_BODY "kernels/native/simd/gemm_tile_body.inc"
#include "kernels/native/simd/foreach_isa.inc"

namespace weft::kernels::simd {
namespace {

// Rows [begin, end) of B, and of every segment of A. The first part starts from the bias, the
// others from C.
struct Part {
  int64_t begin;
  int64_t end;
  bool is_last;
};

void RunPart(const TileSet& tiles, const Block& block, const Part& part, int64_t rows,
             int64_t first, int64_t last) {
  Tile tile = block.tile;
  tile.depth = part.end - part.begin;
  tile.accumulate = block.tile.accumulate || part.begin != 0;
  bool activate = false;
  if (part.is_last) {
    activate = FoldActivation(block.activation, &tile);
  } else {
    tile.residual = nullptr;
  }
  // Tiles of nearly equal height: 128 rows as 8 x 13 + 2 x 12, not 9 x 14 + 2.
  const int64_t row_tiles = (rows + tiles.max_rows - 1) / tiles.max_rows;
  const int64_t highest = (rows + row_tiles - 1) / row_tiles;
  const int64_t packed_end = std::min(PackedColumns(last), PackedColumns(block.b.columns));
  for (int64_t column = first; column < last;) {
    const int width = tiles.WidthFor(highest, packed_end - column);
    const int64_t columns = tiles.lanes << width;
    tile.b_stride = block.b.RowStrideAt(column);
    tile.b = block.b.At(column) + part.begin * tile.b_stride;
    tile.b_panel_stride = block.b.panel_stride;
    tile.columns = std::min(columns, last - column);
    tile.bias = block.bias == nullptr ? nullptr : block.bias + column;
    const bool prefetch = block.b.row_stride == 0 && columns >= kPanel && row_tiles > 1 &&
                          column + 2 * columns <= block.b.columns;
    const int64_t prefetch_tiles = columns / 16;
    int64_t row = 0;
    for (int64_t i = 0; i < row_tiles; ++i) {
      const int64_t height = rows / row_tiles + (i < rows % row_tiles ? 1 : 0);
      tile.a = block.tile.a + row * tile.a_stride + part.begin;
      tile.c = block.tile.c + row * tile.c_stride + column;
      if (tile.residual != nullptr) {
        tile.residual = block.tile.residual + row * tile.residual_stride + column;
      }
      // Every row tile brings one line per row of the next panels: the first those at column 0, the
      // second at 16, ...
      const int64_t next = column + columns + i * 16;
      tile.prefetch = prefetch && i < prefetch_tiles ? block.b.At(next) - block.b.At(column) : 0;
      tiles.run[width][height](tile);
      if (activate) {
        tiles.activate(block.activation, tile.c, tile.c_stride, height, tile.columns);
      }
      row += height;
    }
    column += columns;
  }
}

}  // namespace

bool FoldActivation(const Activation& activation, Tile* tile) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  switch (activation.kind) {
    case ActivationKind::kNone:
      return false;
    case ActivationKind::kRelu:
      tile->clamp = true;
      tile->lowest = 0;
      tile->highest = kInfinity;
      return false;
    case ActivationKind::kClip:
      tile->clamp = true;
      tile->lowest = activation.a;
      tile->highest = activation.b;
      return false;
    default:
      return true;
  }
}

const TileSet& TilesFor(Isa isa) { return *WEFT_DISPATCH_ON(isa, kTiles); }

const TileSet& TilesFor(Isa isa, int64_t rows, int64_t depth, int64_t columns) {
  const auto with_terms = [](Isa which) {
    TileSet tiles = TilesFor(which);
    tiles.term_tiles = TermTilesFor(which);
    return tiles;
  };
  static const TileSet amx = with_terms(Isa::kAmx), emulated = with_terms(Isa::kEmulatedAmx);
  const TileSet& tiles = isa == Isa::kEmulatedAmx ? emulated : amx;
  const bool has_terms = isa == Isa::kEmulatedAmx || isa == Isa::kAmx;
  return has_terms && PaysOnTiles(rows, depth, columns) ? tiles : TilesFor(isa);
}

void RunBlock(const TileSet& tiles, const Block& block, int64_t rows, int64_t first, int64_t last) {
  const Tile& tile = block.tile;
  if (tiles.term_tiles != nullptr && tile.segments == 1 && tile.depth > 0 && rows > 0) {
    RunBlockOnTiles(*tiles.term_tiles, tiles, block, rows, first, last);
  } else {
    RunBlockOnVectors(tiles, block, rows, first, last);
  }
}

void RunBlockOnVectors(const TileSet& tiles, const Block& block, int64_t rows, int64_t first,
                       int64_t last) {
  if (rows == 0 || first >= last) return;
  const int64_t depth = block.tile.depth;
  if (block.tile.segments != 1 || rows * depth <= kCachedRowsOfA || depth <= kMaxDepth) {
    RunPart(tiles, block, {0, depth, true}, rows, first, last);
    return;
  }
  Block whole = block;
  if (whole.tile.residual == whole.tile.c) StartFromResidual(&whole);
  const int64_t parts = (depth + kMaxDepth - 1) / kMaxDepth;
  for (int64_t i = 0; i < parts; ++i) {
    const Part part = {depth * i / parts, depth * (i + 1) / parts, i + 1 == parts};
    RunPart(tiles, whole, part, rows, first, last);
  }
}

}  // namespace weft::kernels::simd
