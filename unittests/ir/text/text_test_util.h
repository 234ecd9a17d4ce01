// What the tests of the text form share.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>

#include "ir/base/status.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "unittests/test_paths.h"

namespace weft::ir {

inline std::string ReadTestFile(const std::string& name) {
  std::ifstream file(fixtures::TestData("/ir/text/") + name, std::ios::binary);
  EXPECT_TRUE(file.good()) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

// The program of a text that must parse; an empty one, and a failed test, when it does not.
inline std::unique_ptr<Program> MustParse(IrContext& context, std::string_view text,
                                          const ParseOptions& options = {}) {
  auto program = ParseProgram(context, text, options);
  EXPECT_EQ(Message(program.status()), "") << text;
  return program.ok() ? std::move(*program) : std::make_unique<Program>(&context);
}

// Why a text does not parse; "" when it does.
inline std::string ParseError(IrContext& context, std::string_view text,
                              const ParseOptions& options = {}) {
  const auto program = ParseProgram(context, text, options);
  return std::string(Message(program.status()));
}

// What is printed must parse in a context that knows nothing of the first one, and print the same.
// Returns the text.
inline std::string ExpectRoundTrip(Program& program, const PrintOptions& print = {},
                                   const ParseOptions& parse = {}) {
  std::string text = PrintProgram(program, print);
  IrContext other;
  EXPECT_EQ(PrintProgram(*MustParse(other, text, parse), print), text);
  return text;
}

}  // namespace weft::ir
