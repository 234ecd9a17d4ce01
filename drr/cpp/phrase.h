// Words of the vocabulary (drr/rule/vocabulary.h) as C++ says them: a word, its arguments, and the
// line they stand in. drr/cpp/constraints.h has the words.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <string_view>

#include "drr/cpp/handles.h"
#include "drr/rule/vocabulary.h"

namespace weft::drr {

// A value that may be absent: a constraint of it then holds.
class IfGiven {
 public:
  explicit IfGiven(Tensor value) : value_(value) {}
  Tensor value() const { return value_; }

 private:
  Tensor value_;
};

namespace internal {

struct PhraseArgument {
  enum Kind : uint8_t { kValue, kVariable, kInt, kNumber, kType, kString, kInts };
  Kind kind = kInt;
  bool if_given = false;
  ValueId value{};
  AttrId variable{};
  int64_t integer = 0;  // or an element type
  double number = 0;
  std::string_view text{};  // that lives as long as the rule is built
  ir::Ints integers{};
};

struct Phrase {
  std::string_view word;
  std::array<PhraseArgument, kMaxArguments> arguments;
  uint8_t size = 0;
  SourceLoc loc;
};

// Null, and an error of the rule, when the arguments are not what the word takes.
Formula MakeFormula(PatternGraph* graph, const Phrase& phrase, bool is_constraint);

}  // namespace internal

// What a constraint of C++ takes: a value, an integer or an attribute variable that holds one, an
// element type or a variable that holds one.
class ValueArg : public internal::PhraseArgument {
 public:
  ValueArg(Tensor t) : PhraseArgument{kValue, false, t.id()} {}
  ValueArg(IfGiven t) : PhraseArgument{kValue, true, t.value().id()} {}
};
class IntArg : public internal::PhraseArgument {
 public:
  template <std::integral I>
  IntArg(I i) : PhraseArgument{kInt, false, {}, {}, static_cast<int64_t>(i)} {}
  IntArg(Attr<int64_t> a) : PhraseArgument{kVariable, false, {}, a.id()} {}
};
class NumberArg : public internal::PhraseArgument {
 public:
  NumberArg(double number) : PhraseArgument{kNumber, false, {}, {}, 0, number} {}
  NumberArg(Attr<float> a) : PhraseArgument{kVariable, false, {}, a.id()} {}
};
// A list of integers: a constant, or an attribute variable that holds one.
class ListArg : public internal::PhraseArgument {
 public:
  ListArg(Tensor t) : PhraseArgument{kValue, false, t.id()} {}
  ListArg(Attr<Ints> a) : PhraseArgument{kVariable, false, {}, a.id()} {}
};
class DTypeArg : public internal::PhraseArgument {
 public:
  DTypeArg(ir::DataType t) : PhraseArgument{kType, false, {}, {}, static_cast<int64_t>(t)} {}
  DTypeArg(Attr<ir::DataType> a) : PhraseArgument{kVariable, false, {}, a.id()} {}
};

// What src.Require() and src.Profitable() take.
struct Condition : internal::Phrase {};
// An attribute computed by a formula: {.perm = Compose(p, q)}.
template <class T>
struct Expression : internal::Phrase {};

}  // namespace weft::drr
