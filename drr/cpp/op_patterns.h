// Ops of a pattern: applied to operands they give the values that they make.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <type_traits>
#include <utility>
#include <vector>

#include "drr/cpp/handles.h"
#include "ir/op_def.h"

namespace weft::drr {

namespace internal {

template <class O>
constexpr bool kArityOk(size_t n) {
  return n >= ir::MinOperands<O>() && n <= ir::MaxOperands<O>();
}
// A list among the operands is whatever is left of a variadic operand.
template <class O, class List, class... In>
constexpr bool CallOk() {
  constexpr bool kList = (std::is_same_v<In, List> || ...);
  return kList ? ir::MaxOperands<O>() == SIZE_MAX : kArityOk<O>(sizeof...(In));
}
template <class O>
constexpr size_t NumRequiredResults() {
  size_t n = 0;
  for (const auto& r : O::kInfo.results) n += r.arity == ir::Arity::kOne;
  return n;
}

// Handles of consecutive ids: one, or an array for structured bindings.
template <size_t kCount, class MakeHandle>
auto Results(MakeHandle make) {
  if constexpr (kCount == 1) {
    return make(0);
  } else {
    return [&]<size_t... kIndex>(std::index_sequence<kIndex...>) {
      return std::array<decltype(make(0)), kCount>{make(kIndex)...};
    }
    (std::make_index_sequence<kCount>());
  }
}

}  // namespace internal

// Applied to operands it gives its result, or an array of its results for structured bindings.
template <class O>
class OpPattern : public internal::Handle<OpId> {
 public:
  using Handle::Handle;
  template <class... In>
  auto operator()(const In&... in) const {
    static_assert((std::convertible_to<In, SourceOperand> && ...),
                  "source operands must be source tensors");
    static_assert(internal::CallOk<O, TensorList, In...>(), "wrong number of operands for this op");
    constexpr size_t kResults = internal::NumRequiredResults<O>();
    const std::array<ValueId, sizeof...(In)> operands{SourceOperand(in).id()...};
    const size_t first = graph()->Call(id(), operands, kResults).index();
    return internal::Results<kResults>(
        [&](size_t i) { return Tensor(graph(), ValueId(first + i)); });
  }
  // One such op for every element of a list: a list of their results.
  TensorList Each(TensorList operands) const {
    static_assert(internal::kArityOk<O>(1), "Each() is for ops of one operand");
    return {graph(), graph()->CallEach(id(), operands.id())};
  }

  typename O::template Attrs<ir::Plain> In(const MatchContext& m) const {
    return ir::ReadAttrs<O>(m.op(id()) ? m.op(id()).attrs() : ir::AttrDict());
  }
  bool IsIn(const MatchContext& m) const { return static_cast<bool>(m.op(id())); }
};

template <class... Os>
class OneOfPattern : public internal::Handle<OpId> {
 public:
  using Handle::Handle;
  template <class... In>
  Tensor operator()(const In&... in) const {
    static_assert((internal::CallOk<Os, TensorList, In...>() && ...),
                  "wrong number of operands for one of these ops");
    const std::array<ValueId, sizeof...(In)> operands{SourceOperand(in).id()...};
    return Tensor(graph(), graph()->Call(id(), operands, 1));
  }
  TensorList Each(TensorList operands) const {
    static_assert((internal::kArityOk<Os>(1) && ...), "Each() is for ops of one operand");
    return {graph(), graph()->CallEach(id(), operands.id())};
  }

  bool IsIn(const MatchContext& m) const { return static_cast<bool>(m.op(id())); }
  template <class O>
  bool Is(const MatchContext& m) const {
    static_assert((std::is_same_v<O, Os> || ...), "this op is not among the alternatives");
    return m.op(id()) && m.op(id()).template Is<O>();
  }
  template <class O>
  typename O::template Attrs<ir::Plain> As(const MatchContext& m) const {
    static_assert((std::is_same_v<O, Os> || ...), "this op is not among the alternatives");
    return ir::ReadAttrs<O>(m.op(id()) ? m.op(id()).attrs() : ir::AttrDict());
  }
};

// An op of any name, of which the first result is used.
class AnyOpPattern : public internal::Handle<OpId> {
 public:
  using Handle::Handle;
  template <class... In>
  Tensor operator()(const In&... in) const {
    static_assert((std::convertible_to<In, SourceOperand> && ...),
                  "source operands must be source tensors");
    const std::array<ValueId, sizeof...(In)> operands{SourceOperand(in).id()...};
    return Tensor(graph(), graph()->Call(id(), operands, 1));
  }
  ir::Operation In(const MatchContext& m) const { return m.op(id()); }
  bool IsIn(const MatchContext& m) const { return static_cast<bool>(m.op(id())); }
};

// How often ops may repeat. A longer chain matches with as many of its last ops as are allowed.
struct Range {
  int min = 0;
  int max = 32;
};

// Zero or more ops in a row. Each uses the one before as its first operand (a commutative one as the
// second when the first is a constant); further operands are whatever they are.
class RepeatPattern : public internal::Handle<OpId> {
 public:
  using Handle::Handle;
  Tensor operator()(const Tensor& in) const {
    const ValueId operand = in.id();
    return Tensor(graph(), graph()->Call(id(), {&operand, 1}, 1));
  }
  const std::vector<ir::Operation>& In(const MatchContext& m) const {  // innermost first
    return m.op_list(id());
  }
};

template <class O>
class ResultOpPattern : public internal::Handle<ResultOpId> {
 public:
  using Handle::Handle;
  template <class... In>
  auto operator()(const In&... in) const {
    static_assert((std::convertible_to<In, Operand> && ...), "operands must be tensors or None()");
    constexpr bool kSourceList = (std::is_same_v<In, TensorList> || ...);
    using List = std::conditional_t<kSourceList, TensorList, ResultList>;
    static_assert(internal::CallOk<O, List, In...>(), "wrong number of operands for this op");
    constexpr size_t kResults = internal::NumRequiredResults<O>();
    const std::array<ResultOperand, sizeof...(In)> operands{Operand(in).value...};
    const size_t first = graph()->CallResult(id(), operands, kResults).index();
    return internal::Results<kResults>(
        [&](size_t i) { return ResultTensor(ResultValueId(first + i)); });
  }
  // One such op for every element of a list, which is its first operand: a list of their results.
  template <class... In>
  ResultList Each(Operand list, const In&... in) const {
    static_assert((std::convertible_to<In, Operand> && ...), "operands must be tensors or None()");
    static_assert(internal::kArityOk<O>(1 + sizeof...(In)), "wrong number of operands for this op");
    const std::array<ResultOperand, 1 + sizeof...(In)> operands{list.value, Operand(in).value...};
    return ResultList(graph()->CallEachResult(id(), operands));
  }
  ir::Operation After(const PostContext& p) const { return p.result_op(id()); }
};

class ResultOpLike : public internal::Handle<ResultOpId> {
 public:
  using Handle::Handle;
  template <class... In>
  ResultTensor operator()(const In&... in) const {
    static_assert((std::convertible_to<In, Operand> && ...), "operands must be tensors or None()");
    const std::array<ResultOperand, sizeof...(In)> operands{Operand(in).value...};
    return ResultTensor(graph()->CallResult(id(), operands, 1));
  }
};

}  // namespace weft::drr
