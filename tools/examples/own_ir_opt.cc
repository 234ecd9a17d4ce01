// ir-opt with a rule of one's own linked in.
#include <passes/rules.h>
#include <weft/tools.h>

namespace weft::passes {

// relu(sqrt(x)) => sqrt(x), which is never negative
WEFT_RULE(DropReluOfSqrt, "canonicalize", kExact) {
  auto x = src.Tensor("x");
  auto out = src.Op<ops::Relu>()(src.Op<ops::Sqrt>()(x));
  res.Tensor(out) = res.Op<ops::Sqrt>()(x);
}

}  // namespace weft::passes

int main(int argc, char** argv) { return weft::IrOptMain(argc, argv); }
