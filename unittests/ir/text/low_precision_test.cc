// Elements of at most 8 bits in the text form.
#include "ir/element/low_precision.h"

#include <vector>

#include "ir/builder.h"
#include "unittests/ir/text/text_test_util.h"

namespace weft::ir {
namespace {

std::string Constant(const std::string& contents) {
  return "{ () = \"u.x\" () {a:dense<" + contents + ">} : () -> }";
}

std::vector<std::byte> AllElements(DataType dtype) {
  std::vector<std::byte> elements;
  for (int i = 0; i < 256; ++i)
    if (const auto byte = static_cast<std::byte>(i); AreLowPrecision(dtype, {&byte, 1}))
      elements.push_back(byte);
  return elements;
}

TEST(LowPrecisionText, EveryElementIsReadAsItWasPrinted) {
  for (auto number = static_cast<int>(DataType::kF8E4M3FN);
       number <= static_cast<int>(DataType::kI2); ++number) {
    const auto dtype = static_cast<DataType>(number);
    SCOPED_TRACE(DataTypeName(dtype));
    const std::vector<std::byte> elements = AllElements(dtype);
    IrContext context;
    const Type type = context.TensorType(dtype, {static_cast<int64_t>(elements.size())});
    const Attribute dense = context.DenseAttr(type, elements);
    Program program(&context);
    Builder builder(&program);
    builder.Return({{"y", builder.Constant(dense)}});
    for (const PrintOptions& options :
         {PrintOptions{.max_inline_elements = -1}, PrintOptions{.full_weights = true}}) {
      const std::string text = ExpectRoundTrip(program, options);
      EXPECT_EQ(MustParse(context, text)->body().front().attr("value"), dense) << text;
    }
  }
}

TEST(LowPrecisionText, ElementsAreNumbers) {
  IrContext context;
  const auto printed = [&](const std::string& contents) {
    const std::string text = PrintProgram(*MustParse(context, Constant(contents)));
    const size_t begin = text.find('['), end = text.find(']');
    return text.substr(begin, end - begin + 1);
  };
  EXPECT_EQ(printed("tensor<4xf8e4m3fn>, [0.3, -448, nan, nan0xff]"),
            "[0.3125,-448.0,nan,nan0xff]");
  EXPECT_EQ(printed("tensor<3xf8e5m2>, [inf, -inf, 57344]"), "[inf,-inf,57344.0]");
  EXPECT_EQ(printed("tensor<3xfloat4e2m1>, [5.9, -0.2, 1.5]"), "[6.0,-0.0,1.5]");
  EXPECT_EQ(printed("tensor<2xf8e8m0>, [0.5, 1024]"), "[0.5,1024.0]");
  EXPECT_EQ(printed("tensor<2xi4>, [-8, 7]"), "[-8,7]");
  EXPECT_EQ(printed("tensor<2xu2>, hex \"0003\""), "[0,3]");
}

TEST(LowPrecisionText, ReportsNumbersThatAreNoElements) {
  IrContext context;
  const auto error = [&](const std::string& contents) {
    const std::string text = ParseError(context, Constant(contents));
    return text.substr(text.find("error: ") + 7);
  };
  EXPECT_EQ(error("tensor<1xu4>, [16]"), "16 is out of range for uint4");
  EXPECT_EQ(error("tensor<1xi2>, [2]"), "2 is out of range for int2");
  EXPECT_EQ(error("tensor<1xi4>, [0.5]"), "'0.5' is not int4");
  EXPECT_EQ(error("tensor<1xf8e4m3fn>, [465]"), "465 is out of range for float8e4m3fn");
  EXPECT_EQ(error("tensor<1xf8e4m3fn>, [inf]"), "inf is out of range for float8e4m3fn");
  EXPECT_EQ(error("tensor<1xf8e4m3fn>, [nan0x01]"), "'nan0x01' is not float8e4m3fn");
  EXPECT_EQ(error("tensor<1xf4e2m1>, [nan]"), "nan is out of range for float4e2m1");
  EXPECT_EQ(error("tensor<1xf8e8m0>, [-1]"), "-1 is out of range for float8e8m0");
  EXPECT_EQ(error("tensor<2xu4>, hex \"0f10\""), "a byte is no u4");
}

}  // namespace
}  // namespace weft::ir
