// append-backward: the gradients of a loss with respect to all parameters become outputs, as Paddle's
// append_backward does it. Seed: paddle_drr_pass_demo.txt, GradInterface and the Vjp of MatmulOp.
//
//   loss = mean(matmul(x, w)); fetch(loss)   =>   the same, and
//   g = full(1); h = mean_grad(matmul, g); (_, w@GRAD) = matmul_grad(x, w, h); fetch(w@GRAD)
//
// The loss is the last output, or the one that the module's attribute `loss` names. Ops with a
// gradient are those of passes/autodiff/; stop_gradient is explained in passes/autodiff/gradient_graph.h.
#include <fmt/format.h>

#include <algorithm>

#include "ir/dialects/builtin.h"
#include "ir/dialects/pd.h"
#include "ir/rewriter.h"
#include "passes/autodiff/gradient_graph.h"
#include "passes/pass_registry.h"

namespace weft::passes {
namespace {

namespace pd = ir::pd;

constexpr std::string_view kSuffix = "@GRAD";

struct Output {
  std::string name;  // "" if it has none
  ir::Value value;
  bool fetched = false;
};

// What pd.fetch and builtin.return of the body give, in their order.
std::vector<Output> Outputs(ir::Program& program) {
  std::vector<Output> outputs;
  const auto names = program.module().attrs_of<ir::ModuleOp>().output_names;
  for (const ir::Operation op : program.body()) {
    if (op.Is<pd::Fetch>()) outputs.push_back({op.attrs_of<pd::Fetch>().name, op.operand(0), true});
    if (!op.Is<ir::ReturnOp>()) continue;
    for (uint32_t i = 0; i < op.num_operands(); ++i)
      outputs.push_back({names ? (*names)[i] : std::string(op.operand(i).name()), op.operand(i)});
  }
  return outputs;
}

absl::StatusOr<Output> FindLoss(ir::Program& program, const std::vector<Output>& outputs) {
  if (outputs.empty()) return ir::InvalidArgument("the program has no output that may be a loss");
  Output loss = outputs.back();
  if (const ir::Attribute name = program.module().attr("loss")) {
    if (!name.Is(ir::AttrKind::kString))
      return ir::InvalidArgument("the module's attribute loss must be the name of an output");
    const auto found = std::find_if(outputs.begin(), outputs.end(), [&](const Output& output) {
      return output.name == name.AsString();
    });
    if (found == outputs.end())
      return ir::InvalidArgument(fmt::format("no output is named '{}', the loss", name.AsString()));
    loss = *found;
  }
  const ir::Type type = loss.value ? loss.value.type() : ir::Type();
  if (!type.IsTensor() || type.NumElements() != 1 || !ir::IsFloat(type.dtype()))
    return ir::InvalidArgument(
        fmt::format("the loss '{}' is {}, not one float (the last output is the loss, unless the "
                    "module's attribute loss names another)",
                    loss.name, type ? type.ToString() : "missing"));
  return loss;
}

class AppendBackward : public Pass {
 public:
  AppendBackward()
      : Pass("append-backward",
             "adds the gradients of the loss, the last output, by all parameters (pd dialect)",
             {.seed = "paddle"}) {}

  absl::Status Run(ir::Program& program) override {
    if (!program.context()->FindOp(ir::kOpcodeOf<pd::Full>))
      return ir::InvalidArgument("the pd dialect, which gradients are made of, is not loaded");
    const std::vector<Output> outputs = Outputs(program);
    for (const Output& output : outputs)
      if (output.name.ends_with(kSuffix)) return absl::OkStatus();  // it was here before
    if (program.module().region(0).blocks().size() > 1)
      return ir::Unsupported("a program of several blocks has no gradients");
    WEFT_ASSIGN_OR_RETURN(const Output loss, FindLoss(program, outputs));
    ir::Rewriter rewriter(&program);
    GradientGraph graph(program, rewriter);
    WEFT_RETURN_IF_ERROR(graph.Build(loss.value));
    if (graph.gradients().empty())
      return ir::InvalidArgument(
          fmt::format("the loss '{}' depends on no parameter that has a gradient", loss.name));
    rewriter.set_location({});
    if (loss.fetched) {
      WEFT_RETURN_IF_ERROR(Fetch(program, rewriter, graph.gradients()));
    } else {
      Return(program, rewriter, graph.gradients());
    }
    Count("gradients", graph.gradients().size());
    MarkChanged();
    return absl::OkStatus();
  }

 private:
  using Gradients = std::vector<GradientGraph::Gradient>;

  static absl::Status Fetch(ir::Program& program, ir::Rewriter& rewriter,
                            const Gradients& gradients) {
    std::optional<int64_t> column;  // fetches are numbered, or not
    for (const ir::Operation op : program.body()) {
      if (!op.Is<pd::Fetch>()) continue;
      if (const auto col = op.attrs_of<pd::Fetch>().col)
        column = std::max(column.value_or(0), *col);
    }
    for (const auto& gradient : gradients) {
      if (column && __builtin_add_overflow(*column, 1, &*column))
        return ir::InvalidArgument("the columns of its pd.fetch leave no room for gradients");
      rewriter.Create<pd::Fetch>({gradient.value},
                                 {.col = column, .name = gradient.name + std::string(kSuffix)}, 0);
    }
    return absl::OkStatus();
  }

  static void Return(ir::Program& program, ir::Rewriter& rewriter, const Gradients& gradients) {
    const ir::Operation end = program.body().Terminator(), module = program.module();
    std::vector<ir::Value> values = end.operands().vec();
    auto names = module.attrs_of<ir::ModuleOp>().output_names;
    for (const auto& gradient : gradients) {
      const std::string name = gradient.name + std::string(kSuffix);
      values.push_back(gradient.value);
      if (names) {
        names->push_back(name);
      } else {
        program.SetName(gradient.value, name);
      }
    }
    rewriter.SetOperands(end, values);
    if (names) rewriter.SetAttr(module, "output_names", program.context()->StringsAttr(*names));
  }
};
WEFT_REGISTER_PASS(AppendBackward);

}  // namespace
}  // namespace weft::passes
