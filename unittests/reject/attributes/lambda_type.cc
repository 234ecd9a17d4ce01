// EXPECT: error: .*this attribute of op O is a T
#include "unittests/reject/prelude.h"

void Rule(SourcePattern src, ResultPattern res) {
  (void)res;
  (void)src;
  res.Op<ops::Transpose>({.perm = [=](const MatchContext&) { return 1.5f; }});
}
