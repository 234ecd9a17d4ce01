#include "kernels/native/simd/conv2d.h"

#include "kernels/native/simd/amx_conv2d.h"
#include "kernels/native/simd/amx_gemm.h"
#include "kernels/native/simd/gemm_tile.h"
#include "kernels/native/simd/strided_copy.h"
#include "kernels/native/simd/window_axis.h"
#include "kernels/native/simd/winograd.h"
#include "kernels/thread_scratch.h"

namespace weft::kernels::simd {
namespace {

// Segments of one product; what a larger kernel has more is added in further ones.
constexpr int64_t kMaxSegments = 64;

struct Convolution {
  const Conv2dArguments* arguments;
  const TileSet* tiles;
  WindowAxis rows, columns;
  Range inner_columns;
  int64_t channels;
  int64_t x_stride, y_stride, residual_stride;
  // From a channel of the image to the next; 0: those of a pixel follow one another.
  int64_t plane;
};

// The segments that a block sees of an image: rows of windows, or taps, and of each all channels
// unless those lie in planes of their own.
class Segments {
 public:
  Segments(const Convolution& c, int64_t row, int64_t column, const Range& row_taps,
           const Range& column_taps)
      : c_(c), row_(row), column_(column), row_taps_(row_taps), column_taps_(column_taps) {
    // Neighbouring taps of a row are one segment where their pixels follow each other in memory.
    const bool joined = c.columns.dilation == 1 && column_taps.size() > 0 &&
                        (c.plane != 0 || c.x_stride == c.channels);
    per_row_ = joined ? 1 : column_taps.size();
    depth_ = (joined ? column_taps.size() : 1) * (c.plane != 0 ? 1 : c.channels);
    per_plane_ = row_taps.size() * per_row_;
  }
  int64_t size() const {
    const std::vector<Conv2dArguments::Frame>* frames = c_.arguments->frames;
    if (frames != nullptr) return per_plane_ * static_cast<int64_t>(frames->size());
    return per_plane_ * (c_.plane != 0 ? c_.channels : 1);
  }
  int64_t depth() const { return depth_; }
  void At(int64_t index, int64_t* a_offset, int64_t* b_row) const {
    if (c_.arguments->frames == nullptr) return InImage(index, a_offset, b_row);
    const Conv2dArguments::Frame& frame =
        (*c_.arguments->frames)[static_cast<size_t>(index / per_plane_)];
    InImage(index % per_plane_, a_offset, b_row);
    *a_offset += frame.x_offset;
    *b_row += frame.weights_row;
  }

 private:
  void InImage(int64_t index, int64_t* a_offset, int64_t* b_row) const {
    const int64_t channel = index / per_plane_, in_plane = index % per_plane_;
    const int64_t row_tap = row_taps_.begin + in_plane / per_row_;
    const int64_t column_tap = column_taps_.begin + in_plane % per_row_;
    const int64_t pixel =
        c_.rows.InputAt(row_, row_tap) * c_.columns.in + c_.columns.InputAt(column_, column_tap);
    const int64_t tap = row_tap * c_.columns.kernel + column_tap;
    *a_offset = channel * c_.plane + pixel * c_.x_stride;
    *b_row = c_.plane != 0 ? channel * c_.rows.kernel * c_.columns.kernel + tap : tap * c_.channels;
  }

