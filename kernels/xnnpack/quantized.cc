// fused.qconv2d and fused.qlinear with constant weights, as XNNPACK's quantised convolutions; a
// matrix product is a convolution with a 1x1 kernel. i8 weights take i8 activations only: u8 ones are
// moved by 128, with their zero point, on the way in and out.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "ir/dialects/fused.h"
#include "kernels/native/native.h"
#include "kernels/xnnpack/xnnpack.h"

namespace weft::kernels::xnnpack {
namespace {

using ir::DataType;

enum Operand : size_t { kX, kXScale, kXZero, kW, kWScale, kWZero, kYScale, kYZero, kBias };

// x NHWC, w [outputs, kernel, inputs / group] as XNNPACK packs it.
struct Product {
  int64_t n, height, width, inputs, outputs, group = 1;
  int64_t kernel[2] = {1, 1};
  ir::Ints strides = {1, 1}, pads = {0, 0, 0, 0}, dilations = {1, 1}, clamp;
  // The three dimensions of w as it is stored, outermost first, and the strides of
  // output, position and input in it.
  int64_t w_strides[3];
  std::string key;
};

// Constants of the op, as numbers.
struct Scales {
  float x, y;
  std::vector<float> w;
  int x_zero, w_zero, y_zero;
};

int ByteAt(ir::Attribute dense, size_t i) {
  const auto byte = static_cast<uint8_t>(dense.bytes()[i]);
  return dense.dense_type().dtype() == DataType::kI8 ? static_cast<int8_t>(byte) : byte;
}

absl::StatusOr<Scales> ReadScales(const KernelContext& context, int64_t outputs) {
  for (size_t i = kXScale; i <= kBias; ++i)
    if (context.HasInput(i) && !context.constant(i))
      return context.Unsupported("operand " + std::to_string(i) + ", which is not constant");
  const ir::Attribute zeros = context.constant(kWZero);
  Scales s = {.x = native::ConstantFloats(context.constant(kXScale))[0],
              .y = native::ConstantFloats(context.constant(kYScale))[0],
              .w = native::ConstantFloats(context.constant(kWScale)),
              .x_zero = ByteAt(context.constant(kXZero), 0),
              .w_zero = ByteAt(zeros, 0),
              .y_zero = ByteAt(context.constant(kYZero), 0)};
  for (size_t i = 1; i < zeros.bytes().size(); ++i)
    if (ByteAt(zeros, i) != s.w_zero) return context.Unsupported("weights of several zero points");
  if (context.input_type(kX).dtype() != context.result_type(0).dtype())
    return context.Unsupported("x and y of different types");
  const bool is_signed = context.input_type(kW).dtype() == DataType::kI8;
  if (is_signed && s.w_zero != 0) return context.Unsupported("i8 weights with a zero point");
  if (!is_signed && (s.w.size() != 1 || context.input_type(kX).dtype() != DataType::kU8))
    return context.Unsupported("u8 weights with several scales or i8 activations");
  if (is_signed) s.w.resize(static_cast<size_t>(outputs), s.w[0]);
  return s;
}

// w in XNNPACK's order.
std::vector<std::byte> Reorder(const Product& p, ir::Attribute weights) {
  const std::span<const std::byte> from = weights.bytes();
  const int64_t positions = p.kernel[0] * p.kernel[1], inputs = p.inputs / p.group;
  std::vector<std::byte> to(from.size());
  size_t at = 0;
  for (int64_t o = 0; o < p.outputs; ++o)
    for (int64_t k = 0; k < positions; ++k)
      for (int64_t i = 0; i < inputs; ++i)
        to[at++] = from[o * p.w_strides[0] + k * p.w_strides[1] + i * p.w_strides[2]];
  return to;
}

// xnn_create_... with what all of them take; `w` gives the zero point and the scale of the weights.
template <class T, class Create, class... Weights>
xnn_status CreateProduct(const Create& create, xnn_operator_t* op, const Product& p,
                         const Scales& s, const void* kernel, const void* bias, int shift,
                         Weights... w) {
  const auto u32 = [](int64_t v) { return static_cast<uint32_t>(v); };
  const int low = std::is_signed_v<T> ? -128 : 0, high = std::is_signed_v<T> ? 127 : 255;
  const bool clamps = !p.clamp.empty();
  const auto inputs = static_cast<size_t>(p.inputs), outputs = static_cast<size_t>(p.outputs);
  const auto group = static_cast<size_t>(p.group);
  return CreateWeighted(
      create, op, u32(p.pads[0]), u32(p.pads[3]), u32(p.pads[2]), u32(p.pads[1]), u32(p.kernel[0]),
      u32(p.kernel[1]), u32(p.strides[0]), u32(p.strides[1]), u32(p.dilations[0]),
      u32(p.dilations[1]), u32(p.group), inputs / group, outputs / group, inputs, outputs,
      static_cast<T>(s.x_zero - shift), s.x, w..., static_cast<const T*>(kernel),
      static_cast<const int32_t*>(bias), static_cast<T>(s.y_zero - shift), s.y,
      static_cast<T>(clamps ? static_cast<int>(p.clamp[0]) - shift : low),
      static_cast<T>(clamps ? static_cast<int>(p.clamp[1]) - shift : high), uint32_t{0});
}

template <class Sized>
class QuantizedKernel final : public Kernel {
 public:
  QuantizedKernel(SharedOperator op, Sized sized, size_t x_bytes, size_t y_bytes, bool shifts)
      : operator_(std::move(op)),
        sized_(std::move(sized)),
        x_bytes_(x_bytes),
        y_bytes_(y_bytes),
        shifts_(shifts) {}

