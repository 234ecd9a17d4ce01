// Ops that move elements, or compare them: they run on numbers that stand for strings, with the kernels
// for numbers. 0 stands for the empty string, which is what ops fill up with.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "ir/builder.h"
#include "ir/dialects/onnx.h"
#include "kernels/reference/reference.h"
#include "kernels/reference/value_kernel.h"
#include "kernels/runtime/session.h"
#include "kernels/runtime/value_type.h"
#include "kernels/strings_result.h"

namespace weft::kernels::reference {
namespace {

namespace ops = ir::ops;

// Which number an element has: one of its own, or, where an op compares elements, that of equal ones,
// the larger the later it comes.
enum class Numbering { kOwn, kSorted };

// The type with i64 in the place of strings.
ir::Type NumberType(ir::Type type) {
  ir::IrContext& context = *type.context();
  if (!HoldsStrings(type)) return type;
  if (type.IsSequence()) return context.SequenceType(NumberType(type.element()));
  if (type.IsOptional()) return context.OptionalType(NumberType(type.element()));
  return type.HasRank() ? context.TensorType(ir::DataType::kI64, type.dims())
                        : context.UnrankedTensorType(ir::DataType::kI64);
}

bool IsKnown(ir::Type type) {
  while (type && type.HasElement()) type = type.element();
  return type && type.IsTensor() && type.dtype() != ir::DataType::kNull;
}

// The strings of the operands of one run, by number.
class Dictionary {
 public:
  void Add(const RuntimeValue& value) {
    if (value.IsSequence())
      for (const std::shared_ptr<Tensor>& tensor : *value.sequence) Add(tensor->view());
    else
      Add(value.view);
  }
  void Sort() {
    std::sort(strings_.begin(), strings_.end());
    strings_.erase(std::unique(strings_.begin(), strings_.end()), strings_.end());
    sorted_ = true;
  }
  // Values in the order they were added.
  absl::StatusOr<RuntimeValue> ToNumbers(const RuntimeValue& value) {
    return Mapped(value, ir::DataType::kString,
                  [this](const TensorView& tensor) { return ToNumbers(tensor); });
  }
  absl::StatusOr<RuntimeValue> ToStrings(const RuntimeValue& value) const {
    return Mapped(value, ir::DataType::kI64,
                  [this](const TensorView& tensor) { return ToStrings(tensor); });
  }

 private:
  void Add(const TensorView& tensor) {
    if (tensor.dtype != ir::DataType::kString) return;
    for (const std::string& text : tensor.values<std::string>()) strings_.emplace_back(text);
  }

  absl::StatusOr<Tensor> ToNumbers(const TensorView& tensor) {
    WEFT_ASSIGN_OR_RETURN(Tensor numbers, CreateDynamic(ir::DataType::kI64,
                                                        {tensor.dims.begin(), tensor.dims.end()}));
    const std::span<std::string> strings = tensor.values<std::string>();
    for (size_t i = 0; i < strings.size(); ++i)
      numbers.values<int64_t>()[i] = sorted_ ? PlaceOf(strings[i]) : next_++;
    return numbers;
  }
  int64_t PlaceOf(std::string_view text) const {
    return std::lower_bound(strings_.begin(), strings_.end(), text) - strings_.begin();
  }

  absl::StatusOr<Tensor> ToStrings(const TensorView& numbers) const {
    WEFT_ASSIGN_OR_RETURN(StringsResult result,
                          StringsResult::Create({numbers.dims.begin(), numbers.dims.end()}));
    for (const int64_t number : numbers.values<int64_t>()) {
      if (number < 0 || number >= static_cast<int64_t>(strings_.size()))
        return ir::Internal("a number that stands for no string");
      WEFT_RETURN_IF_ERROR(result.Add(std::string(strings_[static_cast<size_t>(number)])));
    }
    return std::move(result).Finish();
  }

  // The value with its tensors of type `from` mapped.
  template <class Map>
  static absl::StatusOr<RuntimeValue> Mapped(const RuntimeValue& value, ir::DataType from,
                                             const Map& map) {
    if (value.IsTensor() && value.view.dtype == from) {
      WEFT_ASSIGN_OR_RETURN(Tensor mapped, map(value.view));
      return RuntimeValue::Of(std::move(mapped));
    }
    if (!value.IsSequence()) return value;
    Sequence::Elements elements;
    for (const std::shared_ptr<Tensor>& tensor : *value.sequence) {
      if (tensor->dtype() != from) return value;
      WEFT_ASSIGN_OR_RETURN(Tensor mapped, map(tensor->view()));
      elements.push_back(std::make_shared<Tensor>(std::move(mapped)));
    }
    return RuntimeValue::Of(Sequence(std::move(elements)));
  }

