#include "kernels/native/simd/amx_conv2d.h"

#include <algorithm>
#include <cstring>

#include "kernels/native/simd/amx_gemm.h"
#include "kernels/thread_scratch.h"

namespace weft::kernels::simd {
namespace {

// Half an L2 cache, for the terms of a band and the sums of its outputs.
constexpr int64_t kBandBytes = 1 << 20;
constexpr int64_t kSumBytes = kTermBlock * kTermBlock * static_cast<int64_t>(sizeof(float));

// One axis of the planes. Output `at` sees tap `i` in the plane Phase(i), at + Shift(i) from its
// start: at * stride + i * dilation = (at + Shift) * stride + Phase.
struct PlaneAxis {
  const WindowAxis* axis;

  int64_t Phase(int64_t tap) const { return tap * axis->dilation % axis->stride; }
  int64_t Shift(int64_t tap) const { return tap * axis->dilation / axis->stride; }
  int64_t MaxShift() const { return Shift(axis->kernel - 1); }
  bool IsUsed(int64_t phase) const {
    for (int64_t tap = 0; tap < axis->kernel; ++tap)
      if (Phase(tap) == phase) return true;
    return false;
  }
  int64_t NumPhases() const { return IndexOf(axis->stride); }
  // Of the planes that are used.
  int64_t IndexOf(int64_t phase) const {
    int64_t used = 0;
    for (int64_t p = 0; p < phase; ++p) used += IsUsed(p) ? 1 : 0;
    return used;
  }
  // Where place `at` of a plane lies on the image, or outside of it.
  int64_t InputAt(int64_t at, int64_t phase) const { return at * axis->stride + phase - axis->pad; }
  bool IsOnImage(int64_t input) const { return input >= 0 && input < axis->in; }
};

// How bands of an image lie in memory.
struct Planes {
  PlaneAxis rows, columns;
  int64_t chunks;  // of channels
  int64_t width;   // of a row of a plane, in pixels
  int64_t band_rows;
  int64_t pixels;  // of a plane
  int64_t plane_bytes, term_bytes, phase_bytes;

