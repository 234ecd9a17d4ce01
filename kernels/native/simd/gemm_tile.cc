#include "kernels/native/simd/gemm_tile.h"

#include <array>

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

// What comes after a group of columns, and how row tiles bring it near while they work on that one: evenly, a line per
// `every` rows of B, the first `tiles` of them. All at once they would take the 16 lines that an L1 cache can wait for,
// and the loads of A would wait behind them. Panels of a group come one after the other.
struct Ahead {
  const float* next = nullptr;
  int64_t every = 0, tiles = 0;  // 0: nothing
  int64_t floats_per_tile = 0;
  int64_t tiles_per_panel = 0, panel_stride = 0;

  const float* At(int64_t tile) const {
    return next + tile / tiles_per_panel * panel_stride + tile % tiles_per_panel * floats_per_tile;
  }
};

// Of groups of `columns`, half a panel or whole ones. `next_column`: of the next group of the part, or, behind the
// last, of the first of the next part.
Ahead AheadOf(const Block& block, const Tile& tile, const Part& part, int64_t row_tiles,
              int64_t columns, int64_t next_column) {
  const bool in_part = tile.b < block.b.At(next_column) + part.begin * tile.b_stride;
  const int64_t lines = columns / kLine;  // of a row
  const int64_t panels = std::max<int64_t>(1, columns / kPanel);
  if (lines == 0 || block.b.row_stride != 0 || tile.b_stride != kPanel || row_tiles < lines ||
      (!in_part && part.is_last) ||
      RoundUp(next_column + 1, kPanel) + (panels - 1) * kPanel > block.b.columns)
    return {};
  const int64_t every = row_tiles >= 4 * lines ? 4 : row_tiles >= 2 * lines ? 2 : 1;
  const int64_t rows = tile.depth * tile.segments / every;  // of which each brings a line
  return {.next = block.b.At(next_column) + (in_part ? part.begin : part.end) * tile.b_stride,
          .every = every,
          .tiles = every * lines,
          .floats_per_tile = rows * AheadStep(columns),
          .tiles_per_panel = every * lines / panels,
          .panel_stride = block.b.panel_stride};
}

void RunPart(const TileSet& tiles, const Block& block, const Part& part, int64_t rows,
             int64_t first, int64_t last) {
  Tile tile = block.tile;
  tile.depth = part.end - part.begin;
  tile.accumulate = block.tile.accumulate || part.begin != 0;
  bool activate = false;
  if (part.is_last) {
    activate = FoldActivation(block.activation, &tile.activation);
  } else {
    tile.residual = nullptr;
  }
  const int64_t packed_end = std::min(PackedColumns(last), PackedColumns(block.b.columns));
  for (int64_t column = first; column < last;) {
    const TileShape shape = tiles.ShapeFor(rows, packed_end - column);
    const int64_t columns = tiles.lanes << shape.width;
    tile.b_stride = block.b.RowStrideAt(column);
    tile.b = block.b.At(column) + part.begin * tile.b_stride;
    tile.b_panel_stride = block.b.panel_stride;
    tile.columns = std::min(columns, last - column);
    tile.bias = block.bias == nullptr ? nullptr : block.bias + column;
    const Ahead ahead = AheadOf(block, tile, part, shape.row_tiles, columns,
                                column + columns < last ? column + columns : first);
    int64_t row = 0;
    for (int64_t i = 0; i < shape.row_tiles; ++i) {
      const int64_t height = rows / shape.row_tiles + (i < rows % shape.row_tiles ? 1 : 0);
      tile.a = block.tile.a + row * tile.a_stride + part.begin;
      tile.c = block.tile.c + row * tile.c_stride + column;
      if (tile.residual != nullptr) {
        tile.residual = block.tile.residual + row * tile.residual_stride + column;
      }
      tile.ahead_mask = i < ahead.tiles ? ahead.every - 1 : Tile::kNoneAhead;
      tile.ahead = i < ahead.tiles ? ahead.At(i) : nullptr;
      tiles.run[shape.width][height](tile);
      if (activate) {
        tiles.activate(block.activation, tile.c, tile.c_stride, height, tile.columns);
      }
      row += height;
    }
    column += columns;
  }
}

}  // namespace

const TileSet& TilesFor(Isa isa) { return *WEFT_DISPATCH_ON(isa, kTiles); }

const TileSet& TilesFor(const ComputeMode& mode, int64_t rows, int64_t depth, int64_t columns) {
  // Of an instruction set with all precisions.
  using WithTerms = std::array<TileSet, kMatmulPrecisions.size()>;
  const auto with_terms = [](Isa isa) {
    WithTerms all;
    for (size_t i = 0; i < all.size(); ++i) {
      all[i] = TilesFor(isa);
      all[i].term_tiles = TermTilesFor({isa, kMatmulPrecisions[i]});
    }
    return all;
  };
  static const WithTerms amx = with_terms(Isa::kAmx), emulated = with_terms(Isa::kEmulatedAmx);
  const bool has_terms = mode.isa == Isa::kEmulatedAmx || mode.isa == Isa::kAmx;
  if (!has_terms || !PaysOnTiles(rows, depth, columns, mode.precision)) return TilesFor(mode.isa);
  return (mode.isa == Isa::kAmx ? amx : emulated)[static_cast<size_t>(mode.precision)];
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
  const bool deep = block.tile.segments == 1 && depth > kPartDepth * 3 / 2;
  Block whole = block;
  // Also where there is one part: the order of sums must not depend on how rows are cut.
  if (deep && whole.tile.residual == whole.tile.c) StartFromResidual(&whole);
  // Few rows use a panel too few times for it to matter where it is.
  const bool cut = deep && rows > 2 * tiles.max_rows;
  const int64_t parts = cut ? (depth + kPartDepth - 1) / kPartDepth : 1;
  for (int64_t i = 0; i < parts; ++i) {
    const Part part = {depth * i / parts, depth * (i + 1) / parts, i + 1 == parts};
    RunPart(tiles, whole, part, rows, first, last);
  }
}

}  // namespace weft::kernels::simd
