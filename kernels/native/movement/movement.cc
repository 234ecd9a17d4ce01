// Ops that move elements of any type of up to 8 bytes.
#include <string>
#include <vector>

#include "ir/dialects/onnx.h"
#include "kernels/native/native.h"
#include "kernels/native/simd/strided_copy.h"

namespace weft::kernels::native {
namespace {

namespace ops = ir::ops;

// The size of the elements that move, or Unsupported.
absl::StatusOr<int> MovedSize(const KernelContext& context) {
  const ir::DataType dtype = context.input_type(0).dtype();
  const size_t size = ir::ElementSize(dtype);
  if (size > 8) return context.Unsupported("elements of more than 8 bytes");
  if (context.result_type(0).dtype() != dtype)
    return context.Unsupported("a result of another element type");
  return static_cast<int>(size);
}

Made MakeTranspose(const KernelContext& context) {
  WEFT_ASSIGN_OR_RETURN(const int size, MovedSize(context));
  const Dims shape(context.dims(0));
  Dims perm(shape.size(), 0);
  const auto attrs = context.attrs_of<ops::Transpose>();
  for (int i = 0; i < perm.size(); ++i)
    perm[i] = attrs.perm ? (*attrs.perm)[i] : perm.size() - 1 - i;
  return MakeNative("transpose", {}, [shape, perm, size](const KernelArgs& args) {
    simd::Transpose(args.inputs[0].data, shape, perm, args.outputs[0].data, size, *args.pool);
  });
}
const RegisterKernel<ops::Transpose> kTranspose("native", &MakeTranspose);

// The parts of a whole along an axis: for each its shape and where it starts, in bytes.
class Parts {
 public:
  struct Part {
    Dims shape, strides;
    int64_t start;
  };
  Parts(std::span<const int64_t> whole, size_t axis, int element_size)
      : strides_(RowMajorStrides(whole)), axis_(axis), element_size_(element_size) {}
  void Add(std::span<const int64_t> dims) {
    parts_.push_back({Dims(dims), RowMajorStrides(dims),
                      extent_ * strides_[static_cast<int>(axis_)] * element_size_});
    extent_ += dims[axis_];
  }
  int64_t extent() const { return extent_; }  // of the parts together
  const std::vector<Part>& parts() const { return parts_; }
  Placement PlacementOf(size_t part) const {
    const auto row_of = [&](const Dims& shape) {
      int64_t elements = 1;
      for (int i = static_cast<int>(axis_); i < shape.size(); ++i) elements *= shape[i];
      return elements;
    };
    return {
        parts_[part].start / element_size_,
        {.row = row_of(parts_[part].shape), .stride = extent_ * strides_[static_cast<int>(axis_)]}};
  }
  const Dims& strides() const { return strides_; }  // of the whole
  int element_size() const { return element_size_; }

 private:
  Dims strides_;
  size_t axis_;
  int element_size_;
  int64_t extent_ = 0;
  std::vector<Part> parts_;
};

class ConcatKernel final : public Kernel {
 public:
  explicit ConcatKernel(Parts parts) : parts_(std::move(parts)) {}
  std::string_view name() const override { return "concat"; }

  absl::Status Run(const KernelArgs& args) override {
    for (size_t i = 0; i < parts_.parts().size(); ++i) {
      const Parts::Part& part = parts_.parts()[i];
      std::byte* to = args.outputs[0].data + part.start;
      if (args.inputs[i].data == to) {
        if (i == 0 && args.spacing(0).row == 0) MoveApart(to);
        continue;
      }
      simd::CopyStrided(args.inputs[i].data, OperandStrides(args, i, part.strides), to,
                        parts_.strides(), part.shape, parts_.element_size(), *args.pool);
    }
    return absl::OkStatus();
  }
  std::optional<Placement> PlacementOf(size_t operand) const override {
    return parts_.PlacementOf(operand);
  }
  bool MayGrowOver(size_t operand) const override { return operand == 0; }
  bool ReadsSpaced(size_t, const RowSpacing&) const override { return true; }

