// Softmax, layer and group normalization.
#pragma once

#include <cstdint>

#include "kernels/native/simd/activation.h"
#include "kernels/shape_math.h"
#include "kernels/thread_pool.h"

namespace weft::kernels::simd {

// Softmax over the middle axis of a row-major [outer, extent, inner]; y may be x. The largest
// element is subtracted first. A slice whose largest element is infinite becomes NaN, as in the
// definition.
void Softmax(const float* x, float* y, int64_t outer, int64_t extent, int64_t inner,
             ThreadPool& pool);

// Softmax over the last axis of x + mask, where x is row-major [rows..., columns] and the rows of mask lie at
// mask_strides, of each axis of `rows`; y may be x.
struct MaskedSoftmaxArguments {
  Dims rows;
  int64_t columns = 0;
  Dims mask_strides;
  const float* x = nullptr;
  const float* mask = nullptr;
  float* y = nullptr;
};
void MaskedSoftmax(const MaskedSoftmaxArguments& arguments, ThreadPool& pool);

// The logarithm of Softmax, finite where the softmax is too small for a float; y is not x.
void LogSoftmax(const float* x, float* y, int64_t outer, int64_t extent, int64_t inner,
                ThreadPool& pool);

// v = x + residual + bias;  y = (v - mean(v)) / sqrt(variance(v) + epsilon) * scale + shift, per
// row. Row i of x, residual or bias is row x_rows[i] and so on of a table, where these are given.
struct LayerNormArguments {
  int64_t rows = 0;
  int64_t columns = 0;
  const float* x = nullptr;         // [rows, columns]
  const float* residual = nullptr;  // [rows, columns], optional
  const float* bias = nullptr;      // [columns], optional
  const float* scale = nullptr;     // [columns], optional
  const float* shift = nullptr;     // [columns], optional
  const int64_t* x_rows = nullptr;  // [rows], optional
  const int64_t* residual_rows = nullptr;
  const int64_t* bias_rows = nullptr;
  float epsilon = 1e-5f;
  bool subtract_mean = true;  // else y = v / sqrt(mean(v^2) + epsilon) * scale + shift
  float* y = nullptr;         // [rows, columns]; may be x or residual
  float* sum = nullptr;       // [rows, columns], optional: receives v; may be x or residual
  float* mean = nullptr;      // [rows], optional
  float* inverse_deviation = nullptr;  // [rows], optional: receives 1 / sqrt(variance + epsilon)
};
void LayerNorm(const LayerNormArguments& arguments, ThreadPool& pool);

// y = activation((x - mean) / sqrt(variance + epsilon) * scale + shift), where mean and variance are
// those of each run of channels / groups channels, and scale and shift belong to a channel.
struct GroupNormArguments {
  int64_t batch = 0, channels = 0, groups = 1, spatial = 0;
  bool channels_last = false;
  const float* x = nullptr;      // [batch, channels, spatial], or [batch, spatial, channels]
  const float* scale = nullptr;  // [channels], optional
  const float* shift = nullptr;  // [channels], optional
  float epsilon = 1e-5f;
  Activation activation = {};
  float* y = nullptr;  // like x; may be x
  // GroupNormScratch() floats, with channels last; else not used.
  float* scratch = nullptr;
};
void GroupNorm(const GroupNormArguments& arguments, ThreadPool& pool);
int64_t GroupNormScratch(const GroupNormArguments& arguments);

}  // namespace weft::kernels::simd