  const Convolution& c_;
  int64_t row_, column_;
  Range row_taps_, column_taps_;
  int64_t per_row_, per_plane_, depth_;
};

// Computes out channels [first, last) of `count` pixels that lie `step` (pixels of the output, along one axis) apart,
// from (row, column) on. All see the same taps.
void RunPixels(const Convolution& c, int64_t image, int64_t row, int64_t column, int64_t count,
               bool down, const Range& row_taps, const Range& column_taps, int64_t first,
               int64_t last) {
  const Conv2dArguments& a = *c.arguments;
  const Conv2dShape& s = a.shape;
  const int64_t out_pixel = (image * c.rows.out + row) * c.columns.out + column;
  const int64_t in_row_stride = s.in_width * c.x_stride;
  const int64_t step = down ? c.columns.out : 1;
  Block block;
  Tile& tile = block.tile;
  tile.a = a.x + image * s.in_height * in_row_stride * (c.plane != 0 ? c.channels : 1);
  tile.a_stride = down ? c.rows.stride * in_row_stride : c.columns.stride * c.x_stride;
  tile.c = a.y + out_pixel * c.y_stride;
  tile.c_stride = step * c.y_stride;
  if (a.residual != nullptr) {
    tile.residual = a.residual + out_pixel * c.residual_stride;
    tile.residual_stride = step * c.residual_stride;
  }
  block.b = Panels::Packed(a.weights->data(), a.weights->k(), a.weights->n());
  block.bias = a.bias;
  block.activation = a.activation;
  const Segments segments(c, row, column, row_taps, column_taps);
  tile.depth = segments.depth();
  if (segments.size() > kMaxSegments && tile.residual == tile.c) StartFromResidual(&block);
  int64_t a_offsets[kMaxSegments], b_rows[kMaxSegments];
  tile.a_offsets = a_offsets;
  tile.b_rows = b_rows;
  for (int64_t done = 0;;) {
    tile.segments = std::min(segments.size() - done, kMaxSegments);
    for (int64_t i = 0; i < tile.segments; ++i) segments.At(done + i, &a_offsets[i], &b_rows[i]);
    done += tile.segments;
    if (done == segments.size()) break;
    Block part = block;
    part.tile.residual = nullptr;
    part.activation = {};
    RunBlock(*c.tiles, part, count, first, last);
    tile.accumulate = true;
  }
  RunBlock(*c.tiles, block, count, first, last);
}

// The columns whose taps are cut by the left and right border, each for runs of rows with the same taps.
void RunBorderColumn(const Convolution& c, int64_t image, const Range& rows, int64_t column,
                     int64_t first, int64_t last) {
  const Range column_taps = c.columns.TapsAt(column);
  for (int64_t row = rows.begin; row < rows.end;) {
    const Range row_taps = c.rows.TapsAt(row);
    int64_t count = 1;
    while (row + count < rows.end && c.rows.TapsAt(row + count) == row_taps) ++count;
    RunPixels(c, image, row, column, count, true, row_taps, column_taps, first, last);
    row += count;
  }
}

// Output rows [rows) of an image, out channels [first, last), a group of channels at a time so that its weights stay in
// the cache while all pixels pass.
void RunRows(const Convolution& c, int64_t image, const Range& rows, int64_t first, int64_t last) {
  const int64_t width = c.inner_columns.size();
  const int64_t row_tiles = std::max<int64_t>(1, CeilDiv(width, c.tiles->max_rows));
  const int64_t tile_rows = std::max<int64_t>(1, CeilDiv(width, row_tiles));
  const int64_t packed = PackedColumns(last - first);
  const int64_t group =
      std::max<int64_t>(kPanel, c.tiles->lanes << c.tiles->WidthFor(tile_rows, packed));
  for (int64_t channel = first; channel < last; channel += group) {
    const int64_t end = std::min(channel + group, last);
    if (width > 0) {
      for (int64_t row = rows.begin; row < rows.end; ++row) {
        RunPixels(c, image, row, c.inner_columns.begin, width, false, c.rows.TapsAt(row),
                  {0, c.columns.kernel}, channel, end);
      }
    }
    for (int64_t column = 0; column < c.columns.out; ++column) {
      if (column == c.inner_columns.begin) column = c.inner_columns.end;
      if (column < c.columns.out) RunBorderColumn(c, image, rows, column, channel, end);
    }
  }
}

// Outputs `columns` of a row, out channels [first, last), for the tiles' results that are not finite.
void RunSomeOfRow(const void* context, int64_t image, int64_t row, const Range& columns,
                  int64_t first, int64_t last) {
  const auto& c = *static_cast<const Convolution*>(context);
  const Range row_taps = c.rows.TapsAt(row);
  for (int64_t column = columns.begin; column < columns.end;) {
    const Range column_taps = c.columns.TapsAt(column);
    int64_t count = 1;
    while (column + count < columns.end && c.columns.TapsAt(column + count) == column_taps) ++count;
    RunPixels(c, image, row, column, count, false, row_taps, column_taps, first, last);
    column += count;
  }
}

// How the output is cut into tasks: rows of an image times ranges of panels.
struct Grid {
  int64_t task_rows, row_tasks;  // per image
  int64_t task_panels, panel_tasks;
};

Grid MakeGrid(const Convolution& c, int num_threads) {
  constexpr int64_t kTasksPerThread = 6;
  constexpr int64_t kLeastWork = 64 * 1024;
  constexpr int64_t kLeastRows = 7;  // below, the columns at the borders make small tiles
  const Conv2dShape& s = c.arguments->shape;
  const int64_t weights = c.arguments->weights->k() * s.out_channels;
  const int64_t work = weights * c.rows.out * c.columns.out * s.batch;
  const int64_t wanted =
      num_threads == 1 ? 1 : std::min(kTasksPerThread * num_threads, work / kLeastWork + 1);
  const int64_t panels = CeilDiv(s.out_channels, kPanel);
  const int64_t most_rows = std::max<int64_t>(1, c.rows.out / kLeastRows);
  Grid grid;
  const int64_t per_image = CeilDiv(wanted, s.batch);
  if (weights > s.in_height * s.in_width * s.in_channels) {
    grid.panel_tasks = std::clamp<int64_t>(per_image, 1, panels);
    grid.row_tasks = std::clamp<int64_t>(per_image / grid.panel_tasks, 1, most_rows);
  } else {
    grid.row_tasks = std::clamp<int64_t>(per_image, 1, most_rows);
    grid.panel_tasks = std::clamp<int64_t>(per_image / grid.row_tasks, 1, panels);
  }
  grid.task_rows = CeilDiv(c.rows.out, grid.row_tasks);
  grid.task_panels = CeilDiv(panels, grid.panel_tasks);
  grid.row_tasks = CeilDiv(c.rows.out, grid.task_rows);
  grid.panel_tasks = CeilDiv(panels, grid.task_panels);
  return grid;
}

int64_t OutSize(int64_t in, int64_t kernel, int64_t stride, int64_t dilation, int64_t pads) {
  const int64_t room = in + pads - (kernel - 1) * dilation - 1;
  return room < 0 ? 0 : room / stride + 1;
}

bool IsPointwise(const Conv2dShape& s) {
  return s.kernel_height == 1 && s.kernel_width == 1 && s.pad_top == 0 && s.pad_left == 0 &&
         s.pad_bottom == 0 && s.pad_right == 0;
}

bool HasStride(const Conv2dShape& s) { return s.stride_height != 1 || s.stride_width != 1; }

// A pointwise convolution without stride is one product over all pixels.
bool IsProduct(const Conv2dShape& s) { return IsPointwise(s) && !HasStride(s); }

}  // namespace

int64_t Conv2dShape::out_height() const {
  return OutSize(in_height, kernel_height, stride_height, dilation_height, pad_top + pad_bottom);
}

int64_t Conv2dShape::out_width() const {
  return OutSize(in_width, kernel_width, stride_width, dilation_width, pad_left + pad_right);
}
WindowAxis Conv2dShape::rows() const {
  return {in_height, out_height(), kernel_height, stride_height, dilation_height, pad_top};
}
WindowAxis Conv2dShape::columns() const {
  return {in_width, out_width(), kernel_width, stride_width, dilation_width, pad_left};
}

bool SkipsPixels(const Conv2dShape& shape) { return IsPointwise(shape) && HasStride(shape); }

Conv2dShape WithoutSkippedPixels(const Conv2dShape& shape) {
  Conv2dShape dense = shape;
  dense.in_height = shape.out_height();
  dense.in_width = shape.out_width();
  dense.stride_height = dense.stride_width = 1;
  return dense;
}

void GatherPixels(const Conv2dShape& shape, const float* x, float* y, ThreadPool& pool) {
  const Dims read = {shape.batch, shape.out_height(), shape.out_width(), shape.in_channels};
  Dims strides =
      RowMajorStrides(Dims{shape.batch, shape.in_height, shape.in_width, shape.in_channels});
  strides[1] *= shape.stride_height;
  strides[2] *= shape.stride_width;
  CopyStrided(x, strides, y, RowMajorStrides(read), read, sizeof(float), pool);
}

PackedMatrix PackConv2dWeights(const WeightSource& weights, const Conv2dShape& shape,
                               ThreadPool& pool, bool x_channels_first, float* memory) {
  const int64_t taps = shape.kernel_height * shape.kernel_width;
  const int64_t k = taps * shape.in_channels;
  if (taps == 1 || x_channels_first)
    return PackedMatrix::Pack(weights, 1, k, k, shape.out_channels, pool, memory);
  const TileSet& tiles = TilesFor(CurrentIsa());
  const auto write = [&](const PackedMatrix::Panel& panel) {
    // To [out_channels, taps, in_channels] first: packing is fast where one of the strides is 1.
    auto* by_tap = reinterpret_cast<float*>(
        ThreadScratch(panel.columns * k * static_cast<int64_t>(sizeof(float)), ScratchUse::kTask));
    const float* of_channel = weights.At(panel.first * k, panel.columns * k);
    for (int64_t c = 0; c < panel.columns; ++c) {
      for (int64_t in = 0; in < shape.in_channels; ++in)
        for (int64_t tap = 0; tap < taps; ++tap)
          by_tap[c * k + tap * shape.in_channels + in] = *of_channel++;
    }
    tiles.pack(by_tap, 1, k, k, panel.columns, 0, 1, panel.data);
  };
  return PackedMatrix::PackBy(k, shape.out_channels, pool, write, memory);
}

void Conv2d(const Conv2dArguments& arguments, ThreadPool& pool) {
  const Conv2dShape& s = arguments.shape;
  Convolution c;
  c.arguments = &arguments;
  c.tiles = &TilesFor(CurrentIsa());
  c.rows = s.rows();
  c.columns = s.columns();
  c.inner_columns = c.columns.Inner();
  c.channels = s.in_channels;
  const auto stride_or = [](int64_t stride, int64_t dense) { return stride == 0 ? dense : stride; };
  c.plane = arguments.x_channels_first ? s.in_height * s.in_width : 0;
  c.x_stride = c.plane != 0 ? 1 : stride_or(arguments.x_stride, s.in_channels);
  c.y_stride = stride_or(arguments.y_stride, s.out_channels);
  c.residual_stride = stride_or(arguments.residual_stride, s.out_channels);
  if (s.batch * c.rows.out * c.columns.out * s.out_channels == 0) return;
  if (IsProduct(s) && c.plane == 0 && arguments.frames == nullptr) {
    GemmArguments g;
    g.m = s.batch * s.in_height * s.in_width;
    g.a = arguments.x;
    g.a_stride = c.x_stride;
    g.b = arguments.weights;
    g.c = arguments.y;
    g.c_stride = c.y_stride;
    g.bias = arguments.bias;
    g.residual = arguments.residual;
    g.residual_stride = c.residual_stride;
    g.activation = arguments.activation;
    return Gemm(g, pool);
  }
  const ReorderedConv2d reordered = {&arguments,        c.tiles,      c.rows,
                                     c.columns,         c.x_stride,   c.y_stride,
                                     c.residual_stride, RunSomeOfRow, &c};
  const TermTiles* term_tiles = TermTilesFor(ComputeMode());
  if (term_tiles != nullptr && c.plane == 0 && arguments.frames == nullptr &&
      ConvolvesFasterOnTiles(s))
    return Conv2dOnTiles(*term_tiles, reordered, pool);
  if (arguments.winograd_weights != nullptr) return Conv2dByWinograd(reordered, pool);
  const Grid grid = MakeGrid(c, pool.num_threads());
  const int64_t per_image = grid.row_tasks * grid.panel_tasks;
  pool.ParallelFor(s.batch * per_image, 1, [&](int64_t task, int64_t) {
    const int64_t panel = task / grid.row_tasks % grid.panel_tasks * grid.task_panels;
    const int64_t row = task % grid.row_tasks * grid.task_rows;
    RunRows(c, task / per_image, {row, std::min(row + grid.task_rows, c.rows.out)}, panel * kPanel,
            std::min(s.out_channels, (panel + grid.task_panels) * kPanel));
  });
}

}  // namespace weft::kernels::simd
