#include "ir/text/parser.h"

#include <gmock/gmock.h>

#include "ir/analysis/verifier.h"
#include "ir/dialects/builtin.h"
#include "unittests/ir/text/text_test_util.h"

namespace weft::ir {
namespace {

enum class Mode { kFast, kSlow };
constexpr std::array<std::string_view, 2> EnumNames(Mode) { return {"fast", "slow"}; }

// An op with one attribute of each kind, and a result of its operand's type.
struct KindsOp {
  static constexpr OpInfo kInfo = {.name = "t.kinds", .operands = {"x"}};
  template <template <class> class Slot>
  struct Attrs {
    Slot<bool> b{};
    Slot<int64_t> i{};
    Slot<float> f{};
    Slot<double> d{};
    Slot<std::string> s{};
    Slot<DataType> t{};
    Slot<Mode> m{};
    Slot<Ints> is{};
    Slot<Floats> fs{};
    Slot<Strings> ss{};
    static constexpr auto Fields() {
      return std::tuple(Field{"b", &Attrs::b, false}, Field{"i", &Attrs::i, int64_t{0}},
                        Field{"f", &Attrs::f, 0.0f}, Field{"d", &Attrs::d, 0.0},
                        Field{"s", &Attrs::s, ""}, Field{"t", &Attrs::t, DataType::kF32},
                        Field{"m", &Attrs::m, Mode::kFast}, Field{"is", &Attrs::is},
                        Field{"fs", &Attrs::fs}, Field{"ss", &Attrs::ss});
    }
  };
  static bool Infer(InferContext& c) {
    if (c.operand_type(0).IsVector()) return c.Fail("x is a vector");
    return c.SetResult(0, c.operand_type(0));
  }
};

class ParserTest : public testing::Test {
 protected:
  ParserTest() { AddOps<KindsOp>(context); }
  Operation First(std::string_view text) {
    program = MustParse(context, text);
    return program->body().front();
  }
  // The attribute `a` of an op that no dialect defines.
  Attribute Attr(std::string_view value) {
    return First("{ () = \"u.op\" () {a:" + std::string(value) + "} : () -> }").attr("a");
  }
  std::string AttrError(std::string_view value) {
    return Error("{ () = \"u.op\" () {a:" + std::string(value) + "} : () -> }");
  }
  std::string TypeError(std::string_view type) {
    return Error("{ (%0) = \"u.op\" () {} : () -> " + std::string(type) + " }");
  }
  std::string Error(std::string_view text) { return ParseError(context, text, {.file_name = "f"}); }

