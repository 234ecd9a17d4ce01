#include "ir/text/weights.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <random>

#include "ir/builder.h"
#include "ir/dialects/builtin.h"
#include "unittests/ir/text/text_test_util.h"
#include "unittests/temp_dir.h"

namespace weft::ir {
namespace {

class WeightsTest : public testing::Test {
 protected:
  Attribute Random(DataType dtype, int64_t count) {
    std::vector<std::byte> bytes(static_cast<size_t>(count) * ElementSize(dtype));
    for (std::byte& b : bytes) b = static_cast<std::byte>(random() & 255);
    return context.DenseAttr(context.TensorType(dtype, {count}), bytes);
  }
  std::string Write(size_t size) {
    const std::string path = folder + "/w.bin";
    std::ofstream(path, std::ios::binary) << std::string(size, 'w');
    return path;
  }
  std::string ReadError(const std::string& reference, const std::string& type = "tensor<4xf32>") {
    const std::string text =
        "{ () = \"u.x\" () {a:dense<" + type + ", file " + reference + ">} : () -> }";
    return ParseError(context, text, {.file_name = "f", .weights_dir = folder});
  }

  const fixtures::TempDir dir;
  const std::string folder = dir.path();
  std::mt19937 random{1};
  IrContext context;
};

TEST_F(WeightsTest, RoundTripThroughASideFile) {
  Program program(&context);
  Builder b(&program);
  const Attribute shared = Random(DataType::kF32, 300);
  program.SetParameter("p", Random(DataType::kI64, 17));
  b.Constant(shared);
  b.Constant(Random(DataType::kU8, 100));
  b.Constant(shared);
  b.Constant(Random(DataType::kF64, 2000));
  b.Constant(Random(DataType::kF32, 3));  // short: inline
  const PrintOptions options{.weights_file = "elsewhere/w.bin"};
  ASSERT_EQ(Message(WriteWeights(program, folder + "/w.bin", options)), "");
  const std::string text = ExpectRoundTrip(program, options, {.weights_dir = folder});
  EXPECT_NE(text.find(" p: dense<tensor<17xi64>, file \"w.bin\" at 0 size 136>"), text.npos)
      << text;
  EXPECT_NE(text.find("{value:dense<tensor<300xf32>, file \"w.bin\" at 192 size 1200>}"),
            text.npos);

  IrContext other;
  const auto copy = MustParse(other, text, {.weights_dir = folder});
  EXPECT_EQ(PrintProgram(*copy, {.full_weights = true}),
            PrintProgram(program, {.full_weights = true}));
  EXPECT_EQ(copy->body().front().attr("value"), copy->body().front().next().next().attr("value"));
}

TEST_F(WeightsTest, AProgramThatMapsAFileSurvivesItsReplacement) {
  Program program(&context);
  Builder(&program).Constant(Random(DataType::kF64, 100000));
  const PrintOptions options{.weights_file = "w.bin"};
  ASSERT_TRUE(WriteWeights(program, folder + "/w.bin", options).ok());
  IrContext other;
  const auto copy = MustParse(other, PrintProgram(program, options), {.weights_dir = folder});
  Program smaller(&context);
  ASSERT_TRUE(WriteWeights(smaller, folder + "/w.bin", options).ok());
  EXPECT_EQ(PrintProgram(*copy), PrintProgram(program));  // the hash of all contents
}

TEST_F(WeightsTest, FilesLieBesideTheText) {
  Program program(&context);
  Builder(&program).Constant(Random(DataType::kF32, 100));
  const PrintOptions options{.weights_file = "w.bin"};
  ASSERT_TRUE(WriteWeights(program, folder + "/w.bin", options).ok());
  const std::string path = folder + "/link";  // any name that the fixture removes
  std::ofstream(path) << PrintProgram(program, options);
  IrContext other;
  const auto copy = ParseProgramFile(other, path);
  ASSERT_EQ(Message(copy.status()), "");
  EXPECT_EQ(PrintProgram(**copy), PrintProgram(program));
  EXPECT_EQ(ParseProgramFile(other, folder + "/none").status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(WeightsTest, ReferencesAreChecked) {
  Write(32);
  EXPECT_EQ(ReadError("\"w.bin\" at 16 size 16"), "");
  EXPECT_EQ(ReadError("\"w.bin\" at 20 size 16"),
            "f:1:46: error: side file w.bin has 32 bytes but 16 at 20 are asked for");
  EXPECT_EQ(
      ReadError("\"w.bin\" at 18446744073709551600 size 16"),
      "f:1:46: error: side file w.bin has 32 bytes but 16 at 18446744073709551600 are asked for");
  EXPECT_EQ(ReadError("\"w.bin\" at 99999999999999999999 size 16"),
            "f:1:57: error: the number is out of range");
  EXPECT_EQ(ReadError("\"w.bin\" at 0 size 15"),
            "f:1:46: error: the side file holds 15 bytes but the type has 16");
  EXPECT_EQ(ReadError("\"w.bin\" at 2 size 16"),
            "f:1:46: error: offset 2 is not aligned to the elements");
  EXPECT_EQ(ReadError("\"w.bin\" at 0 size 4000000000", "tensor<1000000000xf32>"),
            "f:1:55: error: side file w.bin has 32 bytes but 4000000000 at 0 are asked for");
  EXPECT_EQ(ReadError("\"none\" at 0 size 16"),
            "f:1:46: error: cannot open side file " + folder + "/none: No such file or directory");
}

TEST_F(WeightsTest, BytesAreElements) {
  std::ofstream(folder + "/w.bin", std::ios::binary) << std::string("\0\1\7\0", 4);
  EXPECT_EQ(ReadError("\"w.bin\" at 0 size 2", "tensor<2xbool>"), "");
  EXPECT_EQ(ReadError("\"w.bin\" at 0 size 3", "tensor<3xbool>"),
            "f:1:47: error: a byte is no bool");
}

TEST_F(WeightsTest, NamesMustNotLeaveTheFolder) {
  for (const char* name : {"../w.bin", "/etc/passwd", "", ".", "..", "a/b", "a\\x00b"}) {
    const std::string error = ReadError("\"" + std::string(name) + "\" at 0 size 16");
    EXPECT_NE(error.find("is not a plain file name"), error.npos) << name << ": " << error;
  }
  Write(32);
  ASSERT_EQ(symlink("w.bin", (folder + "/link").c_str()), 0);
  EXPECT_NE(ReadError("\"link\" at 0 size 16").find("cannot open side file"), std::string::npos);
  ASSERT_EQ(mkdir((folder + "/sub").c_str(), 0700), 0);
  EXPECT_NE(ReadError("\"sub\" at 0 size 16").find("is not a regular file"), std::string::npos);
  ASSERT_EQ(mkfifo((folder + "/pipe").c_str(), 0600), 0);
  EXPECT_NE(ReadError("\"pipe\" at 0 size 16").find("is not a regular file"), std::string::npos);
  EXPECT_NE(ParseError(context,
                       "{ () = \"u.x\" () {a:dense<tensor<4xf32>, file \"w.bin\" at 0 size "
                       "16>} : () -> }")
                .find("no folder is given for side files"),
            std::string::npos);
}

TEST_F(WeightsTest, WritingReportsFailure) {
  Program program(&context);
  Builder(&program).Constant(Random(DataType::kF32, 300));
  const auto status = WriteWeights(program, folder + "/none/w.bin", {.weights_file = "w.bin"});
  EXPECT_EQ(Message(status), "cannot write " + folder + "/none/w.bin: No such file or directory");
}

}  // namespace
}  // namespace weft::ir
