// EXPECT: Each\(\) is for ops of one operand
#include "unittests/reject/prelude.h"

void Rule(SourcePattern src, ResultPattern res) {
  (void)res;
  src.Op<ops::Add>().Each(src.Tensors("xs"));
}
