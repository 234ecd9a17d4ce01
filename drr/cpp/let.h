// A value that a function of the rule computes once per match: see SourcePattern::Let.
#pragma once

#include "drr/rule/match_context.h"

namespace weft::drr {

template <class T>
class Let {
 public:
  explicit Let(LetId id) : id_(id) {}
  const T& In(const MatchContext& m) const { return m.let<T>(id_); }
  const T& operator()(const MatchContext& m) const { return In(m); }  // {.perm = let}
  // A member of it: res.ConstantInts(slice[&Slice::starts]).
  template <class U, class C>
  auto operator[](U C::*member) const {
    return [let = *this, member](const MatchContext& m) -> U { return let.In(m).*member; };
  }

 private:
  LetId id_;
};

}  // namespace weft::drr
