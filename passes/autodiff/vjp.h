// Vector-Jacobian products: how the gradients of an op's operands follow from that of its result. The
// pass append-backward calls them.
//
//   // of x: out_grad where out is positive
//   void ReluVjp(VjpContext& c) { c.SetGrads<pd::ReluGrad>({c.result(), c.out_grad()}, {0}); }
//   WEFT_REGISTER_VJP(pd::Relu, ReluVjp);
//
// An op without one has no gradient. So has an operand for which a VJP sets nothing: a program that
// needs it is refused, never differentiated wrongly.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/base/status.h"
#include "ir/builder.h"

namespace weft::passes {

class VjpContext {
 public:
  // `wanted`: whether operand i needs its gradient. New ops go where `builder` stands.
  VjpContext(ir::Builder& builder, ir::Operation op, ir::Value out_grad, std::vector<bool> wanted)
      : builder_(builder),
        op_(op),
        out_grad_(out_grad),
        wanted_(std::move(wanted)),
        grads_(wanted_.size()) {}

  ir::Operation op() const { return op_; }
  ir::Value operand(uint32_t i) const { return op_.operand(i); }
  ir::Value result(uint32_t i = 0) const { return op_.result(i); }
  ir::Value out_grad() const { return out_grad_; }
  bool wants(uint32_t operand) const { return wanted_[operand]; }

  // Creates an op; its results, or null values when its operands do not fit (then status() says
  // why).
  template <class O>
  std::vector<ir::Value> Create(ir::ValueList operands,
                                const typename O::template Attrs<ir::BuilderSlot>& attrs = {},
                                size_t num_results = O::kInfo.results.size()) {
    return Create(ir::OpDefOf<O>(), operands, ir::MakeAttrs<O>(*builder_.context(), attrs),
                  num_results);
  }
  template <class O>
  ir::Value Make(ir::ValueList operands,
                 const typename O::template Attrs<ir::BuilderSlot>& attrs = {}) {
    return Create<O>(operands, attrs)[0];
  }

  void SetGrad(uint32_t operand, ir::Value grad) { grads_[operand] = grad; }
  // The result does not depend on the operand.
  void SetZero(uint32_t operand) { grads_[operand] = ir::Value(); }
  // The parameter counts as a constant, though the result depends on it: a program in which the loss
  // depends on it by another way too is refused.
  void SetConstant(uint32_t operand) {
    SetZero(operand);
    constants_.push_back(operand);
  }
  // Creates the op Grad, with the attributes that it shares with op(), if one of the operands `of` is
  // wanted: its results are their gradients.
  template <class Grad>
  void SetGrads(ir::ValueList operands, std::initializer_list<uint32_t> of) {
    SetGrads(ir::OpDefOf<Grad>(), operands, of);
  }

  const absl::Status& status() const { return status_; }
  // By operand: nullopt where none was set, null for zero.
  const std::vector<std::optional<ir::Value>>& grads() const { return grads_; }
  const std::vector<uint32_t>& constants() const { return constants_; }  // operands

 private:
  std::vector<ir::Value> Create(const ir::OpDef& def, ir::ValueList operands, ir::AttrDict attrs,
                                size_t num_results);
  void SetGrads(const ir::OpDef& def, ir::ValueList operands, std::initializer_list<uint32_t> of);

  ir::Builder& builder_;
  ir::Operation op_;
  ir::Value out_grad_;
  std::vector<bool> wanted_;
  std::vector<std::optional<ir::Value>> grads_;
  std::vector<uint32_t> constants_;
  absl::Status status_;
};

struct Vjp {
  void (*build)(VjpContext& c) = nullptr;
  uint32_t result = 0;  // the one that has a gradient
};
const Vjp* FindVjp(std::string_view op_name);  // null if there is none

namespace internal {
bool AddVjp(std::string_view op_name, Vjp vjp);
}

// WEFT_REGISTER_VJP(Op, function) or (Op, function, result), in a source file
#define WEFT_REGISTER_VJP(Op, ...)                                              \
  [[maybe_unused]] static const bool WEFT_CONCAT(weft_vjp_in_line_, __LINE__) = \
      ::weft::passes::internal::AddVjp(Op::kInfo.name, {__VA_ARGS__})

}  // namespace weft::passes
