#include "ir/text/printer.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "ir/analysis/verifier.h"
#include "ir/builder.h"
#include "ir/dialects/builtin.h"
#include "unittests/ir/text/text_test_util.h"

namespace weft::ir {
namespace {

class PrinterTest : public testing::Test {
 protected:
  Operation Add(std::string_view name, std::vector<Value> operands, std::vector<Type> results,
                AttrDict attrs = {}, uint32_t num_regions = 0) {
    return builder.Create({.opcode = Opcode::FindOrAdd(name),
                           .operands = std::move(operands),
                           .attrs = attrs,
                           .result_types = std::move(results),
                           .num_regions = num_regions});
  }
  // The text of one attribute, which must also survive a round trip.
  std::string AttrText(Attribute value, const PrintOptions& options = {}) {
    Program p(&context);
    Builder b(&p);
    const Operation op = b.Create(
        {.opcode = Opcode::FindOrAdd("t.op"), .attrs = context.Dict({{Name("a"), value}})});
    ExpectRoundTrip(p, options);
    const std::string text = PrintOperation(op, options);
    const size_t begin = text.find('{') + 1, end = text.find("} : ()");
    return text.substr(begin, end - begin);
  }
  template <class T>
  std::string DenseText(DataType dtype, std::vector<T> values, const PrintOptions& options = {}) {
    const Type t = context.TensorType(dtype, {static_cast<int64_t>(values.size())});
    return AttrText(context.DenseAttrOf(t, std::span<const T>(values)), options);
  }
  std::string TypeText(Type type) {
    Program p(&context);
    Builder b(&p);
    b.Create({.opcode = Opcode::FindOrAdd("t.op"), .result_types = {type}});
    const std::string text = ExpectRoundTrip(p);
    const size_t begin = text.find("-> ") + 3;
    return text.substr(begin, text.find('\n', begin) - begin);
  }

