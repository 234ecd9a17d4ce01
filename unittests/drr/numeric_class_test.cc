#include "drr/rule/numeric_class.h"

#include <gtest/gtest.h>

namespace weft::drr {
namespace {

TEST(NumericClass, IsFoundByItsName) {
  for (const NumericClass numerics : {NumericClass::kExact, NumericClass::kReassociates,
                                      NumericClass::kApproximate, NumericClass::kChangesMeaning})
    EXPECT_EQ(FindNumericClass(NumericClassName(numerics)), numerics);
  EXPECT_EQ(FindNumericClass("exakt"), std::nullopt);
}

TEST(NumericClass, IsCalledReassociateToo) {
  EXPECT_EQ(FindNumericClass("reassociate"), NumericClass::kReassociates);
  EXPECT_EQ(NumericClassName(NumericClass::kReassociates), "reassociates");
}

TEST(NumericClass, ListsItsNames) {
  EXPECT_EQ(NumericClassChoices("'"),
            "'exact', 'reassociates', 'approximate' or 'changes-meaning'");
}

}  // namespace
}  // namespace weft::drr
