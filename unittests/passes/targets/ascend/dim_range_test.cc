#include "passes/targets/ascend/dim_range.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::passes {
namespace {

using testing::ElementsAre;

TEST(DimRange, HasItsEndsAndWhatLiesEvenlyBetween) {
  EXPECT_THAT(ParseDimRange("n=1..4")->Sizes(10), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(ParseDimRange("n=1..9")->Sizes(3), ElementsAre(1, 5, 9));
  EXPECT_THAT(ParseDimRange("n=64..256*64")->Sizes(10), ElementsAre(64, 128, 192, 256));
  EXPECT_THAT(ParseDimRange("n=7..7")->Sizes(10), ElementsAre(7));
  EXPECT_THAT(ParseDimRange("n=1..100")->Sizes(4), ElementsAre(1, 34, 67, 100));
  EXPECT_EQ(ParseDimRange("n=1..9223372036854775807")->Sizes(64).back(), INT64_MAX);
}

TEST(DimRange, RefusesWhatIsNone) {
  for (const char* text :
       {"", "n", "=1..2", "n=", "n=1", "n=1..", "n=1..2*", "n=1..2*0", "n=0..2", "n=-1..2",
        "n=1..2x", "n=1..99999999999999999999", "n=2..1", "n=1..64*64", "n=64..100*64"})
    EXPECT_FALSE(ParseDimRange(text).ok()) << text;
}

}  // namespace
}  // namespace weft::passes
