#include "ir/base/escape.h"

#include <gtest/gtest.h>

namespace weft::ir {
namespace {

TEST(Escape, KeepsAMessageOnOneLine) {
  EXPECT_EQ(EscapeControl("no op is called 'Ta\nh'"), "no op is called 'Ta\\x0ah'");
  EXPECT_EQ(EscapeControl("\r\t\x1b[31m\x7f"), "\\x0d\\x09\\x1b[31m\\x7f");
  EXPECT_EQ(EscapeControl("größe '\\'"), "größe '\\'");
}

}  // namespace
}  // namespace weft::ir