  std::vector<std::string_view> strings_ = {""};
  bool sorted_ = false;
  int64_t next_ = 1;
};

// The op on numbers as a program; its inputs are the operands `inputs`.
struct NumberProgram {
  std::unique_ptr<Session> session;
  std::vector<size_t> inputs;
};

absl::StatusOr<NumberProgram> MakeProgram(const KernelContext& context) {
  NumberProgram made;
  ir::Program program(context.op().context());
  ir::Builder builder(&program);
  ir::OperationState state{.opcode = context.op().opcode(), .attrs = context.op().attrs()};
  for (size_t i = 0; i < context.num_inputs(); ++i) {
    if (!context.HasInput(i)) {
      state.operands.emplace_back();
    } else if (context.constant(i) && !HoldsStrings(context.input_type(i))) {
      state.operands.push_back(builder.Constant(context.constant(i)));
    } else {
      state.operands.push_back(
          builder.AddInput("x" + std::to_string(i), NumberType(context.input_type(i))));
      made.inputs.push_back(i);
    }
  }
  ir::Operation op;
  std::string error;
  if (!builder.TryCreate(std::move(state), context.num_results(), &op, &error))
    return ir::InvalidArgument(error);
  std::vector<std::pair<std::string, ir::Value>> outputs;
  for (const ir::Value result : op.results())
    outputs.emplace_back("y" + std::to_string(outputs.size()), result);
  builder.Return(std::move(outputs));
  WEFT_ASSIGN_OR_RETURN(made.session, Session::Create(program, {.provider = "reference"}));
  return made;
}

class ByNumberKernel final : public ValueKernel {
 public:
  ByNumberKernel(const KernelContext& context, NumberProgram program, Numbering numbering)
      : ValueKernel(context), program_(std::move(program)), numbering_(numbering) {
    for (size_t i = 0; i < context.num_results(); ++i)
      gives_strings_.push_back(HoldsStrings(context.result_type(i)));
  }

 private:
  absl::StatusOr<std::vector<RuntimeValue>> Results(const KernelArgs& args) override {
    const std::vector<RuntimeValue> operands = ValuesFrom(args, 0);
    Dictionary dictionary;
    for (const RuntimeValue& operand : operands) dictionary.Add(operand);
    if (numbering_ == Numbering::kSorted) dictionary.Sort();
    std::vector<RuntimeValue> numbers;
    for (const size_t i : program_.inputs) {
      WEFT_ASSIGN_OR_RETURN(RuntimeValue value, dictionary.ToNumbers(operands[i]));
      numbers.push_back(std::move(value));
    }
    WEFT_ASSIGN_OR_RETURN(std::vector<RuntimeValue> results, program_.session->RunValues(numbers));
    for (size_t i = 0; i < results.size(); ++i) {
      if (!gives_strings_[i]) continue;
      WEFT_ASSIGN_OR_RETURN(results[i], dictionary.ToStrings(results[i]));
    }
    return results;
  }

  const NumberProgram program_;
  const Numbering numbering_;
  std::vector<bool> gives_strings_;
};

template <Numbering kNumbering>
absl::StatusOr<std::unique_ptr<Kernel>> Make(const KernelContext& context) {
  const ir::Attribute reduction = context.op().attrs().Get("reduction");  // of numbers only
  if (reduction.Is(ir::AttrKind::kString) && reduction.AsString() != "none")
    return context.Unsupported("the reduction " + reduction.AsString() + " of strings");
  for (size_t i = 0; i < context.num_results(); ++i)
    if (!IsKnown(context.result_type(i)))
      return context.Unsupported("a result that nothing says to be strings or numbers");
  WEFT_ASSIGN_OR_RETURN(NumberProgram program, MakeProgram(context));
  return std::make_unique<ByNumberKernel>(context, std::move(program), kNumbering);
}

template <class... Ops>
struct Register {
  explicit Register(KernelFactory factory) {
    (AddKernelFactory(ir::Opcode::FindOrAdd(Ops::kInfo.name), kStringsProvider, factory,
                      kValueKernel, __FILE__),
     ...);
  }
};

const Register<ops::CenterCropPad, ops::Compress, ops::Concat, ops::ConcatFromSequence,
               ops::DepthToSpace, ops::Expand, ops::Flatten, ops::Gather, ops::GatherElements,
               ops::GatherND, ops::OneHot, ops::Pad, ops::Reshape, ops::ReverseSequence,
               ops::ScatterElements, ops::ScatterND, ops::Shape, ops::Size, ops::Slice,
               ops::SpaceToDepth, ops::Split, ops::SplitToSequence, ops::Squeeze, ops::Tile,
               ops::Transpose, ops::Unsqueeze, ops::Where>
    kMoves(&Make<Numbering::kOwn>);
const Register<ops::Equal, ops::Unique> kCompares(&Make<Numbering::kSorted>);

}  // namespace
}  // namespace weft::kernels::reference
