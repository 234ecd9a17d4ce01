// fused.elementwise: its body as a program of rows. And the rows of ops that have no native kernel.
#include "kernels/native/elementwise/elementwise.h"

#include <map>
#include <unordered_map>
#include <utility>

#include "ir/dialects/fused.h"
#include "ir/dialects/onnx.h"
#include "kernels/native/simd/elementwise/rows.h"

namespace weft::kernels::native {
namespace {

namespace ops = ir::ops;
using ir::DataType;
using simd::RowArgs;
using simd::RowFunction;
using Place = simd::ElementwiseProgram::Place;

// By opcode.
std::map<uint16_t, RowFactory>& Rows() {
  static auto* rows = new std::map<uint16_t, RowFactory>();
  return *rows;
}

// --- rows ---------------------------------------------------------------------------

// T, R: uint8_t for bool.
template <class T, class R, class F>
void MapRow(const RowArgs& args, F f) {
  const T* x = static_cast<const T*>(args.in[0]);
  R* y = static_cast<R*>(args.out);
  for (int64_t i = 0; i < args.n; ++i) y[i] = f(x[i * args.stride[0]]);
}

std::optional<RowFunction> CopyRow(const RowContext& context) {
  if (context.Has(1, DataType::kF32, DataType::kF32))
    return RowFunction{.run = [](const RowFunction&, const RowArgs& args) {
      MapRow<uint32_t, uint32_t>(args, [](uint32_t x) { return x; });
    }};
  if (context.Has(1, DataType::kBool, DataType::kBool))
    return RowFunction{.run = [](const RowFunction&, const RowArgs& args) {
      MapRow<uint8_t, uint8_t>(args, [](uint8_t x) { return x; });
    }};
  return std::nullopt;
}
const RegisterRow<ops::Identity> kIdentity(&CopyRow);

std::optional<RowFunction> CastRow(const RowContext& context) {
  if (context.Has(1, DataType::kF32, DataType::kBool))
    return RowFunction{.run = [](const RowFunction&, const RowArgs& args) {
      MapRow<float, uint8_t>(args, [](float x) -> uint8_t { return x != 0; });
    }};
  if (context.Has(1, DataType::kBool, DataType::kF32))
    return RowFunction{.run = [](const RowFunction&, const RowArgs& args) {
      MapRow<uint8_t, float>(args, [](uint8_t x) -> float { return x != 0 ? 1 : 0; });
    }};
  if (context.Has(1, DataType::kI32, DataType::kF32))
    return RowFunction{.run = [](const RowFunction&, const RowArgs& args) {
      simd::IntegersToFloatsOnRow(static_cast<const int32_t*>(args.in[0]), args.stride[0],
                                  static_cast<float*>(args.out), args.n);
    }};
  return CopyRow(context);
}
const RegisterRow<ops::Cast> kCast(&CastRow);

// --- the program --------------------------------------------------------------------

// Slots go to values in the order of the body, and are free again after the value's last user.
class Compiler {
 public:
  explicit Compiler(const KernelContext& context);
  absl::StatusOr<simd::ElementwiseProgram> Compile();

 private:
  struct TypedPlace {
    DataType dtype = DataType::kNull;
    Place place;
  };
  absl::Status AddOp(ir::Operation op);
  // Whether the op's result has the shape of all: its operands do not broadcast to a smaller one,
  // which rows would compute again and again (and powers differently: see BinaryOnRow).
  bool FillsResult(ir::Operation op) const;
  // Where the op's result goes. An operand that dies here makes room for it if both have elements
  // of one size, which rows may write over.
  Place PlaceResult(ir::Operation op);