  IrContext context;
  std::unique_ptr<Program> program;
};

// --- what is accepted -------------------------------------------------------

TEST_F(ParserTest, ConvertsLiteralsToTheKindTheOpDefines) {
  const Operation op = First(
                           "{ (%0) = \"u.x\" () {} : () -> tensor<f32>\n"
                           "(%1) = \"t.kinds\" (%0) "
                           "{b:1,i:-3,f:0,d:2,s:NCHW,t:i64,m:slow,is:IntArray[1,2],fs:array[1],"
                           "ss:array[]} : (tensor<f32>) -> tensor<f32> }")
                           .next();
  EXPECT_EQ(Message(Verify(*program)), "");
  const auto attrs = op.attrs_of<KindsOp>();
  EXPECT_TRUE(attrs.b);
  EXPECT_EQ(attrs.i, -3);
  EXPECT_EQ(attrs.f, 0.0f);
  EXPECT_TRUE(op.attr("f").Is(AttrKind::kFloat));
  EXPECT_EQ(attrs.d, 2.0);
  EXPECT_EQ(attrs.s, "NCHW");
  EXPECT_EQ(attrs.t, DataType::kI64);
  EXPECT_EQ(attrs.m, Mode::kSlow);
  EXPECT_EQ(attrs.is, (Ints{1, 2}));
  EXPECT_EQ(attrs.fs, (Floats{1}));
  EXPECT_EQ(attrs.ss, Strings());
}

TEST_F(ParserTest, TheSameLiteralsMeanDifferentThingsToDifferentOps) {
  program = MustParse(context,
                      "{ (%0) = \"u.x\" () {f:0} : () -> tensor<f32>\n"
                      "(%1) = \"t.kinds\" (%0) {f:0} : (tensor<f32>) -> tensor<f32> }");
  EXPECT_TRUE(program->body().front().attr("f").Is(AttrKind::kInt));
  EXPECT_TRUE(program->body().back().attr("f").Is(AttrKind::kFloat));
}

TEST_F(ParserTest, AStringAttributeTakesAnyBareToken) {
  for (const char* text : {"1e-05", "true", "Place(cpu)", "float32", "3x3", "-1"}) {
    const Operation op = First("{ () = \"t.kinds\" () {s:" + std::string(text) + "} : () -> }");
    EXPECT_EQ(op.attr("s").AsString(), text);
  }
}

TEST_F(ParserTest, GuessesTheKindsOfUndefinedOps) {
  EXPECT_EQ(Attr("7"), context.IntAttr(7));
  EXPECT_EQ(Attr("1e-05"), context.FloatAttr(1e-5f));
  EXPECT_EQ(Attr("true"), context.BoolAttr(true));
  EXPECT_EQ(Attr("float64"), context.DataTypeAttr(DataType::kF64));
  EXPECT_EQ(Attr("NCHW"), context.StringAttr("NCHW"));
  EXPECT_EQ(Attr("batch_norm_0.b_0"), context.StringAttr("batch_norm_0.b_0"));
  EXPECT_EQ(Attr("Place(cpu)"), context.VerbatimAttr("Place(cpu)"));
  EXPECT_EQ(Attr("array[0.5,1]"), context.FloatsAttr(Floats{0.5f, 1}));
  EXPECT_EQ(Attr("array[\"x\"]"), context.StringsAttr(Strings{"x"}));
  EXPECT_EQ(Attr("pd.tensor<2xf32>"), context.TypeAttr(context.TensorType(DataType::kF32, {2})));
}

TEST_F(ParserTest, NamesValuesByWordsToo) {
  program = MustParse(context,
                      "module {} (%in: tensor<f32>) {\n"
                      " (%99999999999, %b.1) = \"u.x\" (%in) {} : (tensor<f32>) -> none, none\n"
                      " () = \"u.y\" (%b.1, %99999999999) {} : (none, none) -> \n}");
  EXPECT_EQ(PrintOperation(program->body().back()), "() = \"u.y\" (%2, %1) {} : (none, none) -> ");
}

TEST_F(ParserTest, SkipsCommentsBannersAndPrefixes) {
  program = MustParse(context,
                      "7: ===---===\n7:  a title\n7: ===---===\n7: // RUN\n7: {\n"
                      "7:  () = \"u.x\" () {a:\"//\"} : () -> // comment\n7: }\n7: \n7:\n");
  EXPECT_EQ(program->body().num_ops(), 1u);
  EXPECT_EQ(program->body().front().attr("a").AsString(), "//");
}

TEST_F(ParserTest, RegionsMayReuseNumbersOfRegionsThatHaveEnded) {
  program = MustParse(context,
                      "{ () = \"u.if\" () {} : () -> ({ (%0) = \"u.x\" () {} : () -> none }, "
                      "{ (%0) = \"u.y\" () {} : () -> none }) }");
  EXPECT_EQ(program->body().front().num_regions(), 2u);
  EXPECT_EQ(Message(Verify(*program)), "");
}

TEST_F(ParserTest, NestsTo256Regions) {
  auto nest = [](int depth) {
    std::string text = "{";
    for (int i = 0; i < depth; ++i) text += " () = \"u.if\" () {} : () -> ({";
    for (int i = 0; i < depth; ++i) text += "})";
    return text + "}";
  };
  EXPECT_EQ(Error(nest(256)), "");
  EXPECT_EQ(Error(nest(257)), "f:1:7454: error: regions are nested more than 256 deep");
  EXPECT_EQ(Error(nest(300000)), "f:1:7454: error: regions are nested more than 256 deep");
}

TEST_F(ParserTest, KeepsStatedTypesAndWarnsWhereInferenceDisagrees) {
  std::vector<std::string> warnings;
  program = MustParse(context,
                      "module {} (%0: tensor<2xf32>, %1: vec[]) {\n"
                      " (%2) = \"t.kinds\" (%0) {} : (tensor<2xf32>) -> tensor<-1xf32>\n"
                      " (%3) = \"t.kinds\" (%0) {} : (tensor<2xf32>) -> tensor<3xf32>\n"
                      " (%4) = \"t.kinds\" (%1) {} : (vec[]) -> tensor<3xf32>\n}",
                      {.file_name = "f", .warnings = &warnings});
  EXPECT_THAT(warnings, testing::ElementsAre(
                            "f:3:2: warning: t.kinds: result 0 is stated as tensor<3xf32> but "
                            "inferred as tensor<2xf32>",
                            "f:4:2: warning: t.kinds: x is a vector"));
  EXPECT_EQ(program->body().back().result().type(), context.TensorType(DataType::kF32, {3}));
}

TEST_F(ParserTest, WithCheckTypesADisagreementIsTheOneErrorAndNoWarning) {
  std::vector<std::string> warnings;
  const ParseOptions options{.file_name = "f", .warnings = &warnings, .check_types = true};
  EXPECT_EQ(ParseError(context,
                       "module {} (%0: tensor<2xf32>) {\n"
                       " (%1) = \"t.kinds\" (%0) {} : (tensor<2xf32>) -> tensor<3xf32>\n}",
                       options),
            "f:2:2: error: t.kinds: result 0 is stated as tensor<3xf32> but inferred as "
            "tensor<2xf32>");
  EXPECT_EQ(ParseError(context,
                       "module {} (%0: vec[]) {\n"
                       " (%1) = \"t.kinds\" (%0) {} : (vec[]) -> tensor<3xf32>\n}",
                       options),
            "f:2:2: error: t.kinds: x is a vector");
  EXPECT_THAT(warnings, testing::IsEmpty());
}

TEST_F(ParserTest, ElidedContentsMayBeOfAnySize) {
  const Attribute dense = Attr("dense<tensor<1000000000x4xf32>, elided \"w\">");
  EXPECT_TRUE(dense.IsElided());
  EXPECT_EQ(dense.AsString(), "w");
}

TEST_F(ParserTest, WithAllowUndefinedUnknownValuesBecomeInputs) {
  program = MustParse(context,
                      "{ () = \"u.if\" () {} : () -> ({ () = \"u.y\" (%7) {} : (none) -> })\n"
                      "() = \"u.y\" (%7) {} : (none) -> }",
                      {.allow_undefined = true});
  EXPECT_EQ(program->body().num_arguments(), 1u);
  EXPECT_EQ(program->body().argument(0).use_count(), 2u);
  EXPECT_EQ(Message(Verify(*program)), "");
}

// --- mistakes ---------------------------------------------------------------

TEST_F(ParserTest, NamesFileLineAndColumn) {
  EXPECT_EQ(Error("{\n () = \"u.y\" (%7) {} : (none) -> \n}"),
            "f:2:14: error: value %7 is not defined");
  EXPECT_EQ(Error("332: {\n332:  () = \"u.y\" (%x) {} : (none) -> \n332: }"),
            "f:2:19: error: value %x is not defined");
}

TEST_F(ParserTest, ReportsMistakesOfStructure) {
  EXPECT_EQ(Error(""),
            "f:1:1: error: expected '{' before the operations but found the end of the text");
  EXPECT_EQ(Error("{"),
            "f:1:2: error: expected '}' after the operations but found the end of the text");
  EXPECT_EQ(Error("{}{"), "f:1:3: error: expected the end of the text but found '{'");
  EXPECT_EQ(Error("{ x }"), "f:1:3: error: expected '}' after the operations but found 'x'");
  EXPECT_EQ(Error("{ \x01 }"),
            "f:1:3: error: expected '}' after the operations but found the byte 0x01");
  EXPECT_EQ(Error("{ () \"u.x\" }"), "f:1:6: error: expected '=' after the results but found '\"'");
  EXPECT_EQ(Error("{ () = u.x }"), "f:1:8: error: expected a quoted string but found 'u'");
  EXPECT_EQ(Error("{ () = \"\" () {} : () -> }"), "f:1:8: error: an operation needs a name");
  EXPECT_EQ(Error("{ () = \"u.x\" () {} : () }"), "f:1:25: error: expected '->' but found '}'");
  EXPECT_EQ(Error("===--===\nt\n{}"),
            "f:1:1: error: the banner has no second rule below its title");
  EXPECT_EQ(Error("{ () = \"u.x\" () {a:1,a:2} : () -> }"),
            "f:1:17: error: an attribute is given twice");
  EXPECT_EQ(Error("parameters { w: 1 } { }"), "f:1:17: error: a parameter must be dense<...>");
}

TEST_F(ParserTest, ReportsMistakesOfValues) {
  EXPECT_EQ(
      Error("{\n(%0) = \"u.x\" () {} : () -> none\n(%1, %0) = \"u.x\" () {} : () -> none, none }"),
      "f:3:6: error: value %0 is defined twice");
  EXPECT_EQ(Error("{ (%0) = \"u.x\" (%0) {} : (none) -> none }"),
            "f:1:17: error: value %0 is not defined");
  EXPECT_EQ(Error("{ () = \"u.if\" () {} : () -> ({ (%0) = \"u.x\" () {} : () -> none })\n"
                  "() = \"u.y\" (%0) {} : (none) -> }"),
            "f:2:13: error: value %0 is not defined");
  EXPECT_EQ(Error("{ (%99999999999999999999) = \"u.x\" () {} : () -> none }"),
            "f:1:5: error: the number is out of range");
  EXPECT_EQ(Error("{ (%) = \"u.x\" () {} : () -> none }"), "f:1:4: error: a value is %12 or %name");
}

TEST_F(ParserTest, ReportsMistakesOfSignatures) {
  const std::string x = "{ (%0) = \"u.x\" () {} : () -> tensor<f32>\n";
  EXPECT_EQ(Error(x + "() = \"u.y\" (%0) {} : () -> }"),
            "f:2:1: error: u.y has 1 operand but 0 operand types");
  EXPECT_EQ(Error(x + "(%1, %2) = \"u.y\" () {} : () -> none }"),
            "f:2:1: error: u.y has 2 results but 1 result type");
  EXPECT_EQ(Error(x + "() = \"u.y\" () {} : () -> none }"),
            "f:2:1: error: u.y has 0 results but 1 result type");
  EXPECT_EQ(Error(x + "() = \"u.y\" (%0) {} : (tensor<f64>) -> }"),
            "f:2:13: error: %0 is tensor<f32> but is used as tensor<f64>");
  EXPECT_EQ(Error(x + "() = \"u.y\" (<<NULL VALUE>>) {} : (none) -> }"),
            "f:2:43: error: <<NULL VALUE>> is <<NULL TYPE>> but is used as none");
}

TEST_F(ParserTest, ReportsMistakesOfTypes) {
  EXPECT_EQ(TypeError("tenser<f32>"), "f:1:31: error: unknown type tenser");
  EXPECT_EQ(TypeError("tensor<2xf33>"), "f:1:40: error: unknown element type f33");
  EXPECT_EQ(TypeError("tensor<2f32>"),
            "f:1:39: error: expected 'x' after a dimension but found 'f'");
  EXPECT_EQ(TypeError("tensor<-2xf32>"), "f:1:38: error: a dimension is -1, ? or at least 0");
  EXPECT_EQ(TypeError("tensor<9223372036854775808xf32>"),
            "f:1:38: error: the dimension is out of range");
  EXPECT_EQ(TypeError("tensor<99999999999999999999xf32>"),
            "f:1:38: error: the number is out of range");
  EXPECT_EQ(TypeError("tensor<4294967296x4294967296xf32>"),
            "f:1:37: error: the size of the tensor does not fit in 64 bits");
  EXPECT_EQ(TypeError("tensor<0x4294967296x4294967296xf32>"),
            "f:1:37: error: the size of the tensor does not fit in 64 bits");
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "vec[";
  EXPECT_EQ(TypeError(deep), "f:1:290: error: types are nested too deeply");
}

TEST_F(ParserTest, ReportsMistakesOfSequencesAndOptionals) {
  EXPECT_EQ(TypeError("seq[tensor<f32>]"), "f:1:34: error: expected '<' after seq but found '['");
  EXPECT_EQ(TypeError("optional<none>"),
            "f:1:40: error: expected tensor, seq or optional as element");
  EXPECT_EQ(TypeError("seq<vec[]>"), "f:1:35: error: expected tensor, seq or optional as element");
  EXPECT_EQ(TypeError("seq<<<NULL TYPE>>>"),
            "f:1:35: error: expected tensor, seq or optional as element");
  EXPECT_EQ(TypeError("seq<tensor<f33>>"), "f:1:42: error: unknown element type f33");
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += i % 2 == 0 ? "seq<" : "optional<";
  EXPECT_EQ(TypeError(deep), "f:1:450: error: types are nested too deeply");
}

TEST_F(ParserTest, ReportsMistakesOfAttributes) {
  EXPECT_EQ(AttrError("9223372036854775808"),
            "f:1:21: error: 9223372036854775808 is out of range for a 64 bit integer");
  EXPECT_EQ(AttrError("1e400"), "f:1:21: error: 1e400 is out of range for a 32 bit float");
  EXPECT_EQ(AttrError("1.2.3"), "f:1:21: error: '1.2.3' is not a 32 bit float");
  EXPECT_EQ(AttrError("\"\\q\""),
            "f:1:22: error: unknown escape in a string; known are \\\" \\\\ \\n \\t \\xHH");
  EXPECT_EQ(AttrError("\"\\x0g\""), "f:1:22: error: \\x wants two hexadecimal digits");
  EXPECT_EQ(AttrError("\"a\n\""), "f:1:21: error: the string is not closed on its line");
  EXPECT_EQ(AttrError("array[1,x]"), "f:1:29: error: 'x' is not a 64 bit integer");
  EXPECT_EQ(AttrError("list[1]"),
            "f:1:21: error: unknown list list[...]; known are array, IntArray, floats, strings");
  EXPECT_EQ(AttrError("f(g(x))"), "f:1:21: error: expected a token such as Place(cpu)");
  EXPECT_EQ(AttrError("}"), "f:1:21: error: expected a value but found '}'");
}

TEST_F(ParserTest, ReportsAttributesTheOpDoesNotTake) {
  auto error = [&](const std::string& attr) {
    return Error("{ () = \"t.kinds\" () {" + attr + "} : () -> }");
  };
  EXPECT_EQ(error("i:0.5"), "f:1:24: error: attribute i is a float but must be an integer");
  EXPECT_EQ(error("b:2"), "f:1:24: error: attribute b is an integer but must be a bool");
  EXPECT_EQ(error("m:medium"), "f:1:24: error: attribute m must be one of fast, slow");
  EXPECT_EQ(error("t:f33"), "f:1:24: error: unknown element type f33");
  EXPECT_EQ(error("is:floats[1]"), "f:1:25: error: attribute is is floats but must be integers");
}

TEST_F(ParserTest, ReportsMistakesOfDenseContents) {
  EXPECT_EQ(AttrError("dense<tensor<2xf32>, [1]>"),
            "f:1:42: error: the type has 2 elements but 1 given");
  EXPECT_EQ(AttrError("dense<tensor<1000000000xf32>, [1]>"),
            "f:1:51: error: the type has 1000000000 elements but 1 given");
  EXPECT_EQ(AttrError("dense<tensor<1xi8>, [128]>"), "f:1:42: error: 128 is out of range for int8");
  EXPECT_EQ(AttrError("dense<tensor<1xu8>, [-1]>"), "f:1:42: error: '-1' is not uint8");
  EXPECT_EQ(AttrError("dense<tensor<1xf16>, [65520]>"),
            "f:1:43: error: 65520 is out of range for float16");
  EXPECT_EQ(AttrError("dense<tensor<-1xf32>, [1]>"),
            "f:1:27: error: dense contents want a type of known size");
  EXPECT_EQ(AttrError("dense<none, [1]>"), "f:1:27: error: dense contents want a tensor type");
  EXPECT_EQ(AttrError("dense<tensor<1xi32>, hex \"00\">"),
            "f:1:46: error: 2 hexadecimal digits are given but the type has 4 bytes");
  EXPECT_EQ(AttrError("dense<tensor<1xi8>, hex \"0g\">"), "f:1:45: error: '0g' is not hexadecimal");
  EXPECT_EQ(AttrError("dense<tensor<4xbool>, hex \"07ff0001\">"),
            "f:1:47: error: a byte is no bool");
  EXPECT_EQ(AttrError("dense<tensor<1xbool>, [2]>"), "f:1:44: error: 2 is out of range for bool");
  EXPECT_EQ(AttrError("dense<tensor<1xi8>, splat>"),
            "f:1:41: error: expected [, elided, hex or file but found 's'");
}

}  // namespace
}  // namespace weft::ir
