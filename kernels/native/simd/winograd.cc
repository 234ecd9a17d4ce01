#include "kernels/native/simd/winograd.h"

#include <algorithm>

#include "kernels/native/simd/amx_gemm.h"
#include "kernels/native/simd/gemm_tile.h"
#include "kernels/thread_scratch.h"

namespace weft::kernels::simd {
namespace {

inline constexpr int kSquareMatrices = 16;
constexpr int64_t kPatch = 4;  // pixels a side that a square of outputs sees

// A square of 2 x 2 outputs, row by row.
struct WinogradSquare {
  const float* sums = nullptr;  // of the first matrix
  int64_t matrix = 0;           // floats from a matrix to the next
  const float* bias = nullptr;  // optional
  // Null where the square hangs over the edge of the image; residuals may be null.
  const float* residual[4] = {};
  float* y[4] = {};
  RegisterActivation activation = {};
};

struct WinogradKernels {
  void (*transform_patch)(const float* const* pixels, int64_t channels, float* v, int64_t matrix);
  bool (*finish_square)(const WinogradSquare& square, int64_t begin, int64_t end);
};

}  // namespace
}  // namespace weft::kernels::simd

#define WEFT_ISA_BODY "kernels/native/simd/winograd_body.inc"
#include "kernels/native/simd/foreach_isa.inc"

namespace weft::kernels::simd {
namespace {

// What a task makes: rows of squares of one image, and output channels [first, last).
struct Part {
  int64_t image, row, rows;
  int64_t first, last;
};

class Runner {
 public:
  Runner(const ReorderedConv2d& c, const Part& part)
      : c_(c),
        s_(c.arguments->shape),
        kernels_(*WEFT_DISPATCH(kWinogradKernels)),
        part_(part),
        squares_per_row_(CeilDiv(c.columns.out, 2)),
        squares_(part.rows * squares_per_row_),
        sums_stride_(PackedColumns(part.last - part.first)) {
    const int64_t patches = kSquareMatrices * squares_ * s_.in_channels;
    const int64_t floats = patches + kSquareMatrices * squares_ * sums_stride_ + s_.in_channels;
    patches_ = reinterpret_cast<float*>(
        ThreadScratch(floats * static_cast<int64_t>(sizeof(float)), ScratchUse::kTask));
    sums_ = patches_ + patches;
    zeros_ = sums_ + kSquareMatrices * squares_ * sums_stride_;
    std::fill_n(zeros_, s_.in_channels, 0.0f);
  }

  void Run() {
    for (int64_t square = 0; square < squares_; ++square) TransformInput(square);
    for (int64_t i = 0; i < kSquareMatrices; ++i) Multiply(i);
    for (int64_t square = 0; square < squares_; ++square) Finish(square);
  }

 private:
  int64_t RowOf(int64_t square) const { return 2 * (part_.row + square / squares_per_row_); }
  int64_t ColumnOf(int64_t square) const { return 2 * (square % squares_per_row_); }

  void TransformInput(int64_t square) {
    const float* pixels[kSquareMatrices];
    const float* image = c_.arguments->x + part_.image * s_.in_height * s_.in_width * c_.x_stride;
    for (int64_t i = 0; i < kSquareMatrices; ++i) {
      const int64_t row = RowOf(square) - s_.pad_top + i / kPatch;
      const int64_t column = ColumnOf(square) - s_.pad_left + i % kPatch;
      const bool is_inside = row >= 0 && row < s_.in_height && column >= 0 && column < s_.in_width;
      pixels[i] = is_inside ? image + (row * s_.in_width + column) * c_.x_stride : zeros_;
    }
    kernels_.transform_patch(pixels, s_.in_channels, patches_ + square * s_.in_channels,
                             squares_ * s_.in_channels);
  }

  void Multiply(int64_t i) {
    const PackedMatrix& weights = *c_.arguments->winograd_weights;
    const int64_t first_row = i * s_.in_channels;
    Block block;
    block.tile.a = patches_ + i * squares_ * s_.in_channels;
    block.tile.a_stride = s_.in_channels;
    block.tile.depth = s_.in_channels;
    block.tile.b_rows = &first_row;
    block.tile.c = sums_ + i * squares_ * sums_stride_ - part_.first;
    block.tile.c_stride = sums_stride_;
    block.b = Panels::Packed(weights.data(), weights.k(), weights.n());
    RunBlockOnVectors(*c_.tiles, block, squares_, part_.first, part_.last);
  }

  void Finish(int64_t square) {
    const Conv2dArguments& a = *c_.arguments;
    WinogradSquare s{.sums = sums_ + square * sums_stride_ - part_.first,
                     .matrix = squares_ * sums_stride_,
                     .bias = a.bias};
    const bool activates = FoldActivation(a.activation, &s.activation);
    const int64_t row = RowOf(square), column = ColumnOf(square);
    const int64_t rows = std::min<int64_t>(2, c_.rows.out - row);
    const int64_t columns = std::min<int64_t>(2, c_.columns.out - column);
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        const int64_t pixel = (part_.image * c_.rows.out + row + i) * c_.columns.out + column + j;
        s.y[2 * i + j] = a.y + pixel * c_.y_stride;
        if (a.residual != nullptr) s.residual[2 * i + j] = a.residual + pixel * c_.residual_stride;
      }
    }
    for (int64_t begin = part_.first; begin < part_.last; begin += kPanel) {
      const int64_t end = std::min(begin + kPanel, part_.last);
      const bool is_finite = kernels_.finish_square(s, begin, end);
      for (int64_t i = 0; i < rows; ++i) {
        if (!is_finite) {
          c_.recompute(c_.context, part_.image, row + i, {column, column + columns}, begin, end);
        } else if (activates) {
          c_.tiles->activate(a.activation, s.y[2 * i] + begin, c_.y_stride, columns, end - begin);
        }
      }
    }
  }