  const KernelContext& context_;
  const ir::Block body_;
  ir::Value returned_;
  simd::ElementwiseProgram program_;
  std::unordered_map<uint32_t, TypedPlace> values_;  // by value id; looked up, never iterated
  std::unordered_map<uint32_t, ir::Operation> last_reader_;
  std::vector<int> free_;
};

Compiler::Compiler(const KernelContext& context)
    : context_(context), body_(context.op().region(0).front()), program_(context.result_dims(0)) {}

absl::StatusOr<simd::ElementwiseProgram> Compiler::Compile() {
  for (size_t i = 0; i < context_.num_inputs(); ++i) {
    const DataType dtype = context_.input_type(i).dtype();
    values_[body_.argument(static_cast<uint32_t>(i)).id()] = {
        dtype, program_.Input(static_cast<int>(i),
                              BroadcastStrides(context_.dims(i), context_.result_dims(0)),
                              static_cast<int>(ir::ElementSize(dtype)))};
  }
  returned_ = body_.back().operand(0);
  if (returned_.IsBlockArgument()) return context_.Unsupported("its body computes nothing");
  for (const ir::Operation op : body_)
    for (const ir::Value value : op.operands())
      if (value) last_reader_[value.id()] = op;
  for (const ir::Operation op : body_) {
    WEFT_RETURN_IF_ERROR(AddOp(op));
    if (op == returned_.DefiningOp()) break;
  }
  return std::move(program_);
}

absl::Status Compiler::AddOp(ir::Operation op) {
  if (!op.result().type().IsTensor())
    return context_.Unsupported("its body has values of unknown type");
  std::vector<DataType> dtypes;
  std::vector<Place> places;
  for (const ir::Value value : op.operands()) {
    const TypedPlace operand = value ? values_.at(value.id()) : TypedPlace();
    dtypes.push_back(operand.dtype);
    places.push_back(operand.place);
  }
  const auto row = Rows().find(op.opcode().id());
  const auto function = row == Rows().end() ? std::nullopt : row->second(RowContext{op, dtypes});
  if (!function || places.size() > 3)
    return context_.Unsupported("its body has " + std::string(op.name()) +
                                " on operands that no row computes");
  if (!FillsResult(op))
    return context_.Unsupported("its body has values of another shape than the result");
  program_.Add(*function, places, PlaceResult(op));
  return absl::OkStatus();
}

bool Compiler::FillsResult(ir::Operation op) const {
  const std::span<const int64_t> result = context_.result_dims(0);
  std::vector<std::span<const int64_t>> shapes;
  for (const ir::Value value : op.operands()) {
    if (!value) continue;
    if (!value.IsBlockArgument()) return true;
    shapes.push_back(context_.dims(static_cast<size_t>(values_.at(value.id()).place.index)));
    if (op.Is<ops::Clip>()) break;  // its bounds are single values
  }
  const auto fits = [&](size_t from_end) {  // some operand has that dimension in full
    return std::any_of(shapes.begin(), shapes.end(), [&](std::span<const int64_t> dims) {
      return dims.size() >= from_end &&
             dims[dims.size() - from_end] == result[result.size() - from_end];
    });
  };
  for (size_t i = 1; i <= result.size(); ++i)
    if (!fits(i)) return false;
  return true;
}

Place Compiler::PlaceResult(ir::Operation op) {
  const DataType dtype = op.result().type().dtype();
  const auto size = static_cast<int>(ir::ElementSize(dtype));
  if (op.result() == returned_) return program_.Output(size);
  std::vector<int> dying;
  bool same_size = true;
  for (const ir::Value value : op.operands()) {
    if (!value) continue;
    const Place& place = values_.at(value.id()).place;
    same_size &= place.element_size == size;
    if (place.kind == Place::Kind::kSlot && last_reader_.at(value.id()) == op &&
        std::find(dying.begin(), dying.end(), place.index) == dying.end())
      dying.push_back(place.index);
  }
  if (same_size) free_.insert(free_.end(), dying.begin(), dying.end());
  int slot;
  if (free_.empty()) {
    slot = program_.AddSlot();
  } else {
    slot = free_.back();
    free_.pop_back();
  }
  if (!same_size) free_.insert(free_.end(), dying.begin(), dying.end());
  const Place place = program_.Slot(slot, size);
  values_[op.result().id()] = {dtype, place};
  if (op.result().IsUnused()) free_.push_back(slot);
  return place;
}

class ElementwiseKernel final : public Kernel {
 public:
  ElementwiseKernel(simd::ElementwiseProgram program, const KernelContext& context)
      : program_(std::move(program)),
        scratch_bytes_(program_.ScratchBytes(context.pool().num_threads())),
        may_overwrite_(context.OperandsLikeResult()),
        inputs_(context.num_inputs()) {}
  // What is spaced is so in every run.
  absl::Status Run(const KernelArgs& args) override {
    if (!args.spacings.empty() && !is_spaced_) {
      for (size_t i = 0; i < inputs_.size(); ++i)
        program_.SetStrides(
            static_cast<int>(i),
            OperandStrides(args, i, BroadcastStrides(args.inputs[i].dims, args.outputs[0].dims)));
      is_spaced_ = true;
    }
    for (size_t i = 0; i < inputs_.size(); ++i) inputs_[i] = args.inputs[i].data;
    program_.Run(inputs_, args.outputs[0].data, args.scratch, *args.pool);
    return absl::OkStatus();
  }
  std::string_view name() const override { return "fused elementwise"; }
  size_t scratch_bytes() const override { return scratch_bytes_; }
  bool MayOverwrite(size_t operand) const override {
    return operand < 32 && (may_overwrite_ >> operand & 1) != 0;
  }
  bool ReadsSpaced(size_t, const RowSpacing& rows) const override {
    return rows.row >= kLongRows.least;
  }

 private:
  simd::ElementwiseProgram program_;
  bool is_spaced_ = false;
  const size_t scratch_bytes_;
  const uint32_t may_overwrite_;
  std::vector<const void*> inputs_;
};

Made MakeElementwise(const KernelContext& context) {
  WEFT_ASSIGN_OR_RETURN(simd::ElementwiseProgram program, Compiler(context).Compile());
  return std::make_unique<ElementwiseKernel>(std::move(program), context);
}
const RegisterKernel<ir::fused::Elementwise> kElementwise("native", &MakeElementwise);

}  // namespace

void AddRow(ir::Opcode opcode, RowFactory factory) { Rows()[opcode.id()] = factory; }

}  // namespace weft::kernels::native
