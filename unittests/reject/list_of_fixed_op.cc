// EXPECT: wrong number of operands for this op
#include "unittests/reject/prelude.h"

void Rule(SourcePattern src, ResultPattern res) {
  (void)res;
  src.Op<ops::Add>()(src.Tensors("xs"));
}