  const ReorderedConv2d& c_;
  const Conv2dShape& s_;
  const WinogradKernels& kernels_;
  const Part part_;
  const int64_t squares_per_row_, squares_, sums_stride_;
  float* patches_;  // [16, squares, in_channels]
  float* sums_;     // [16, squares, sums_stride_]
  float* zeros_;    // [in_channels]
};

// How the output is cut: rows of squares of an image times ranges of panels.
struct Grid {
  int64_t task_rows, row_tasks;  // per image
  int64_t task_panels, panel_tasks;
};

// Weights that an L2 cache does not hold pass once, each thread with its part of them, and what a task sees of the image
// is transformed by each; else tasks are rows of squares. A task has so many squares that a panel of weights is used
// often, so few that their numbers stay in an L2 cache.
Grid MakeGrid(const ReorderedConv2d& c, int num_threads) {
  constexpr int64_t kCachedWeights = 256 * 1024;  // floats
  constexpr int64_t kLeastSquares = 14;
  const Conv2dShape& s = c.arguments->shape;
  const int64_t rows = CeilDiv(c.rows.out, 2), per_row = CeilDiv(c.columns.out, 2);
  const int64_t panels = CeilDiv(s.out_channels, kPanel);
  const bool by_panels = kSquareMatrices * s.in_channels * s.out_channels > kCachedWeights;
  const int64_t cached_numbers = (by_panels ? 512 : 128) * int64_t{1024};
  const int64_t wanted = num_threads == 1 ? 1 : CeilDiv((by_panels ? 1 : 3) * num_threads, s.batch);
  Grid grid;
  grid.task_panels = CeilDiv(panels, by_panels ? std::min(wanted, panels) : 1);
  grid.panel_tasks = CeilDiv(panels, grid.task_panels);
  const int64_t columns = std::min(s.out_channels, grid.task_panels * kPanel);
  const int64_t numbers = kSquareMatrices * per_row * (s.in_channels + PackedColumns(columns));
  const int64_t row_tasks = std::clamp<int64_t>(wanted / grid.panel_tasks, 1, rows);
  grid.task_rows =
      std::min(CeilDiv(rows, row_tasks), std::max<int64_t>(1, cached_numbers / numbers));
  grid.task_rows = std::min(rows, std::max(grid.task_rows, CeilDiv(kLeastSquares, per_row)));
  grid.row_tasks = CeilDiv(rows, grid.task_rows);
  return grid;
}

}  // namespace

bool ConvolvesFasterByWinograd(const Conv2dShape& s, Isa isa) {
  const bool has_kind = s.kernel_height == 3 && s.kernel_width == 3 && s.stride_height == 1 &&
                        s.stride_width == 1 && s.dilation_height == 1 && s.dilation_width == 1;
  const bool has_vectors = isa == Isa::kAvx2 || isa == Isa::kAvx512;
  return has_kind && has_vectors && s.in_channels >= 32 && s.out_channels >= 32 &&
         s.out_height() * s.out_width() >= 14 * 14;
}

PackedMatrix PackWinogradWeights(const WeightSource& weights, const Conv2dShape& s,
                                 ThreadPool& pool) {
  // G of F(2, 3), in double.
  const auto transform = [](const double* g, int64_t step, double* u) {
    u[0] = g[0];
    u[1] = (g[0] + g[step] + g[2 * step]) / 2;
    u[2] = (g[0] - g[step] + g[2 * step]) / 2;
    u[3] = g[2 * step];
  };
  const auto write_panel = [&](const PackedMatrix::Panel& panel) {
    const int64_t matrix = s.in_channels * panel.width, of_column = s.in_channels * 9;
    const float* const w = weights.At(panel.first * of_column, panel.columns * of_column);
    if (panel.columns < panel.width) std::fill_n(panel.data, kSquareMatrices * matrix, 0.0f);
    for (int64_t in = 0; in < s.in_channels; ++in) {
      for (int64_t column = 0; column < panel.columns; ++column) {
        double g[9], half[3][4], u[4];
        std::copy_n(w + (column * s.in_channels + in) * 9, 9, g);
        for (int64_t j = 0; j < 3; ++j) transform(g + j, 3, half[j]);
        float* to = panel.data + in * panel.width + column;
        for (int64_t i = 0; i < kPatch; ++i) {
          const double row[3] = {half[0][i], half[1][i], half[2][i]};
          transform(row, 1, u);
          for (int64_t j = 0; j < kPatch; ++j)
            to[(i * kPatch + j) * matrix] = static_cast<float>(u[j]);
        }
      }
    }
  };
  return PackedMatrix::PackBy(kSquareMatrices * s.in_channels, s.out_channels, pool, write_panel);
}

void Conv2dByWinograd(const ReorderedConv2d& c, ThreadPool& pool) {
  const Conv2dShape& s = c.arguments->shape;
  const Grid grid = MakeGrid(c, pool.num_threads());
  const int64_t rows = CeilDiv(c.rows.out, 2), per_image = grid.row_tasks * grid.panel_tasks;
  pool.ParallelFor(s.batch * per_image, 1, [&](int64_t task, int64_t) {
    const int64_t row = task % grid.row_tasks * grid.task_rows;
    const int64_t first = task / grid.row_tasks % grid.panel_tasks * grid.task_panels * kPanel;
    Runner(c, {.image = task / per_image,
               .row = row,
               .rows = std::min(grid.task_rows, rows - row),
               .first = first,
               .last = std::min(s.out_channels, first + grid.task_panels * kPanel)})
        .Run();
  });
}

}  // namespace weft::kernels::simd
