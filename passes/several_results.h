// Ops in rules that give more results than they must: those of a Split, and optional ones.
//
//   auto [low, high] = Several<2>(src.Op<ops::Split>(), x, sizes);
#pragma once

#include <array>
#include <utility>

#include "drr/drr.h"

namespace weft::passes {

template <size_t kCount, class O, class... In>
auto Several(const drr::OpPattern<O>& op, const In&... in) {
  const std::array<drr::ValueId, sizeof...(In)> operands{drr::SourceOperand(in).id()...};
  const size_t first = op.graph()->Call(op.id(), operands, kCount).index();
  return drr::internal::Results<kCount>(
      [&](size_t i) { return drr::Tensor(op.graph(), drr::ValueId(first + i)); });
}

template <size_t kCount, class O, class... In>
auto Several(const drr::ResultOpPattern<O>& op, const In&... in) {
  const std::array<drr::ResultOperand, sizeof...(In)> operands{drr::Operand(in).value...};
  const size_t first = op.graph()->CallResult(op.id(), operands, kCount).index();
  return drr::internal::Results<kCount>(
      [&](size_t i) { return drr::ResultTensor(drr::ResultValueId(first + i)); });
}

}  // namespace weft::passes
