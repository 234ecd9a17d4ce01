// What a rule calls its parts by: tensors, attribute variables and ops of the source pattern, and
// what the result makes. Trivially copyable, so that functions of a rule capture them with [=]; a
// match gives what they stand for: m[x] is a BoundTensor, m[p] the value of an Attr, m[op] the
// attributes of an op (drr/rule/match_context.h).
#pragma once

#include <string>
#include <type_traits>
#include <vector>

#include "drr/rule/match_context.h"
#include "drr/rule/post_context.h"

namespace weft::drr {

namespace internal {

// The part of a rule that has this id.
template <class Id>
class Numbered {
 public:
  explicit Numbered(Id id) : id_(id) {}
  Id id() const { return id_; }

 private:
  Id id_;
};

template <class Id>
class Handle : public Numbered<Id> {
 public:
  Handle(PatternGraph* graph, Id id) : Numbered<Id>(id), graph_(graph) {}
  PatternGraph* graph() const { return graph_; }

 private:
  PatternGraph* graph_;
};

}  // namespace internal

class Tensor : public internal::Handle<ValueId> {
 public:
  using Handle::Handle;
  BoundTensor In(const MatchContext& m) const { return BoundTensor(m.value(id())); }
  bool IsIn(const MatchContext& m) const { return static_cast<bool>(m.value(id())); }
  // Null once it went with the ops that were replaced.
  BoundTensor After(const PostContext& p) const;
};

// Any number of values: consecutive operands of an op that takes any number of them.
class TensorList : public internal::Handle<ValueId> {
 public:
  using Handle::Handle;
  std::vector<BoundTensor> In(const MatchContext& m) const;
};

template <class T>
class Attr : public internal::Numbered<AttrId> {
 public:
  using Numbered::Numbered;
  T In(const MatchContext& m) const {
    T value{};
    ir::ReadAttr(m.attr(id()), &value);
    return value;
  }
  T After(const PostContext& p) const { return In(p.match()); }
};

class ResultTensor : public internal::Numbered<ResultValueId> {
 public:
  using Numbered::Numbered;
  ir::Value After(const PostContext& p) const { return p.result(id()); }
};

class ResultList : public internal::Numbered<ResultValueId> {
 public:
  using Numbered::Numbered;
};

struct NoneTensor {};  // an optional operand that is not given

class SourceOperand {
 public:
  SourceOperand(Tensor t) : id_(t.id()) {}
  SourceOperand(TensorList t) : id_(t.id()) {}
  SourceOperand(NoneTensor) : id_(kAbsent) {}
  ValueId id() const { return id_; }

 private:
  ValueId id_;
};

class Operand {
 public:
  Operand(Tensor t) : value(ResultOperand::Source(t.id())) {}
  Operand(ResultTensor t) : value(ResultOperand::Result(t.id())) {}
  Operand(TensorList t) : value(ResultOperand::Source(t.id(), true)) {}
  Operand(ResultList t) : value(ResultOperand::Result(t.id(), true)) {}
  Operand(NoneTensor) {}
  ResultOperand value;
};

}  // namespace weft::drr