 private:
  // The rows of the first part, the last one first: each goes where none lies that is still to be moved.
  void MoveApart(std::byte* whole) const {
    const RowSpacing rows = parts_.PlacementOf(0).rows;
    const int64_t row = rows.row * parts_.element_size();
    const int64_t stride = rows.stride * parts_.element_size();
    for (int64_t i = NumElements(parts_.parts()[0].shape) / std::max<int64_t>(rows.row, 1);
         --i > 0;)
      std::memmove(whole + i * stride, whole + i * row, static_cast<size_t>(row));
  }

  const Parts parts_;
};

Made MakeConcat(const KernelContext& context) {
  WEFT_ASSIGN_OR_RETURN(const int size, MovedSize(context));
  const std::span<const int64_t> whole = context.result_dims(0);
  const size_t axis = ir::NormalAxis(context.attrs_of<ops::Concat>().axis, whole.size());
  Parts parts(whole, axis, size);
  for (size_t i = 0; i < context.num_inputs(); ++i) parts.Add(context.dims(i));
  if (parts.extent() != whole[axis])
    return context.InvalidArgument("the parts do not make up the whole");
  return std::make_unique<ConcatKernel>(std::move(parts));
}
const RegisterKernel<ops::Concat> kConcat("native", &MakeConcat);

Made MakeSplit(const KernelContext& context) {
  WEFT_ASSIGN_OR_RETURN(const int size, MovedSize(context));
  const std::span<const int64_t> whole = context.dims(0);
  const size_t axis = ir::NormalAxis(context.attrs_of<ops::Split>().axis, whole.size());
  Parts parts(whole, axis, size);
  for (size_t i = 0; i < context.num_results(); ++i) parts.Add(context.result_dims(i));
  if (parts.extent() != whole[axis])
    return context.InvalidArgument("the parts do not make up the whole");
  NativeOptions options;
  for (size_t i = 0; i < parts.parts().size(); ++i)
    options.results_in_operand.push_back(parts.PlacementOf(i));
  return MakeNative("split", options, [parts = std::move(parts)](const KernelArgs& args) {
    for (size_t i = 0; i < parts.parts().size(); ++i) {
      const Parts::Part& part = parts.parts()[i];
      const std::byte* const from = args.inputs[0].data + part.start;
      if (args.outputs[i].data == from) continue;
      simd::CopyStrided(from, parts.strides(), args.outputs[i].data, part.strides, part.shape,
                        parts.element_size(), *args.pool);
    }
  });
}
const RegisterKernel<ops::Split> kSplit("native", &MakeSplit);

// The integers of a constant operand, or `fallback` where it is not given; false if not constant.
bool ConstantList(const KernelContext& context, size_t i, const ir::Ints& fallback,
                  ir::Ints* list) {
  *list = fallback;
  if (!context.HasInput(i)) return true;
  const ir::Attribute dense = context.constant(i);
  if (!dense || dense.dense_type().dtype() != ir::DataType::kI64) return false;
  list->resize(dense.num_bytes() / sizeof(int64_t));
  if (!list->empty()) std::memcpy(list->data(), dense.bytes().data(), dense.num_bytes());
  return true;
}

// Only slices that are known: others are checked while they run, by the reference.
Made MakeSlice(const KernelContext& context) {
  WEFT_ASSIGN_OR_RETURN(const int size, MovedSize(context));
  ir::Ints starts, axes, steps, all_axes;
  if (!context.HasInput(1) || !ConstantList(context, 1, {}, &starts))
    return context.Unsupported("starts that are not constant i64");
  for (size_t i = 0; i < starts.size(); ++i) all_axes.push_back(static_cast<int64_t>(i));
  if (!ConstantList(context, 3, all_axes, &axes) ||
      !ConstantList(context, 4, ir::Ints(starts.size(), 1), &steps) ||
      axes.size() != starts.size() || steps.size() != starts.size())
    return context.Unsupported("axes or steps that are not constant i64");
  const Dims x(context.dims(0)), result(context.result_dims(0));
  const Dims from = RowMajorStrides(x);
  Dims strides = from;
  int64_t offset = 0;
  for (size_t i = 0; i < starts.size(); ++i) {
    const int axis = static_cast<int>(ir::NormalAxis(axes[i], static_cast<size_t>(x.size())));
    const int64_t start = std::clamp<int64_t>(starts[i] < 0 ? starts[i] + x[axis] : starts[i], 0,
                                              steps[i] < 0 ? x[axis] - 1 : x[axis]);
    int64_t last;
    if (__builtin_mul_overflow(result[axis] - 1, steps[i], &last) ||
        __builtin_add_overflow(last, start, &last) || last < 0 || last >= x[axis] ||
        start >= x[axis])
      return context.InvalidArgument("a slice is out of range");
    offset += start * from[axis];
    strides[axis] = from[axis] * steps[i];
  }
  NativeOptions options;
  if (const auto rows = SpacingOf(result, strides)) options.results_in_operand = {{offset, *rows}};
  return MakeNative(
      "slice", options,
      [offset, strides, result, to = RowMajorStrides(result), size](const KernelArgs& args) {
        const std::byte* const x = args.inputs[0].data + offset * size;
        if (args.outputs[0].data == x) return;
        simd::CopyStrided(x, strides, args.outputs[0].data, to, result, size, *args.pool);
      });
}
const RegisterKernel<ops::Slice> kSlice("native", &MakeSlice);

template <class Index>
std::unique_ptr<Kernel> MakeGatherOn(const AxisView& view, int64_t size, int64_t count) {
  return MakeNative("gather", {}, [view, size, count](const KernelArgs& args) {
    const int64_t bad =
        simd::Gather<Index>(args.inputs[0].data, view.outer, view.extent, view.inner * size,
                            args.input<Index>(1), count, args.outputs[0].data, *args.pool);
    if (bad < 0) return absl::OkStatus();
    return ir::InvalidArgument("onnx.Gather: index " + std::to_string(args.input<Index>(1)[bad]) +
                               " is out of range for an axis of size " +
                               std::to_string(view.extent));
  });
}
Made MakeGather(const KernelContext& context) {
  WEFT_ASSIGN_OR_RETURN(const int size, MovedSize(context));
  const AxisView view(context.dims(0), context.attrs_of<ops::Gather>().axis);
  const int64_t count = context.input_type(1).NumElements();
  const ir::DataType index = context.input_type(1).dtype();
  if (index == ir::DataType::kI64) return MakeGatherOn<int64_t>(view, size, count);
  if (index == ir::DataType::kI32) return MakeGatherOn<int32_t>(view, size, count);
  return context.Unsupported("indices of type " + std::string(ir::DataTypeName(index)));
}
const RegisterKernel<ops::Gather> kGather("native", &MakeGather);

Made MakeExpand(const KernelContext& context) {
  WEFT_ASSIGN_OR_RETURN(const int size, MovedSize(context));
  const Dims x(context.dims(0)), result(context.result_dims(0));
  for (int i = 0; i < x.size(); ++i) {
    const int at = result.size() - x.size() + i;
    if (at < 0 || (x[i] != 1 && x[i] != result[at]))
      return context.InvalidArgument("the operand does not broadcast to the result");
  }
  return MakeNative("expand", {},
                    [from = BroadcastStrides(x, result), to = RowMajorStrides(result), result,
                     size](const KernelArgs& args) {
                      simd::CopyStrided(args.inputs[0].data, from, args.outputs[0].data, to, result,
                                        size, *args.pool);
                    });
}
const RegisterKernel<ops::Expand> kExpand("native", &MakeExpand);

}  // namespace
}  // namespace weft::kernels::native
