// Rules name an activation by the op that it is of (drr's snake_op_name).
#include <gtest/gtest.h>

#include <string_view>
#include <type_traits>

#include "drr/rule/algebra.h"
#include "ir/dialects/fused/activation_ops.h"

namespace weft::ir {
namespace {

template <class O>
void IsNamedAsItsOp(std::string_view text) {
  if constexpr (!std::is_void_v<O>) {
    const std::string_view name = O::kInfo.name;
    EXPECT_EQ(drr::SnakeCase(name.substr(name.rfind('.') + 1)), text);
  }
}

TEST(Activations, AreNamedAsTheirOps) {
#define WEFT_ROW(Name, text, num_params, op, body) IsNamedAsItsOp<op>(text);
  WEFT_FUSED_ACTIVATIONS(WEFT_ROW)
#undef WEFT_ROW
}

}  // namespace
}  // namespace weft::ir
