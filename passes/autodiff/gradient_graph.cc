#include "passes/autodiff/gradient_graph.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/dialects/builtin.h"
#include "ir/dialects/pd.h"
#include "ir/walk.h"

namespace weft::passes {
namespace {

namespace pd = ir::pd;

// An unknown element type may be a float.
bool MayBeDifferentiable(ir::Type type) {
  if (type.IsVector())
    return std::any_of(type.elements().begin(), type.elements().end(), MayBeDifferentiable);
  return !type.IsTensor() || type.dtype() == ir::DataType::kNull || ir::IsFloat(type.dtype());
}

std::string Named(ir::Operation op) {
  const std::string_view where = op.location().str();
  return where.empty() ? std::string(op.name()) : fmt::format("{} ({})", op.name(), where);
}

// By result. Listings have numbers for booleans.
absl::StatusOr<std::vector<bool>> StopsGradient(ir::Operation op) {
  const ir::Attribute attr = op.attr("stop_gradient");
  const uint32_t n = op.num_results();
  if (!attr) return std::vector<bool>(n, op.Is<pd::Feed>());
  if (attr.Is(ir::AttrKind::kBool)) return std::vector<bool>(n, attr.AsBool());
  if (attr.Is(ir::AttrKind::kInt)) return std::vector<bool>(n, attr.AsInt() != 0);
  if (attr.Is(ir::AttrKind::kInts) && attr.AsInts().size() == n) {
    std::vector<bool> stops;
    for (const int64_t stop : attr.AsInts()) stops.push_back(stop != 0);
    return stops;
  }
  return ir::InvalidArgument(fmt::format(
      "{}: stop_gradient must be true, false or an array with a number for each of {} results",
      Named(op), n));
}

std::string_view OperandName(ir::Operation op, uint32_t i) {
  const auto& defs = op.def()->info->operands;
  return defs[std::min<size_t>(i, defs.size() - 1)].name;
}

}  // namespace

bool GradientGraph::ReadsVarying(ir::Operation op) const {
  bool varies = false;
  for (const ir::Value v : op.operands()) varies |= Varies(v);
  for (uint32_t i = 0; i < op.num_regions(); ++i)
    ir::Walk(op.region(i), [&](ir::Operation inner) {
      for (const ir::Value v : inner.operands()) varies |= Varies(v);
      varies |= inner.Is<ir::GetParameterOp>() && MayBeDifferentiable(inner.result().type());
    });
  return varies;
}

absl::Status GradientGraph::FindVarying() {
  for (const ir::Operation op : program_.body()) {
    ops_.push_back(op);
    WEFT_ASSIGN_OR_RETURN(const std::vector<bool> stops, StopsGradient(op));
    const bool asked = op.Is<ir::GetParameterOp>() || op.Is<pd::Feed>();
    if (!asked && !ReadsVarying(op)) continue;
    for (uint32_t i = 0; i < op.num_results(); ++i)
      if (!stops[i] && MayBeDifferentiable(op.result(i).type())) varying_.insert(op.result(i).id());
  }
  return absl::OkStatus();
}

ir::Value GradientGraph::Add(ir::Value x, ir::Value y) {
  if (!x.type().IsVector()) {  // stated types may contradict each other
    ir::Operation sum;
    std::string error;
    ir::OperationState state{.opcode = ir::kOpcodeOf<pd::Add>, .operands = {x, y}};
    if (!ir::Compatible(x.type(), y.type())) {
      error = "one is " + x.type().ToString() + ", one " + y.type().ToString();
    } else if (builder_.TryCreate(std::move(state), 1, &sum, &error)) {
      return sum.result();
    }
    if (status_.ok()) status_ = ir::InvalidArgument("gradients of one value: " + error);
    return x;
  }
  const auto count = static_cast<int>(x.type().elements().size());
  const auto xs = builder_.Create<ir::SplitOp>({x}, {}, count).results().vec();
  const auto ys = builder_.Create<ir::SplitOp>({y}, {}, count).results().vec();
  std::vector<ir::Value> sums;
  for (size_t i = 0; i < xs.size(); ++i) sums.push_back(Add(xs[i], ys[i]));
  return builder_.Make<ir::CombineOp>(sums);
}

ir::Value GradientGraph::TakeGradient(ir::Value of) {
  const auto found = pending_.find(of.id());
  if (found == pending_.end()) return {};
  ir::Value sum;
  for (const ir::Value v : found->second) sum = sum ? Add(sum, v) : v;
  pending_.erase(found);
  return sum;
}

void GradientGraph::AddGradient(ir::Operation source, ir::Value value) {
  const bool is_input = source.Is<pd::Feed>();
  const std::string name = is_input ? source.attrs_of<pd::Feed>().name
                                    : source.attrs_of<ir::GetParameterOp>().parameter_name;
  const auto [known, is_new] = gradient_of_.try_emplace({is_input, name}, gradients_.size());
  if (is_new) {
    gradients_.push_back({name, is_input, value});
  } else {
    Gradient& gradient = gradients_[known->second];
    gradient.value = Add(value, gradient.value);
  }
}

absl::Status GradientGraph::Differentiate(ir::Operation op) {
  const Vjp* vjp = op.def() ? FindVjp(op.name()) : nullptr;
  ir::Value out_grad;
  for (uint32_t i = 0; i < op.num_results(); ++i) {
    const ir::Value grad = TakeGradient(op.result(i));
    if (!grad) continue;
    if (!vjp)
      return ir::Unsupported(
          fmt::format("{} has no gradient, and the loss depends on it", Named(op)));
    if (i != vjp->result)
      return ir::Unsupported(fmt::format("{} has no gradient of its result {}, which is read",
                                         Named(op), op.def()->info->results[i].name));
    out_grad = grad;
  }
  if (!out_grad) return absl::OkStatus();
  std::vector<bool> wanted;
  for (const ir::Value v : op.operands()) wanted.push_back(Varies(v));
  builder_.set_location(op.location());
  VjpContext c(builder_, op, out_grad, wanted);
  vjp->build(c);
  WEFT_RETURN_IF_ERROR(ir::Annotate(c.status(), "the gradient of " + Named(op)));
  for (uint32_t i = 0; i < op.num_operands(); ++i) {
    if (!wanted[i]) continue;
    const auto& grad = c.grads()[i];
    if (!grad)
      return ir::Unsupported(
          fmt::format("{} has no gradient for its operand {}", Named(op), OperandName(op, i)));
    if (*grad) pending_[op.operand(i).id()].push_back(*grad);
  }
  for (const uint32_t i : c.constants())
    if (wanted[i])
      constant_for_[op.operand(i).DefiningOp().attrs_of<ir::GetParameterOp>().parameter_name] = op;
  return absl::OkStatus();
}

absl::Status GradientGraph::CheckGradients() const {
  for (const Gradient& gradient : gradients_) {
    if (gradient.is_input) continue;
    const auto found = constant_for_.find(gradient.name);
    if (found != constant_for_.end())
      return ir::Unsupported(
          fmt::format("{} takes the parameter '{}' for a constant, and the loss depends on it by "
                      "another way too",
                      Named(found->second), gradient.name));
    if (gradient_of_.count({true, gradient.name}))
      return ir::InvalidArgument(fmt::format(
          "a parameter and an input are both named '{}', and their gradients would be too",
          gradient.name));
  }
  return absl::OkStatus();
}

absl::Status GradientGraph::Build(ir::Value loss) {
  WEFT_RETURN_IF_ERROR(FindVarying());
  if (!Varies(loss)) return absl::OkStatus();
  const ir::Type type = loss.type();
  pending_[loss.id()] = {
      builder_.Make<pd::Full>({}, {.dtype = type.dtype(), .shape = type.shape(), .value = 1.0f})};
  for (auto op = ops_.rbegin(); op != ops_.rend(); ++op) {
    if (!op->Is<ir::GetParameterOp>() && !op->Is<pd::Feed>()) {
      WEFT_RETURN_IF_ERROR(Differentiate(*op));
    } else if (const ir::Value grad = TakeGradient(op->result())) {
      AddGradient(*op, grad);
    }
  }
  std::reverse(gradients_.begin(), gradients_.end());
  WEFT_RETURN_IF_ERROR(status_);
  return CheckGradients();
}

}  // namespace weft::passes
