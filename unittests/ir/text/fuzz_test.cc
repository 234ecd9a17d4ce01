// Damaged texts: whatever the bytes, the parser ends with an error or with a program that the
// verifier and the printer can look at and that survives a round trip.
#include <random>

#include "ir/analysis/verifier.h"
#include "ir/dialects/pd.h"
#include "unittests/ir/text/text_test_util.h"

namespace weft::ir {
namespace {

// Every piece of the syntax once.
constexpr std::string_view kEverything = R"(// comment
parameters {
 w: dense<tensor<2xf32>, [1.0,0.5]>
 "odd name": dense<tensor<17xi32>, elided "label-68">
}
module {input_names:strings["x","y"]} (%0: tensor<"n"x-1x3xf32>, %1 "other": tensor<*xf16>) {
 (%2 "a\x01\"b") = "t.op" (%0, <<NULL VALUE>>) {b:true,d:-0.1f64,f:1e-05,i:-7,nan:nan0x7fc00001,s:"\n",t:float32,type:type<none>,u,v:Place(cpu),w:verbatim "x y"} : (tensor<"n"x-1x3xf32>, <<NULL TYPE>>) -> vec[tensor<f32>,vec[],none] loc("here")
 (%3) = "builtin.constant" () {value:dense<tensor<2xc64>, [(1.0,-2.0),(inf,nan)]>} : () -> tensor<2xc64>
 (%4, %5) = "t.loop" (%2) {fs:floats[0.5,1.0],is:array[1,-2],ss:strings["a","b"]} : (vec[tensor<f32>,vec[],none]) -> tensor<0x<<NULL TYPE>>>, opaque<"seq"> ({
  ^(%6: tensor<i64>, %7 "i": tensor<bool>):
  (%8) = "builtin.combine" (%6, %7) {} : (tensor<i64>, tensor<bool>) -> vec[tensor<i64>,tensor<bool>]
  (%9, %10) = "builtin.split" (%8) {} : (vec[tensor<i64>,tensor<bool>]) -> tensor<i64>, tensor<bool>
  () = "builtin.return" (%9) {} : (tensor<i64>) -> 
 }, {
 }, {
  ^():
 }) loc("there")
 (%11) = "builtin.constant" () {value:dense<tensor<3xu8>, hex "00ff7a">} : () -> tensor<3xu8>
 (%12) = "builtin.get_parameter" () {parameter_name:"w"} : () -> tensor<2xf32>
 () = "builtin.return" (%12) {} : (tensor<2xf32>) -> 
}
)";

constexpr std::string_view kPieces[] = {"%0",
                                        "%18446744073709551615",
                                        "(",
                                        ")",
                                        "{",
                                        "}",
                                        "[",
                                        "]",
                                        "<",
                                        ">",
                                        "\"",
                                        "\\",
                                        ",",
                                        ":",
                                        "->",
                                        "({",
                                        "})",
                                        "^",
                                        "()",
                                        "tensor<",
                                        "vec[",
                                        "seq<",
                                        "optional<",
                                        "dense<tensor<",
                                        "<<NULL TYPE>>",
                                        "<<NULL VALUE>>",
                                        "-1x",
                                        "99999999999999999999",
                                        "4294967296x",
                                        "0x",
                                        "1e999",
                                        "-",
                                        "nan0x7f",
                                        "\n",
                                        "\r",
                                        "//",
                                        "332: ",
                                        "===---===\n",
                                        "....\n",
                                        "module ",
                                        "parameters {",
                                        "elided ",
                                        "file \"w\" at 0 size 4",
                                        "hex \"",
                                        "array[",
                                        "loc(",
                                        "\"builtin.module\"",
                                        "\"builtin.return\"",
                                        "\"builtin.split\"",
                                        std::string_view("\0", 1),
                                        "\xff",
                                        "opaque<\""};

class Mutator {
 public:
  explicit Mutator(uint32_t seed) : random_(seed) {}
  std::string Damage(std::string text, const std::string& other) {
    for (size_t i = 1 + Below(2) * Below(4); i > 0 && !text.empty(); --i) {
      const size_t at = Below(text.size());
      const size_t length = 1 + Below(std::min<size_t>(12, text.size() - at));
      switch (Below(7)) {
        case 0:
          text[at] = static_cast<char>(Below(256));
          break;
        case 1:
          text.erase(at, length);
          break;
        case 2:
          text.insert(at, kPieces[Below(std::size(kPieces))]);
          break;
        case 3:
          text.replace(at, length, kPieces[Below(std::size(kPieces))]);
          break;
        case 4:
          text.insert(at, text.substr(Below(text.size()), length));
          break;
        case 5:
          text.insert(at, other.substr(Below(other.size()), 200));
          break;
        case 6:
          if (Below(8) == 0) text.resize(at);
          text[Below(text.size() ? text.size() : 1)] ^= static_cast<char>(1 << Below(7));
          break;
      }
    }
    return text;
  }

 private:
  size_t Below(size_t n) { return random_() % n; }
  std::mt19937 random_;
};

TEST(ParserFuzz, TheTextWithEverythingIsValidAndRoundTrips) {
  IrContext context;
  const auto program = MustParse(context, kEverything);
  ExpectRoundTrip(*program, {.locations = true});
  ExpectRoundTrip(*program, {.full_weights = true});
}

TEST(ParserFuzz, DamagedTextsEndInAnErrorOrAProgram) {
  const std::string texts[] = {std::string(kEverything), ReadTestFile("paddle_transpose_before.ir"),
                               ReadTestFile("paddle_attention_after.ir"),
                               ReadTestFile("paddle_resnet50.ir")};
  Mutator mutator(20240607);
  int parsed = 0, failed = 0;
  for (int round = 0; round < 200; ++round) {
    IrContext context;
    if (round % 2) LoadPdDialect(context);  // its ops infer from damaged operands
    for (size_t i = 0; i < 40; ++i) {
      const std::string text = mutator.Damage(texts[i % 4], texts[(i / 4) % 4]);
      std::vector<std::string> warnings;
      const ParseOptions options{.allow_undefined = i % 8 >= 3, .warnings = &warnings};
      const auto program = ParseProgram(context, text, options);
      if (!program.ok()) {
        ++failed;
        EXPECT_EQ(program.status().code(), absl::StatusCode::kInvalidArgument);
        EXPECT_EQ(Message(program.status()).substr(0, 7), "<text>:");
        continue;
      }
      ++parsed;
      (void)Verify(**program);
      const std::string printed = PrintProgram(**program, {.locations = true});
      const auto copy = ParseProgram(context, printed);
      ASSERT_EQ(Message(copy.status()), "") << printed << "\nfrom\n" << text;
      ASSERT_EQ(PrintProgram(**copy, {.locations = true}), printed) << "from\n" << text;
    }
  }
  EXPECT_GT(parsed, 400);
  EXPECT_GT(failed, 2000);
}

TEST(ParserFuzz, EveryPrefixOfATextEndsInAnError) {
  IrContext context;
  for (size_t size = 0; size + 2 < kEverything.size(); ++size)
    ASSERT_NE(ParseError(context, kEverything.substr(0, size)), "") << size;
}

}  // namespace
}  // namespace weft::ir