  IrContext context;
  Program program{&context};
  Builder builder{&program};
  Type f32 = context.TensorType(DataType::kF32, {2, 3});
};

TEST_F(PrinterTest, AnEmptyModuleIsBraces) {
  EXPECT_EQ(PrintProgram(program), "{\n}\n");
  ExpectRoundTrip(program);
}

TEST_F(PrinterTest, SpacesLikeTheListings) {
  const Value x = Add("t.x", {}, {f32}).result();
  const Operation two = Add("t.two", {x, Value()}, {f32, f32},
                            context.Dict({{Name("b"), context.IntAttr(-1)},
                                          {Name("a"), context.IntsAttr(Ints{0, 2, 1})}}));
  Add("t.fetch", {two.result(1)}, {});
  EXPECT_EQ(ExpectRoundTrip(program),
            "{\n"
            " (%0) = \"t.x\" () {} : () -> tensor<2x3xf32>\n"
            " (%1, %2) = \"t.two\" (%0, <<NULL VALUE>>) {a:array[0,2,1],b:-1} : "
            "(tensor<2x3xf32>, <<NULL TYPE>>) -> tensor<2x3xf32>, tensor<2x3xf32>\n"
            " () = \"t.fetch\" (%2) {} : (tensor<2x3xf32>) -> \n"
            "}\n");
}

TEST_F(PrinterTest, AModuleWithInputsHasAHead) {
  const Value x = builder.AddInput("x", f32);
  builder.Return({{"y", x}});
  EXPECT_EQ(ExpectRoundTrip(program),
            "module {input_names:strings[\"x\"],output_names:strings[\"y\"]} "
            "(%0: tensor<2x3xf32>) {\n"
            " () = \"builtin.return\" (%0) {} : (tensor<2x3xf32>) -> \n"
            "}\n");
}

TEST_F(PrinterTest, NamesOfInputsAreShownWhereTheyDifferFromTheModules) {
  const Value x = builder.AddInput("x", f32), y = builder.AddInput("y", f32);
  program.SetName(x, "other");
  program.SetName(y, "");
  EXPECT_EQ(ExpectRoundTrip(program),
            "module {input_names:strings[\"x\",\"y\"]} "
            "(%0 \"other\": tensor<2x3xf32>, %1 \"\": tensor<2x3xf32>) {\n}\n");
  IrContext other;
  const auto copy = MustParse(other, PrintProgram(program));
  EXPECT_EQ(copy->body().argument(0).name(), "other");
  EXPECT_EQ(copy->body().argument(1).name(), "");
}

TEST_F(PrinterTest, NamesOfResultsRoundTrip) {
  const Operation op = Add("t.two", {}, {f32, f32});
  program.SetName(op.result(1), "layer.0/Add \"1\"\n");
  EXPECT_EQ(ExpectRoundTrip(program),
            "{\n (%0, %1 \"layer.0/Add \\\"1\\\"\\n\") = \"t.two\" () {} : () -> "
            "tensor<2x3xf32>, tensor<2x3xf32>\n}\n");
  EXPECT_EQ(ExpectRoundTrip(program, {.names = false}).find("layer"), std::string::npos);
}

TEST_F(PrinterTest, LocationsRoundTripOnRequest) {
  const Operation op = Add("t.sink", {Add("t.x", {}, {f32}).result()}, {});
  program.SetLocation(op, Name("model.onnx:12"));
  program.SetLocation(program.module(), Name("model.onnx"));
  EXPECT_EQ(ExpectRoundTrip(program, {.locations = true}),
            "{\n"
            " (%0) = \"t.x\" () {} : () -> tensor<2x3xf32>\n"
            " () = \"t.sink\" (%0) {} : (tensor<2x3xf32>) -> loc(\"model.onnx:12\")\n"
            "} loc(\"model.onnx\")\n");
  EXPECT_EQ(PrintProgram(program).find("loc"), std::string::npos);
}

TEST_F(PrinterTest, RegionsAndBlocksNest) {
  const Value x = Add("t.x", {}, {f32}).result();
  const Operation loop = Add("t.loop", {x}, {f32}, {}, 3);
  Program::Mutator mutator(&program);
  // Region 0: two blocks, the second with an argument; region 1: an empty block; region 2: no
  // block.
  const Block first = mutator.AppendBlock(loop.region(0));
  const Block second = mutator.AppendBlock(loop.region(0));
  mutator.AppendBlock(loop.region(1));
  const Value argument = mutator.AddArgument(second, f32);
  program.SetName(argument, "i");
  builder.SetInsertionPointToEnd(first);
  const Operation inner = Add("t.if", {x}, {}, {}, 1);
  builder.SetInsertionPointToEnd(mutator.AppendBlock(inner.region(0)));
  Add("t.y", {x}, {f32});
  builder.SetInsertionPointToEnd(second);
  Add("builtin.return", {argument}, {});
  program.SetLocation(inner, Name("here"));
  EXPECT_EQ(ExpectRoundTrip(program, {.locations = true}),
            "{\n"
            " (%0) = \"t.x\" () {} : () -> tensor<2x3xf32>\n"
            " (%1) = \"t.loop\" (%0) {} : (tensor<2x3xf32>) -> tensor<2x3xf32> ({\n"
            "  () = \"t.if\" (%0) {} : (tensor<2x3xf32>) -> ({\n"
            "   (%2) = \"t.y\" (%0) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>\n"
            "  }) loc(\"here\")\n"
            "  ^(%3 \"i\": tensor<2x3xf32>):\n"
            "  () = \"builtin.return\" (%3) {} : (tensor<2x3xf32>) -> \n"
            " }, {\n"
            "  ^():\n"
            " }, {\n"
            " })\n"
            "}\n");
}

TEST_F(PrinterTest, PrintsTenThousandNestedRegions) {
  Program::Mutator mutator(&program);
  for (int i = 0; i < 10000; ++i) {
    const Operation op = Add("t.if", {}, {}, {}, 1);
    builder.SetInsertionPointToEnd(mutator.AppendBlock(op.region(0)));
  }
  const Value deepest = Add("t.x", {}, {f32}).result();
  const std::string line = "(%0) = \"t.x\" () {} : () -> tensor<2x3xf32>";
  EXPECT_EQ(PrintOperation(deepest.DefiningOp()), line);
  const std::string text = PrintProgram(program);
  EXPECT_NE(text.find(line), std::string::npos);
  EXPECT_LT(text.size(), 10000u * 600);
  IrContext other;
  EXPECT_NE(ParseError(other, text).find("error: regions are nested more than 256 deep"),
            std::string::npos);
}

TEST_F(PrinterTest, OneOperationIsNumberedAsInItsProgram) {
  const Value x = Add("t.x", {}, {f32}).result();
  const Value y = Add("t.y", {x}, {f32}).result();
  EXPECT_EQ(PrintOperation(y.DefiningOp()),
            "(%1) = \"t.y\" (%0) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>");
  EXPECT_EQ(ValueName(y), "%1");
  EXPECT_EQ(ValueName(Value()), "<<NULL VALUE>>");
  const ValueNumbering numbering(program);
  EXPECT_EQ(numbering.Of(x), 0u);
  EXPECT_EQ(numbering.NameOf(y), "%1");
  EXPECT_EQ(numbering.NameOf(Add("t.z", {}, {f32}).result()), "<<UNKNOWN VALUE>>");
}

TEST_F(PrinterTest, ParametersHaveASection) {
  const Type t = context.TensorType(DataType::kF32, {2});
  program.SetParameter("w.0", context.DenseAttrOf<float>(t, std::vector<float>{1, 0.5f}));
  program.SetParameter("1/b", context.ElidedDenseAttr(t, "somewhere"));
  builder.Create<GetParameterOp>({}, {.parameter_name = "w.0"});
  EXPECT_EQ(ExpectRoundTrip(program),
            "parameters {\n"
            " \"1/b\": dense<tensor<2xf32>, elided \"somewhere\">\n"
            " w.0: dense<tensor<2xf32>, [1.0,0.5]>\n"
            "}\n"
            "{\n"
            " (%0) = \"builtin.get_parameter\" () {parameter_name:\"w.0\"} : () -> "
            "tensor<*x?>\n"
            "}\n");
}

TEST_F(PrinterTest, EveryTypeRoundTrips) {
  const int64_t n = SymbolicDim("batch size\"");
  EXPECT_EQ(TypeText(context.TensorType(DataType::kF16, {n, -1, 0, 3})),
            "tensor<\"batch size\\\"\"x-1x0x3xf16>");
  EXPECT_EQ(TypeText(context.TensorType(DataType::kI64, {})), "tensor<i64>");
  EXPECT_EQ(TypeText(context.TensorType(DataType::kNull, {0})), "tensor<0x<<NULL TYPE>>>");
  EXPECT_EQ(TypeText(context.TensorType(DataType::kNull, {2, -1})), "tensor<2x-1x?>");
  EXPECT_EQ(TypeText(context.TensorType(DataType::kNull, {})), "tensor<?>");
  EXPECT_EQ(TypeText(context.UnrankedTensorType(DataType::kNull)), "tensor<*x?>");
  EXPECT_EQ(TypeText(context.UnrankedTensorType(DataType::kBool)), "tensor<*xbool>");
  EXPECT_EQ(TypeText(context.NoneType()), "none");
  EXPECT_EQ(TypeText(Type()), "<<NULL TYPE>>");
  EXPECT_EQ(TypeText(context.OpaqueType("seq(\"a\")\x01")), "opaque<\"seq(\\\"a\\\")\\x01\">");
  const Type inner = context.VectorType({});
  EXPECT_EQ(TypeText(context.VectorType(std::vector<Type>{f32, Type(), inner})),
            "vec[tensor<2x3xf32>,<<NULL TYPE>>,vec[]]");
  const Type sequence = context.SequenceType(context.TensorType(DataType::kF32, {-1, 3}));
  EXPECT_EQ(TypeText(sequence), "seq<tensor<-1x3xf32>>");
  EXPECT_EQ(TypeText(context.OptionalType(sequence)), "optional<seq<tensor<-1x3xf32>>>");
  EXPECT_EQ(TypeText(context.SequenceType(context.OptionalType(f32))),
            "seq<optional<tensor<2x3xf32>>>");
  EXPECT_EQ(TypeText(context.OptionalType(context.OpaqueType("map"))), "optional<opaque<\"map\">>");
  for (int i = 1; i <= 16; ++i)
    TypeText(context.TensorType(static_cast<DataType>(i), {static_cast<int64_t>(i)}));
}

TEST_F(PrinterTest, EveryScalarAttributeRoundTrips) {
  EXPECT_EQ(AttrText(context.UnitAttr()), "a");
  EXPECT_EQ(AttrText(context.BoolAttr(true)), "a:true");
  EXPECT_EQ(AttrText(context.BoolAttr(false)), "a:false");
  EXPECT_EQ(AttrText(context.IntAttr(INT64_MIN)), "a:-9223372036854775808");
  EXPECT_EQ(AttrText(context.FloatAttr(1)), "a:1.0");
  EXPECT_EQ(AttrText(context.FloatAttr(1e-5f)), "a:1e-05");
  EXPECT_EQ(AttrText(context.FloatAttr(0.176777f)), "a:0.176777");
  EXPECT_EQ(AttrText(context.FloatAttr(-0.0f)), "a:-0.0");
  EXPECT_EQ(AttrText(context.FloatAttr(16777216)), "a:16777216.0");
  EXPECT_EQ(AttrText(context.FloatAttr(std::numeric_limits<float>::denorm_min())), "a:1e-45");
  EXPECT_EQ(AttrText(context.FloatAttr(-INFINITY)), "a:-inf");
  EXPECT_EQ(AttrText(context.FloatAttr(NAN)), "a:nan");
  EXPECT_EQ(AttrText(context.FloatAttr(-NAN)), "a:nan0xffc00000");
  EXPECT_EQ(AttrText(context.DoubleAttr(0.1)), "a:0.1f64");
  EXPECT_EQ(AttrText(context.DoubleAttr(INFINITY)), "a:inff64");
  EXPECT_EQ(AttrText(context.DoubleAttr(-NAN)), "a:nan0xfff8000000000000f64");
  EXPECT_EQ(AttrText(context.StringAttr("")), "a:\"\"");
  EXPECT_EQ(AttrText(context.StringAttr("}\t\"\\\r\x7f\xc3\xa9")),
            "a:\"}\\t\\\"\\\\\\x0d\\x7f\xc3\xa9\"");
  EXPECT_EQ(AttrText(context.StringAttr(std::string_view("\0x", 2))), "a:\"\\x00x\"");
  EXPECT_EQ(AttrText(context.DataTypeAttr(DataType::kF32)), "a:float32");
  EXPECT_EQ(AttrText(context.DataTypeAttr(DataType::kBF16)), "a:bfloat16");
  EXPECT_EQ(AttrText(context.TypeAttr(f32)), "a:tensor<2x3xf32>");
  EXPECT_EQ(AttrText(context.TypeAttr(context.NoneType())), "a:type<none>");
  EXPECT_EQ(AttrText(context.TypeAttr(Type())), "a:type<<<NULL TYPE>>>");
  EXPECT_EQ(AttrText(context.VerbatimAttr("Place(gpu:0)")), "a:Place(gpu:0)");
  EXPECT_EQ(AttrText(context.VerbatimAttr("a b")), "a:verbatim \"a b\"");
  EXPECT_EQ(AttrText(context.VerbatimAttr("f(g(x))")), "a:verbatim \"f(g(x))\"");
  EXPECT_EQ(AttrText(Attribute()), "a:<<NULL ATTRIBUTE>>");
}

TEST_F(PrinterTest, EveryListAttributeRoundTrips) {
  EXPECT_EQ(AttrText(context.IntsAttr({})), "a:array[]");
  EXPECT_EQ(AttrText(context.IntsAttr(Ints{1, -2})), "a:array[1,-2]");
  EXPECT_EQ(AttrText(context.FloatsAttr({})), "a:floats[]");
  EXPECT_EQ(AttrText(context.FloatsAttr(Floats{1, NAN, 1e30f})), "a:floats[1.0,nan,1e+30]");
  EXPECT_EQ(AttrText(context.StringsAttr({})), "a:strings[]");
  EXPECT_EQ(AttrText(context.StringsAttr(Strings{"", "a,b]"})), "a:strings[\"\",\"a,b]\"]");
}

TEST_F(PrinterTest, OddNamesAreQuoted) {
  Add("odd \"op\"", {}, {},
      context.Dict({{Name("a b"), context.UnitAttr()},
                    {Name(""), context.IntAttr(1)},
                    {Name("0"), context.IntAttr(2)}}));
  EXPECT_EQ(ExpectRoundTrip(program),
            "{\n () = \"odd \\\"op\\\"\" () {\"\":1,\"0\":2,\"a b\"} : () -> \n}\n");
}

TEST_F(PrinterTest, ShortDenseContentsAreInline) {
  EXPECT_EQ(DenseText<int64_t>(DataType::kI64, {1, -2}), "a:dense<tensor<2xi64>, [1,-2]>");
  EXPECT_EQ(DenseText<float>(DataType::kF32, {0.1f, 2}), "a:dense<tensor<2xf32>, [0.1,2.0]>");
  EXPECT_EQ(DenseText<double>(DataType::kF64, {0.1}), "a:dense<tensor<1xf64>, [0.1]>");
  EXPECT_EQ(DenseText<uint8_t>(DataType::kBool, {0, 1}), "a:dense<tensor<2xbool>, [false,true]>");
  EXPECT_EQ(DenseText<int8_t>(DataType::kI8, {-128, 127}), "a:dense<tensor<2xi8>, [-128,127]>");
  EXPECT_EQ(DenseText<uint64_t>(DataType::kU64, {UINT64_MAX}),
            "a:dense<tensor<1xu64>, [18446744073709551615]>");
  EXPECT_EQ(DenseText<uint16_t>(DataType::kF16, {0x3c00, 0x0001, 0x7c00, 0x7e00, 0xfe01}),
            "a:dense<tensor<5xf16>, [1.0,5.9604645e-08,inf,nan,nan0xfe01]>");
  EXPECT_EQ(DenseText<uint16_t>(DataType::kBF16, {0x3f80, 0x7f80, 0x7fc0}),
            "a:dense<tensor<3xbf16>, [1.0,inf,nan]>");
  const Type complex = context.TensorType(DataType::kC64, {1});
  EXPECT_EQ(AttrText(context.DenseAttrOf<float>(complex, std::vector<float>{1, -2})),
            "a:dense<tensor<1xc64>, [(1.0,-2.0)]>");
  const Type scalar = context.TensorType(DataType::kI32, {});
  EXPECT_EQ(AttrText(context.DenseAttrOf<int32_t>(scalar, std::vector<int32_t>{5})),
            "a:dense<tensor<i32>, [5]>");
  EXPECT_EQ(DenseText<float>(DataType::kF32, {}), "a:dense<tensor<0xf32>, []>");
  const Type strings = context.TensorType(DataType::kString, {2});
  EXPECT_EQ(AttrText(context.DenseStringsAttr(strings, Strings{"a", "\n"})),
            "a:dense<tensor<2xstr>, [\"a\",\"\\n\"]>");
}

TEST_F(PrinterTest, EveryHalfRoundTripsInline) {
  for (const DataType dtype : {DataType::kF16, DataType::kBF16}) {
    std::vector<uint16_t> all(65536);
    for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint16_t>(i);
    const Type type = context.TensorType(dtype, {65536});
    Program p(&context);
    Builder b(&p);
    b.Constant(context.DenseAttrOf<uint16_t>(type, all));
    IrContext other;
    const auto copy = MustParse(other, PrintProgram(p, {.max_inline_elements = -1}));
    const Attribute read = copy->body().front().attr("value");
    ASSERT_EQ(read.bytes().size(), all.size() * 2);
    EXPECT_EQ(std::memcmp(read.bytes().data(), all.data(), all.size() * 2), 0);
  }
}

TEST_F(PrinterTest, LongDenseContentsAreElidedByAStableLabel) {
  std::vector<int32_t> values(17);
  for (int i = 0; i < 17; ++i) values[static_cast<size_t>(i)] = i;
  const std::string text = DenseText(DataType::kI32, values);
  EXPECT_EQ(text, "a:dense<tensor<17xi32>, elided \"921dba20fdb57b76-68\">");
  values[16] = 0;
  EXPECT_NE(DenseText(DataType::kI32, values), text);
}

TEST_F(PrinterTest, FullWeightsAreHex) {
  std::vector<uint8_t> values(17, 0xab);
  values[0] = 1;
  const std::string text = DenseText(DataType::kU8, values, {.full_weights = true});
  EXPECT_EQ(text, "a:dense<tensor<17xu8>, hex \"01abababababababababababababababab\">");
  const Type strings = context.TensorType(DataType::kString, {17});
  EXPECT_EQ(AttrText(context.DenseStringsAttr(strings, Strings(17, "s"))).substr(0, 32),
            "a:dense<tensor<17xstr>, elided \"");
  EXPECT_EQ(AttrText(context.DenseStringsAttr(strings, Strings(17, "s")), {.full_weights = true}),
            "a:dense<tensor<17xstr>, [\"s\",\"s\",\"s\",\"s\",\"s\",\"s\",\"s\",\"s\",\"s\",\"s\","
            "\"s\",\"s\",\"s\",\"s\",\"s\",\"s\",\"s\"]>");
}

TEST(PrintBanner, IsTheSeedsBanner) {
  for (const char* file : {"paddle_transpose_before.ir", "paddle_transpose_after.ir",
                           "paddle_attention_before.ir", "paddle_attention_after.ir"}) {
    std::string expected;
    const std::string listing = ReadTestFile(file);
    size_t at = 0;
    for (int line = 0; line < 3; ++line) {
      const size_t end = listing.find('\n', at);
      expected += listing.substr(at + 5, end + 1 - at - 5);
      at = end + 1;
    }
    const size_t begin = expected.find("IRPrinting");
    const std::string title = expected.substr(begin, expected.find('\n', begin) - begin);
    EXPECT_EQ(PrintBanner(title), expected);
  }
}

}  // namespace
}  // namespace weft::ir
