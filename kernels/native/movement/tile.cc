// onnx.Tile. How often each axis repeats follows from the sizes: the values of the second operand are not read.
#include <optional>

#include "ir/dialects/onnx.h"
#include "kernels/native/native.h"
#include "kernels/native/simd/strided_copy.h"

namespace weft::kernels::native {
namespace {

namespace ops = ir::ops;

// Runs of axes that repeat as one: `extent` elements of the operand, `repeats` times.
struct Repetition {
  int64_t repeats, extent;
};
std::vector<Repetition> RepetitionsOf(std::span<const int64_t> x, std::span<const int64_t> y) {
  std::vector<Repetition> all;
  for (size_t i = 0; i < x.size(); ++i) {
    const int64_t repeats = y[i] / x[i];
    if (!all.empty() && repeats == 1) {
      all.back().extent *= x[i];
    } else if (!all.empty() && all.back().extent == 1) {
      all.back() = {all.back().repeats * repeats, x[i]};
    } else {
      all.push_back({repeats, x[i]});
    }
  }
  return all;
}

// The loops of `repetitions`: two for each, or one where it repeats once or repeats one element.
struct TileLoops {
  Dims shape, x_strides;
};
std::optional<TileLoops> LoopsOf(std::span<const Repetition> repetitions) {
  int64_t stride = 1;
  for (const Repetition& r : repetitions) stride *= r.extent;
  TileLoops loops;
  const auto add = [&](int64_t extent, int64_t x_stride) {
    if (extent == 1) return true;
    if (loops.shape.size() == kMaxRank) return false;
    loops.shape.push_back(extent);
    loops.x_strides.push_back(x_stride);
    return true;
  };
  for (const Repetition& r : repetitions) {
    stride /= r.extent;
    if (!add(r.repeats, 0) || !add(r.extent, stride)) return std::nullopt;
  }
  return loops;
}

// `repeats` times the block, which is found by its number: the first is copied, and what is there then
// again and again, twice as much each time until that is enough for one call.
void RepeatBlock(const std::byte* block, int64_t bytes, int64_t repeats, std::byte* to) {
  constexpr int64_t kEnough = 2048;
  std::memcpy(to, block, static_cast<size_t>(bytes));
  int64_t filled = bytes, piece = bytes;
  for (const int64_t whole = bytes * repeats; filled < whole;) {
    const int64_t n = std::min(piece, whole - filled);
    std::memcpy(to + filled, to, static_cast<size_t>(n));
    filled += n;
    if (piece < kEnough) piece = filled;
  }
}

Made MakeTile(const KernelContext& context) {
  const ir::DataType dtype = context.input_type(0).dtype();
  const auto size = static_cast<int64_t>(ir::ElementSize(dtype));
  if (size > 8) return context.Unsupported("elements of more than 8 bytes");
  if (context.result_type(0).dtype() != dtype)
    return context.Unsupported("a result of another element type");
  const std::span<const int64_t> x = context.dims(0), y = context.result_dims(0);
  if (x.size() != y.size()) return context.InvalidArgument("the result has another rank");
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i] == 0) return context.Unsupported("an operand without elements");
    if (y[i] % x[i] != 0)
      return context.InvalidArgument("the result is no multiple of the operand");
  }
  std::vector<Repetition> repetitions = RepetitionsOf(x, y);
  const auto loops = LoopsOf(repetitions);
  if (!loops) return context.Unsupported("more than four axes that repeat");
  const Repetition last = repetitions.empty() ? Repetition{1, 1} : repetitions.back();
  const int64_t block = last.extent * size;
  // What is shorter would be a call for each few bytes; one element that repeats often is stored by vectors.
  constexpr int64_t kRow = 64;
  if (block >= kRow || last.repeats == 1 || (last.extent == 1 && last.repeats * size >= kRow))
    return MakeNative("tile", {}, [loops = *loops, size](const KernelArgs& args) {
      simd::CopyStrided(args.inputs[0].data, loops.x_strides, args.outputs[0].data,
                        RowMajorStrides(loops.shape), loops.shape, static_cast<int>(size),
                        *args.pool);
    });
  repetitions.pop_back();
  const TileLoops outer = *LoopsOf(repetitions);
  LoopNest<1> blocks;
  for (int i = 0; i < outer.shape.size(); ++i)
    blocks.Add(outer.shape[i], {outer.x_strides[i] * block});
  return MakeNative("tile", {}, [blocks, block, repeats = last.repeats](const KernelArgs& args) {
    const std::byte* const x = args.inputs[0].data;
    std::byte* const y = args.outputs[0].data;
    int64_t count = repeats;
    for (int i = 0; i < blocks.rank; ++i) count *= blocks.extents[i];
    args.pool->ParallelFor(count, TileFor(count, block / 4 + 2), [&](int64_t begin, int64_t end) {
      while (begin < end) {
        const int64_t n = std::min(repeats - begin % repeats, end - begin);
        int64_t offset[1];
        blocks.OffsetsAt(begin / repeats, blocks.rank, offset);
        RepeatBlock(x + offset[0], block, n, y + begin * block);
        begin += n;
      }
    });
  });
}
const RegisterKernel<ops::Tile> kTile("native", &MakeTile);

}  // namespace
}  // namespace weft::kernels::native