  absl::Status Run(const KernelArgs& args) override {
    const std::byte* x = args.inputs[kX].data;
    std::byte* y = args.outputs[0].data;
    if (shifts_) {
      Shift(x, args.scratch, x_bytes_, *args.pool);
      x = args.scratch;
    }
    const std::unique_lock lock(operator_->in_use);
    if (operator_->last_user != id_ || x != x_ || y != y_)
      WEFT_RETURN_IF_ERROR(FromXnn(SetUp(x, y, args.pool->handle()), name()));
    WEFT_RETURN_IF_ERROR(RunOperator(*operator_, *args.pool, name()));
    if (shifts_) Shift(y, y, y_bytes_, *args.pool);
    return absl::OkStatus();
  }
  std::string_view name() const override { return "xnnpack quantised convolution"; }
  size_t scratch_bytes() const override { return shifts_ ? x_bytes_ + kReadsPast : 0; }
  bool Reads(size_t operand) const override { return operand == kX; }
  bool ReadsPastEnd() const override { return true; }

 private:
  static constexpr size_t kReadsPast = 64;

  // u8 to i8 and back; `from` may be `to`. Through a block of its own, so that neither is in doubt
  // and the compiler takes vectors.
  static void Shift(const std::byte* from, std::byte* to, size_t bytes, ThreadPool& pool) {
    constexpr int64_t kTile = 1 << 15, kBlock = 64;
    pool.ParallelFor(static_cast<int64_t>(bytes), kTile, [=](int64_t begin, int64_t end) {
      int64_t i = begin;
      for (; i + kBlock <= end; i += kBlock) {
        std::array<std::byte, kBlock> block;
        std::memcpy(block.data(), from + i, kBlock);
        for (std::byte& byte : block) byte ^= std::byte{0x80};
        std::memcpy(to + i, block.data(), kBlock);
      }
      for (; i < end; ++i) to[i] = from[i] ^ std::byte{0x80};
    });
  }

  xnn_status SetUp(const std::byte* x, std::byte* y, pthreadpool_t pool) {
    if (std::exchange(operator_->last_user, 0) != id_) {
      const xnn_status status = sized_.Prepare(*operator_, pool);
      if (status != xnn_status_success) return status;
    }
    x_ = x;
    y_ = y;
    const xnn_status status = sized_.SetUp(*operator_, {x, nullptr, y}, pool);
    if (status == xnn_status_success) operator_->last_user = id_;
    return status;
  }