  int64_t Height() const { return band_rows + rows.MaxShift(); }
  int64_t Bytes() const { return rows.NumPhases() * columns.NumPhases() * phase_bytes; }
};

// Padding behind a row may be that in front of the next.
int64_t PlaneWidth(const PlaneAxis& columns) {
  const WindowAxis& axis = *columns.axis;
  const int64_t width = axis.out + columns.MaxShift();
  if (axis.stride != 1) return width;
  const int64_t behind = width - axis.pad - axis.in;
  return std::max(axis.out, width - std::clamp<int64_t>(behind, 0, axis.pad));
}

Planes MakePlanes(const TermTiles& term_tiles, const ReorderedConv2d& c, int64_t band_rows) {
  Planes p = {{&c.rows}, {&c.columns}, 0, 0, band_rows, 0, 0, 0, 0};
  p.chunks = CeilDiv(c.arguments->shape.in_channels, kTermChunk);
  p.width = PlaneWidth(p.columns);
  // The last block and the last row read past the end. An odd number, so that what is split of a
  // pixel does not fall on few sets of the L1 cache.
  p.pixels = ((p.Height() + 1) * p.width + p.columns.MaxShift() + kTermBlock) | 1;
  p.plane_bytes = p.pixels * kTermRowBytes;
  p.term_bytes = p.chunks * p.plane_bytes;
  p.phase_bytes = term_tiles.terms * p.term_bytes;
  return p;
}

// Splits what the outputs of rows [first, first + band_rows) of an image see.
void SplitBand(const TermTiles& term_tiles, const ReorderedConv2d& c, const Planes& p,
               int64_t image, int64_t first, std::byte* terms) {
  const Conv2dShape& s = c.arguments->shape;
  const float* x = c.arguments->x + image * s.in_height * s.in_width * c.x_stride;
  std::memset(terms, 0, static_cast<size_t>(p.Bytes()));
  for (int64_t row_phase = 0; row_phase < c.rows.stride; ++row_phase) {
    if (!p.rows.IsUsed(row_phase)) continue;
    for (int64_t column_phase = 0; column_phase < c.columns.stride; ++column_phase) {
      if (!p.columns.IsUsed(column_phase)) continue;
      for (int64_t i = 0; i < p.Height(); ++i) {
        const int64_t row = p.rows.InputAt(first + i, row_phase);
        if (!p.rows.IsOnImage(row)) continue;
        for (int64_t j = 0; j < p.width; ++j) {
          const int64_t column = p.columns.InputAt(j, column_phase);
          if (!p.columns.IsOnImage(column)) continue;
          term_tiles.split_row(x + (row * s.in_width + column) * c.x_stride, s.in_channels,
                               terms + (i * p.width + j) * kTermRowBytes, p.plane_bytes,
                               p.term_bytes);
        }
      }
      terms += p.phase_bytes;
    }
  }
}

void FillChunks(const ReorderedConv2d& c, const Planes& p, TermChunk* chunks) {
  const int64_t channels = c.arguments->shape.in_channels;
  for (int64_t i = 0; i < c.rows.kernel; ++i) {
    for (int64_t j = 0; j < c.columns.kernel; ++j) {
      const int64_t phase = p.rows.IndexOf(p.rows.Phase(i)) * p.columns.NumPhases() +
                            p.columns.IndexOf(p.columns.Phase(j));
      const int64_t pixel = p.rows.Shift(i) * p.width + p.columns.Shift(j);
      for (int64_t k = 0; k < p.chunks; ++k) {
        *chunks++ = {phase * p.phase_bytes + k * p.plane_bytes + pixel * kTermRowBytes,
                     (i * c.columns.kernel + j) * channels + k * kTermChunk,
                     std::min(kTermChunk, channels - k * kTermChunk)};
      }
    }
  }
}

// What a task computes.
struct BandTask {
  const ReorderedConv2d* convolution;
  int64_t width;  // of a row of the planes
  int64_t image, first_row;
};

// Outputs [place, place + count) of the band, all of them on the image.
void Recompute(const void* context, int64_t place, int64_t count, int64_t column, int64_t columns) {
  const auto& task = *static_cast<const BandTask*>(context);
  const ReorderedConv2d& c = *task.convolution;
  while (count > 0) {
    const int64_t row = place / task.width, begin = place % task.width;
    const int64_t end = std::min(c.columns.out, begin + count);
    c.recompute(c.context, task.image, task.first_row + row, {begin, end}, column,
                column + columns);
    count -= end - begin;
    place += end - begin;
  }
}

// How the output is cut: bands of an image times ranges of panels.
struct Grid {
  int64_t band_rows, bands;  // per image
  int64_t task_panels, panel_tasks;
};

Grid MakeGrid(const TermTiles& term_tiles, const ReorderedConv2d& c, int num_threads) {
  constexpr int64_t kTasksPerThread = 3;
  constexpr int64_t kLeastWork = 1024 * 1024;
  const Conv2dShape& s = c.arguments->shape;
  const int64_t weights = c.arguments->weights->k() * s.out_channels;
  const int64_t work = weights * c.rows.out * c.columns.out * s.batch;
  const int64_t wanted =
      num_threads == 1 ? 1 : std::min(kTasksPerThread * num_threads, work / kLeastWork + 1);
  const int64_t per_image = CeilDiv(wanted, s.batch), panels = CeilDiv(s.out_channels, kPanel);
  const Planes row = MakePlanes(term_tiles, c, 1), rows = MakePlanes(term_tiles, c, 2);
  const int64_t row_bytes = rows.Bytes() - row.Bytes() + row.width * kTermBlock * 4;
  Grid grid;
  grid.bands = CeilDiv(c.rows.out * row_bytes, kBandBytes);
  if (weights <= s.in_height * s.in_width * s.in_channels)
    grid.bands = std::max(grid.bands, per_image);
  grid.band_rows = CeilDiv(c.rows.out, std::min(grid.bands, c.rows.out));
  grid.bands = CeilDiv(c.rows.out, grid.band_rows);
  grid.task_panels = CeilDiv(panels, std::min(CeilDiv(per_image, grid.bands), panels));
  grid.panel_tasks = CeilDiv(panels, grid.task_panels);
  return grid;
}

// Of outputs that exist; -1 for those behind the end of a row.
void FillRowOf(const ReorderedConv2d& c, const Planes& p, int64_t places, int32_t* row_of) {
  for (int64_t i = 0; i < places; ++i) {
    const int64_t row = i / p.width, column = i % p.width;
    row_of[i] = column < c.columns.out ? static_cast<int32_t>(row * c.columns.out + column) : -1;
  }
}

void RunBand(const TermTiles& term_tiles, const ReorderedConv2d& c, const Planes& planes,
             const BandTask& task, int64_t first_panel, int64_t last_panel) {
  const Conv2dArguments& a = *c.arguments;
  const int64_t rows = std::min(planes.band_rows, c.rows.out - task.first_row);
  const int64_t out = (task.image * c.rows.out + task.first_row) * c.columns.out;
  TermProduct p;
  p.rows = rows * planes.width - (planes.width - c.columns.out);
  p.tile_rows = TileRowsFor(p.rows);
  p.a_block = 2 * p.tile_rows * kTermRowBytes;
  p.a_term = planes.term_bytes;
  p.num_chunks = c.rows.kernel * c.columns.kernel * planes.chunks;
  p.b = Panels::Packed(a.weights->data(), a.weights->k(), a.weights->n());
  p.first = first_panel * kPanel;
  p.last = std::min(a.shape.out_channels, last_panel * kPanel);
  if (p.parts() == 1) p.group_panels = last_panel - first_panel;
  p.c = a.y + out * c.y_stride;
  p.c_stride = c.y_stride;
  p.bias = a.bias;
  if (a.residual != nullptr) p.residual = a.residual + out * c.residual_stride;
  p.residual_stride = c.residual_stride;
  p.activation = a.activation;
  p.tiles = c.tiles;
  p.recompute = Recompute;
  p.context = &task;

  const int64_t a_bytes = RoundUp(planes.Bytes(), kTermRowBytes);
  const int64_t b_bytes = 2 * kPartChunks * term_tiles.terms * kTermBlockBytes;
  const int64_t sums_bytes = p.SumsFloats() * 4;
  const int64_t chunks_bytes =
      RoundUp(p.num_chunks * static_cast<int64_t>(sizeof(TermChunk)), kTermRowBytes);
  std::byte* scratch = ThreadScratch(
      a_bytes + b_bytes + sums_bytes + chunks_bytes + p.rows * int64_t{4}, ScratchUse::kTask);
  p.a = scratch;
  p.b_terms = scratch + a_bytes;
  p.sums = reinterpret_cast<float*>(p.b_terms + b_bytes);
  std::byte* end = p.b_terms + b_bytes + sums_bytes;
  auto* chunks = new (end) TermChunk[static_cast<size_t>(p.num_chunks)];
  auto* row_of = new (end + chunks_bytes) int32_t[static_cast<size_t>(p.rows)];
  FillChunks(c, planes, chunks);
  FillRowOf(c, planes, p.rows, row_of);
  p.chunks = chunks;
  p.row_of = row_of;
  SplitBand(term_tiles, c, planes, task.image, task.first_row, p.a);
  term_tiles.run(p);
}

}  // namespace

bool ConvolvesFasterOnTiles(const Conv2dShape& s) {
  // Of the tiles' channels and columns what exists. Tiles are 1.6 to 2.3 times as fast when full.
  const double filled = static_cast<double>(s.in_channels) / RoundUp(s.in_channels, kTermChunk) *
                        static_cast<double>(s.out_channels) /
                        static_cast<double>(RoundUp(s.out_channels, 16));
  return filled >= 0.6 && s.out_channels >= 16 && s.out_height() * s.out_width() >= 24;
}

void Conv2dOnTiles(const TermTiles& term_tiles, const ReorderedConv2d& c, ThreadPool& pool) {
  const Grid grid = MakeGrid(term_tiles, c, pool.num_threads());
  const Planes planes = MakePlanes(term_tiles, c, grid.band_rows);
  const int64_t panels = CeilDiv(c.arguments->shape.out_channels, kPanel);
  const int64_t per_image = grid.bands * grid.panel_tasks;
  pool.ParallelFor(c.arguments->shape.batch * per_image, 1, [&](int64_t index, int64_t) {
    const int64_t panel = index / grid.bands % grid.panel_tasks * grid.task_panels;
    const BandTask task = {&c, planes.width, index / per_image,
                           index % grid.bands * grid.band_rows};
    RunBand(term_tiles, c, planes, task, panel, std::min(panels, panel + grid.task_panels));
  });
}

}  // namespace weft::kernels::simd
