// EXPECT: error: no matching (member )?function for call to .*Op\b
#include "unittests/reject/prelude.h"

void Rule(SourcePattern src, ResultPattern res) {
  (void)res;
  (void)src;
  res.Op<ops::Transpose>({.perm = [=](const MatchContext&) { return 1.5f; }});
}