  const uint64_t id_ = NewUser();
  const SharedOperator operator_;
  const Sized sized_;
  const size_t x_bytes_, y_bytes_;
  const bool shifts_;
  const std::byte* x_ = nullptr;
  std::byte* y_ = nullptr;
};

template <class Sized>
Made MakeKernel(const KernelContext& context, SharedOperator op, Sized sized, bool shifts) {
  return std::make_unique<QuantizedKernel<Sized>>(
      std::move(op), std::move(sized), static_cast<size_t>(context.input_type(kX).NumBytes()),
      static_cast<size_t>(context.result_type(0).NumBytes()), shifts);
}

std::string Key(const KernelContext& context, const Product& p) {
  return fmt::format("xnnpack {} clamp={} {}", p.key, ir::ToString(p.clamp),
                     ir::DataTypeName(context.input_type(kX).dtype()));
}

std::vector<ir::Attribute> ConstantsOf(const KernelContext& context) {
  std::vector<ir::Attribute> constants;
  for (size_t i = kXScale; i <= kBias; ++i)
    constants.push_back(context.HasInput(i) ? context.constant(i) : ir::Attribute());
  return constants;
}

Made MakeProduct(const KernelContext& context, const Product& p) {
  WEFT_ASSIGN_OR_RETURN(const Scales s, ReadScales(context, p.outputs));
  const bool is_signed = context.input_type(kW).dtype() == DataType::kI8;
  const bool shifts = is_signed && context.input_type(kX).dtype() == DataType::kU8;
  std::vector<int32_t> bias;
  if (context.HasInput(kBias)) {
    bias.resize(static_cast<size_t>(context.input_type(kBias).NumElements()));
    context.constant(kBias).Read(0, std::as_writable_bytes(std::span(bias)));
  }
  const int32_t* const bias_or_null = bias.empty() ? nullptr : bias.data();
  WEFT_ASSIGN_OR_RETURN(
      const SharedOperator op,
      context.packed().Get<Operator>(Key(context, p), ConstantsOf(context), [&] {
        const std::vector<std::byte> kernel = Reorder(p, context.constant(kW));
        return CreateOperator("quantised convolution", [&](xnn_operator_t* handle) {
          if (is_signed)
            return CreateProduct<int8_t>(kCreateConvolutionQc8, handle, p, s, kernel.data(),
                                         bias_or_null, shifts ? 128 : 0, s.w.data());
          return CreateProduct<uint8_t>(&xnn_create_convolution2d_nhwc_qu8, handle, p, s,
                                        kernel.data(), bias_or_null, 0,
                                        static_cast<uint8_t>(s.w_zero), s.w[0]);
        });
      }));
  const auto n = static_cast<size_t>(p.n), h = static_cast<size_t>(p.height);
  const auto w = static_cast<size_t>(p.width);
  if (is_signed)
    return MakeKernel(context, op, WithSizes(WEFT_XNN_CONVOLUTION_QC8, n, h, w), shifts);
  return MakeKernel(context, op, WithSizes(WEFT_XNN(convolution2d_nhwc_qu8), n, h, w), false);
}

Made MakeQConv2d(const KernelContext& context) {
  const auto attrs = context.attrs_of<ir::fused::QConv2d>();
  const std::span<const int64_t> x = context.dims(kX), w = context.dims(kW);
  if (attrs.group < 1 || w[0] % attrs.group != 0 || w[1] * attrs.group != x[3])
    return context.InvalidArgument("channels and groups do not fit");
  const int64_t positions = w[2] * w[3];
  return MakeProduct(context, {.n = x[0],
                               .height = x[1],
                               .width = x[2],
                               .inputs = x[3],
                               .outputs = w[0],
                               .group = attrs.group,
                               .kernel = {w[2], w[3]},
                               .strides = attrs.strides,
                               .pads = attrs.pads,
                               .dilations = attrs.dilations,
                               .clamp = attrs.clamp,
                               .w_strides = {w[1] * positions, 1, positions},
                               .key = "qconv strides=" + ir::ToString(attrs.strides) +
                                      " pads=" + ir::ToString(attrs.pads) +
                                      " dilations=" + ir::ToString(attrs.dilations) +
                                      " group=" + std::to_string(attrs.group)});
}
const RegisterKernel<ir::fused::QConv2d> kQConv2d("xnnpack", &MakeQConv2d);

Made MakeQLinear(const KernelContext& context) {
  const auto attrs = context.attrs_of<ir::fused::QLinear>();
  const std::span<const int64_t> x = context.dims(kX), w = context.dims(kW);
  const int64_t k = w[attrs.transpose_w ? 1 : 0], n = w[attrs.transpose_w ? 0 : 1];
  if (x.empty() || x.back() != k) return context.InvalidArgument("x and w have different depths");
  const ir::Ints w_strides = attrs.transpose_w ? ir::Ints{k, 0, 1} : ir::Ints{1, 0, n};
  return MakeProduct(context, {.n = 1,
                               .height = CountElements(x.first(x.size() - 1)),
                               .width = 1,
                               .inputs = k,
                               .outputs = n,
                               .clamp = attrs.clamp,
                               .w_strides = {w_strides[0], w_strides[1], w_strides[2]},
                               .key = attrs.transpose_w ? "qlinear transposed" : "qlinear"});
}
const RegisterKernel<ir::fused::QLinear> kQLinear("xnnpack", &MakeQLinear);

}  // namespace
}  // namespace weft::kernels::xnnpack
