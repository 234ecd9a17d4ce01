// Kernels on tensors of strings.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "ir/dialects/onnx/control.h"
#include "ir/dialects/onnx/sequence.h"
#include "ir/dialects/onnx/text.h"
#include "kernels/reference/reference.h"
#include "kernels/reference/strings/letter_case.h"
#include "kernels/runtime/missing_kernels.h"
#include "kernels/strings_result.h"
#include "unittests/ir/region_builder.h"
#include "unittests/kernels/run_op.h"
#include "unittests/kernels/runtime/session_fixture.h"

namespace weft::kernels {
namespace {

using ir::Block;
using ir::Operation;
using ir::Strings;
using ir::Type;
using ir::Value;
using reference::LetterCase;
using reference::ToCase;
using testing::HasSubstr;
using Values = std::vector<RuntimeValue>;
constexpr DataType kStr = DataType::kString;

RuntimeValue Str(ir::Shape dims, Strings strings) {
  return RuntimeValue::Of(*Tensor::OfStrings(std::move(dims), std::move(strings)));
}
RuntimeValue Words(Strings strings) {
  const auto size = static_cast<int64_t>(strings.size());
  return Str({size}, std::move(strings));
}
RuntimeValue Ints(const std::vector<int64_t>& ints) {
  return RuntimeValue::Of(I64({static_cast<int64_t>(ints.size())}, ints));
}

std::string Text(const RuntimeValue& value) {
  std::string text;
  if (value.IsSequence()) {
    for (const auto& tensor : *value.sequence)
      text += (text.empty() ? "" : ", ") + Text(RuntimeValue::Of(tensor));
    return "(" + text + ")";
  }
  text = ir::ToString(value.view.dims);
  if (value.view.dtype == kStr) {
    for (const std::string& s : value.view.values<std::string>()) text += " '" + s + "'";
    return text;
  }
  if (value.view.dtype == DataType::kI64) {
    for (const int64_t number : value.view.values<int64_t>()) text += fmt::format(" {}", number);
    return text;
  }
  for (const double number : reference::ReadDoubles(value.view)) text += fmt::format(" {}", number);
  return text;
}

class Strs : public SessionFixture {
 protected:
  using SessionFixture::Input;
  Value Input(const ir::Shape& dims) { return Input(Of(kStr, dims)); }
  Value Index() { return Input(Of(DataType::kI64, {ir::kUnknownDim})); }
  Value Constant(const RuntimeValue& value) {
    return builder.Constant(context.DenseStringsAttr(context.TensorType(kStr, value.view.dims),
                                                     value.view.values<std::string>()));
  }
  // The outputs as text.
  std::string Run(const std::vector<Value>& results, const Values& inputs) {
    const std::string error = MakeSession(results);
    return error.empty() ? Again(inputs) : error;
  }
  std::string Again(const Values& inputs) {
    auto results = session->RunValues(inputs);
    if (!results.ok()) return std::string(results.status().message());
    std::string text;
    for (const RuntimeValue& y : *results) text += (text.empty() ? "" : "; ") + Text(y);
    return text;
  }
};

// --- tensors of strings ---------------------------------------------------------------------

TEST(TensorOfStrings, HoldsAsManyAsItsDimsSay) {
  const auto tensor = Tensor::OfStrings({2, 1}, {"a", "long enough to lie outside of the object"});
  ASSERT_TRUE(tensor.ok());
  EXPECT_EQ(tensor->values<std::string>()[1], "long enough to lie outside of the object");
  EXPECT_EQ(tensor->view().NumBytes(), 0u);
  EXPECT_GE(HeldBytes(tensor->view()), 41u);
  EXPECT_EQ(Tensor::OfStrings({3}, {"a"}).status().message(),
            "a tensor of str [3] cannot hold 1 strings");
  EXPECT_FALSE(Tensor::OfStrings({-1}, {}).ok());
  EXPECT_FALSE(Tensor::OfStrings({INT64_MAX, INT64_MAX}, {}).ok());
  EXPECT_TRUE(absl::IsUnimplemented(Tensor::Create(kStr, {2}).status()));
}

TEST(StringsResult, IsNoLargerThanOtherResults) {
  EXPECT_TRUE(StringsResult::Create({0, 1 << 20}).ok());
  EXPECT_THAT(std::string(StringsResult::Create({1 << 30}).status().message()),
              HasSubstr("strings of shape [1073741824] would take more than 4 GiB"));
  EXPECT_FALSE(StringsResult::Create({INT64_MAX, 4}).ok());
}

TEST(QuotedText, IsOneShortLine) {
  EXPECT_EQ(QuotedText("a\"\\\n\x01z"), "\"a\\\"\\\\\\n\\x01z\"");
  EXPECT_EQ(QuotedText(std::string(100, 'x')), "\"" + std::string(60, 'x') + "\"...");
  // No half of a letter.
  EXPECT_EQ(QuotedText(std::string(59, 'x') + "\u00e9"), "\"" + std::string(59, 'x') + "\"...");
}

// --- ops on strings alone --------------------------------------------------------------------

TEST_F(Strs, AreJoined) {
  const Value x = Input({2, 1}), y = Input({ir::kUnknownDim});
  EXPECT_EQ(Run({builder.Make<ops::StringConcat>({x, y})},
                {Str({2, 1}, {"a", ""}), Words({"1", "\u00e9"})}),
            "[2,2] 'a1' 'a\u00e9' '1' '\u00e9'");
  EXPECT_EQ(Again({Str({2, 1}, {"a", "b"}), Words({})}), "[2,0]");
}

TEST_F(Strs, ThatDoNotBroadcastAreNotJoined) {
  const ir::Shape any = {ir::kUnknownDim};
  EXPECT_THAT(Run({builder.Make<ops::StringConcat>({Input(any), Input(any)})},
                  {Words({"a", "b"}), Words({"1", "2", "3"})}),
              HasSubstr("do not broadcast"));
}

TEST_F(Strs, AreCut) {
  const Value x = Input({ir::kUnknownDim});
  const auto split = [&](std::optional<std::string> delimiter, std::optional<int64_t> max) {
    const Operation op =
        builder.Create<ops::StringSplit>({x}, {.delimiter = delimiter, .maxsplit = max});
    return std::vector<Value>{op.result(0), op.result(1)};
  };
  std::vector<Value> results;
  for (const auto& pair :
       {split(std::nullopt, std::nullopt), split("", 1), split("b", std::nullopt), split("b", 0)})
    results.insert(results.end(), pair.begin(), pair.end());
  EXPECT_EQ(Run(results, {Words({" ab  c ", "", "bb"})}),
            "[3,2] 'ab' 'c' '' '' 'bb' ''; [3] 2 0 1; "
            "[3,2] 'ab' 'c ' '' '' 'bb' ''; [3] 2 0 1; "
            "[3,3] ' a' '  c ' '' '' '' '' '' '' ''; [3] 2 1 3; "
            "[3,1] ' ab  c ' '' 'bb'; [3] 1 1 1");
  EXPECT_EQ(Again({Words({})}), "[0,0]; [0]; [0,0]; [0]; [0,0]; [0]; [0,0]; [0]");
}

TEST_F(Strs, LoseStopwordsAndChangeCase) {
  const Value x = Input({ir::kUnknownDim}), row = Input({1, ir::kUnknownDim});
  using Case = ops::CaseChange;
  const Strings stopwords = {"the", "\u00c4"};
  EXPECT_EQ(
      Run({builder.Make<ops::StringNormalizer>({x}, {.case_change_action = Case::kUpper}),
           builder.Make<ops::StringNormalizer>({x}, {.stopwords = stopwords}),
           builder.Make<ops::StringNormalizer>({row}, {.case_change_action = Case::kLower,
                                                       .is_case_sensitive = 1,
                                                       .stopwords = stopwords})},
          {Words({"The", "\u00e4", "D\u00e9j\u00e0"}), Str({1, 3}, {"the", "The", "\u0416"})}),
      "[3] 'THE' '\u00c4' 'D\u00c9J\u00c0'; [1] 'D\u00e9j\u00e0'; [1,2] 'the' '\u0436'");
  // Nothing is left: one empty string.
  EXPECT_EQ(Again({Words({"THE"}), Str({1, 1}, {"the"})}), "[1] 'THE'; [1] ''; [1,1] ''");
  EXPECT_EQ(Again({Words({"\xff"}), Str({1, 0}, {})}),
            "onnx.StringNormalizer: a string is no UTF-8");
}

TEST_F(Strs, HaveNoCaseOfTurkish) {
  const Value x = Input({2});
  EXPECT_EQ(
      Run({builder.Make<ops::StringNormalizer>({x}, {.locale = "tr_TR"})}, {Words({"I", "i"})}),
      "strings: onnx.StringNormalizer: letter case in the locale 'tr_TR'");
}

TEST(ToCase, KnowsUtf8FromOtherBytes) {
  EXPECT_EQ(*ToCase("\u00e9\u0436\U00010428", LetterCase::kUpper), "\u00c9\u0416\U00010400");
  EXPECT_EQ(*ToCase("\u00c9\u0416\U00010400", LetterCase::kLower), "\u00e9\u0436\U00010428");
  // A lone byte, a cut one, an overlong slash, a surrogate, beyond the last.
  for (const char* bad : {"\x80", "a\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf8"})
    EXPECT_EQ(ToCase(bad, LetterCase::kUpper).status().message(), "a string is no UTF-8");
}

TEST_F(Strs, AreCountedAsWords) {
  const auto count = [&](Value x) {
    return builder.Make<ops::TfIdfVectorizer>({x}, {.max_gram_length = 2,
                                                    .max_skip_count = 0,
                                                    .min_gram_length = 1,
                                                    .mode = ops::TextWeight::kTf,
                                                    .ngram_counts = {0, 2},
                                                    .ngram_indexes = {0, 1, 3},
                                                    .pool_strings = Strings{"a", "b", "b", "a"}});
  };
  EXPECT_EQ(Run({count(Input({2, 4}))}, {Str({2, 4}, {"a", "b", "a", "c", "c", "b", "b", "b"})}),
            "[2,4] 2 1 0 1 0 3 0 0");
}

// --- numbers ----------------------------------------------------------------------------------

TEST_F(Strs, AreMadeOfNumbers) {
  const auto to_text = [&](Type type) {
    return builder.Make<ops::Cast>({Input(type)}, {.to = kStr});
  };
  EXPECT_EQ(Run({to_text(F({6})), to_text(Of(DataType::kF64, {2})),
                 to_text(Of(DataType::kI64, {2})), to_text(Of(DataType::kBool, {2}))},
                {RuntimeValue::Of(F32({6}, {0.1f, -2, NAN, INFINITY, -INFINITY, 1e-7f})),
                 RuntimeValue::Of(F64({2}, {0.1, 1e22})), Ints({INT64_MIN, 7}),
                 RuntimeValue::Of(Bool({2}, {0, 1}))}),
            "[6] '0.1' '-2' 'NaN' 'INF' '-INF' '0.0000001'; [2] '0.1' '10000000000000000000000'; "
            "[2] '-9223372036854775808' '7'; [2] '0' '1'");
}

TEST_F(Strs, BecomeNumbers) {
  const Value x = Input({3}), like = Input(Of(DataType::kI8, {}));
  EXPECT_EQ(
      Run({builder.Make<ops::Cast>({x}, {.to = DataType::kF32}),
           builder.Make<ops::Cast>({x}, {.to = DataType::kF16}),
           builder.Make<ops::Cast>({x}, {.to = DataType::kBool}),
           builder.Make<ops::CastLike>({x, like})},
          {Words({"+1.5", " -2e1 ", "0"}), RuntimeValue::Of(*Tensor::Create(DataType::kI8, {}))}),
      "[3] 1.5 -20 0; [3] 1.5 -20 0; [3] 1 1 0; [3] 1 -20 0");
  const Values seven = {Words({"1", "7", "128"}),
                        RuntimeValue::Of(*Tensor::Create(DataType::kI8, {}))};
  EXPECT_EQ(Again(seven), "onnx.CastLike: \"128\" is no i8");
  EXPECT_THAT(Again({Words({"1", "+INF", "nan"}), seven[1]}), HasSubstr("onnx.CastLike: \"+INF\""));
  EXPECT_EQ(Again({Words({"1", "Hello\n", "2"}), seven[1]}), "onnx.Cast: \"Hello\\n\" is no f32");
  EXPECT_EQ(Again({Words({"1", "", "2"}), seven[1]}), "onnx.Cast: \"\" is no f32");
  EXPECT_EQ(Again({Words({"1", "+-1", "2"}), seven[1]}), "onnx.Cast: \"+-1\" is no f32");
  EXPECT_EQ(Again({Words({"1", "1e999", "2"}), seven[1]}), "onnx.Cast: \"1e999\" is no f32");
}

TEST_F(Strs, BecomeInfinitiesAndNan) {
  const Value x = Input({5});
  EXPECT_EQ(Run({builder.Make<ops::Cast>({x}, {.to = DataType::kF32})},
                {Words({"INF", "+inf", "-INF", "NaN", "nan"})}),
            "[5] inf inf -inf nan nan");
}

TEST_F(Strs, BecomeIntegersOnlyWhereThereAreSuch) {
  const Value x = Input({2});
  EXPECT_EQ(Run({builder.Make<ops::Cast>({x}, {.to = DataType::kI64})},
                {Words({"-9223372036854775808", "9223372036854775807"})}),
            "[2] -9223372036854775808 9223372036854775807");
  EXPECT_EQ(Again({Words({"0", "9223372036854775808"})}),
            "onnx.Cast: \"9223372036854775808\" is no i64");
}

// --- ops that move and compare elements --------------------------------------------------------

TEST_F(Strs, AreMoved) {
  const Value x = Input({2, 2}), index = Index();
  const Value flat = builder.Make<ops::Reshape>({x, builder.ConstantInts({4})});
  const Value turned = builder.Make<ops::Transpose>({x}, {.perm = ir::Ints{1, 0}});
  const Value joined =
      builder.Make<ops::Concat>({x, Constant(Str({1, 2}, {"e", "f"}))}, {.axis = 0});
  const Value gathered = builder.Make<ops::Gather>({joined, index}, {.axis = 0});
  const Value padded = builder.Make<ops::Pad>({flat, builder.ConstantInts({1, 0})});
  const Value where = builder.Make<ops::Where>(
      {builder.Make<ops::Equal>({x, turned}), x, Constant(Str({}, {"no"}))});
  EXPECT_EQ(Run({flat, turned, gathered, padded, where},
                {Str({2, 2}, {"a", "b", "c", "d"}), Ints({2, 0})}),
            "[4] 'a' 'b' 'c' 'd'; [2,2] 'a' 'c' 'b' 'd'; [2,2] 'e' 'f' 'a' 'b'; "
            "[5] '' 'a' 'b' 'c' 'd'; [2,2] 'a' 'no' 'no' 'd'");
  EXPECT_THAT(Again({Str({2, 2}, {"a", "b", "c", "d"}), Ints({3})}), HasSubstr("onnx.Gather"));
}

TEST_F(Strs, SayShapes) {
  const Value x = Input({ir::kUnknownDim});
  const Value kept = builder.Make<ops::StringNormalizer>({x}, {.stopwords = Strings{"a"}});
  const Value shape = builder.Make<ops::Shape>({kept});
  const Value ones = builder.Make<ops::Expand>({builder.ConstantScalar(DataType::kF32, 1), shape});
  EXPECT_EQ(Run({shape, builder.Make<ops::Size>({x}), ones}, {Words({"a", "b", "c"})}),
            "[1] 2; [] 3; [2] 1 1");
  EXPECT_EQ(Again({Words({"b"})}), "[1] 1; [] 1; [1] 1");
}

TEST_F(Strs, AreReshapedToWhatARunSays) {
  const Value x = Input({ir::kUnknownDim}), shape = Index();
  EXPECT_EQ(Run({builder.Make<ops::Reshape>({x, shape})}, {Words({"a", "b"}), Ints({2, 1})}),
            "[2,1] 'a' 'b'");
  EXPECT_THAT(Again({Words({"a", "b"}), Ints({3})}), HasSubstr("onnx.Reshape"));
}

TEST_F(Strs, AreComparedAndSorted) {
  const Value x = Input({4});
  const Operation unique = builder.Create<ops::Unique>({x}, {.sorted = 1}, 4);
  EXPECT_EQ(Run({unique.result(0), unique.result(3)}, {Words({"b", "", "b", "a"})}),
            "[3] '' 'a' 'b'; [3] 1 1 2");
}

TEST_F(Strs, AreScattered) {
  const Value x = Input({3}), index = Index(), updates = Input({2});
  EXPECT_EQ(Run({builder.Make<ops::ScatterElements>({x, index, updates}, {.axis = 0})},
                {Words({"a", "b", "c"}), Ints({2, 0}), Words({"z", "y"})}),
            "[3] 'y' 'b' 'z'");
}

TEST_F(Strs, AreNotAdded) {
  const Value x = Input({3}), index = Input(Of(DataType::kI64, {1, 1})), updates = Input({1});
  EXPECT_EQ(Run({builder.Make<ops::ScatterND>({x, index, updates},
                                              {.reduction = ops::ScatterReduction::kAdd})},
                {Words({"a", "b", "c"}), RuntimeValue::Of(I64({1, 1}, {0})), Words({"z"})}),
            "strings: onnx.ScatterND: the reduction add of strings");
}

TEST_F(Strs, SayWhichOpHasNoKernelForThem) {
  const Value x = Input({2, 2});
  EXPECT_EQ(Run({builder.Make<ops::Trilu>({x})}, {Str({2, 2}, {"a", "b", "c", "d"})}),
            "onnx.Trilu: no kernel runs this op on tensors of strings");
  const auto missing = MissingKernels(program, {"reference"});
  ASSERT_EQ(missing.size(), 1u);
  EXPECT_EQ(missing[0].why, "elements of type str");
}

// --- through programs -----------------------------------------------------------------------------

TEST_F(Strs, AreGivenBackAsTheyAre) {
  const Value x = Input({2});
  const Value same = builder.Make<ops::Identity>({x});
  const RuntimeValue given = Words({"a", "b"});
  EXPECT_EQ(Run({same, Constant(Words({"c"}))}, {given}), "[2] 'a' 'b'; [1] 'c'");
  EXPECT_EQ(Again({Words({"d", "e"})}), "[2] 'd' 'e'; [1] 'c'");
  // By views, too.
  const auto outputs = session->Run({given.view});
  ASSERT_TRUE(outputs.ok());
  EXPECT_EQ((*outputs)[0].values<std::string>()[1], "b");
  Tensor a = *Tensor::OfStrings({2}, {"", ""}), c = *Tensor::OfStrings({1}, {""});
  const std::vector<TensorView> inputs = {given.view}, views = {a.view(), c.view()};
  ASSERT_TRUE(session->Run(inputs, views).ok());
  EXPECT_EQ(a.values<std::string>()[0], "a");
  EXPECT_EQ(Again({Words({"d"})}), "input 'x0' has shape [1], expected [2]");
}

TEST_F(Strs, MixWithNumbersThatPlansHold) {
  const Value x = Input({2}), scale = Input(F({2}));
  const Value numbers = builder.Make<ops::Cast>({x}, {.to = DataType::kF32});
  const Value scaled = builder.Make<ops::Mul>({numbers, builder.Make<ops::Neg>({scale})});
  EXPECT_EQ(Run({builder.Make<ops::Cast>({scaled}, {.to = kStr}), scaled},
                {Words({"1", "2"}), RuntimeValue::Of(F32({2}, {3, 4}))}),
            "[2] '-3' '-8'; [2] -3 -8");
}

TEST_F(Strs, AreElementsOfSequences) {
  const Value x = Input({ir::kUnknownDim});
  const Value parts = builder.Make<ops::SplitToSequence>({x}, {.axis = 0});
  const Value last =
      builder.Make<ops::SequenceAt>({parts, builder.ConstantScalar(DataType::kI64, -1)});
  const Value joined = builder.Make<ops::ConcatFromSequence>({parts}, {.axis = 0, .new_axis = 1});
  EXPECT_EQ(Run({parts, last, joined}, {Words({"a", "b"})}),
            "([1] 'a', [1] 'b'); [1] 'b'; [2,1] 'a' 'b'");
}

TEST_F(Strs, AreInBranches) {
  const Value flag = Flag(), x = Input({1});
  const Operation op = ir::MakeWithRegions<ops::If>(program, {flag}, 1);
  const Block yes = ir::AddBlock(op, 0, {}), no = ir::AddBlock(op, 1, {});
  ir::ReturnFrom(yes, {x});
  ir::ReturnFrom(no, {ir::AtEndOf(no).Constant(
                         context.DenseStringsAttr(context.TensorType(kStr, {1}), Strings{"no"}))});
  const RuntimeValue t = RuntimeValue::Of(Bool({}, {1})), f = RuntimeValue::Of(Bool({}, {0}));
  EXPECT_EQ(Run({op.result(0)}, {t, Words({"yes"})}), "[1] 'yes'");
  EXPECT_EQ(Again({f, Words({"yes"})}), "[1] 'no'");
}

TEST_F(Strs, AreCarriedAndCollectedByLoops) {
  const Value trips = Input(Of(DataType::kI64, {})), start = Input({1}), more = Input({1});
  const Operation op = ir::MakeWithRegions<ops::Loop>(program, {trips, Value(), start}, 2);
  const Block body =
      ir::AddBlock(op, 0, {Of(DataType::kI64, {}), Of(DataType::kBool, {}), Of(kStr, {1})});
  const Value next = ir::AtEndOf(body).Make<ops::StringConcat>({body.argument(2), more});
  ir::ReturnFrom(body, {body.argument(1), next, next});
  const auto count = [](int64_t n) { return RuntimeValue::Of(I64({}, {n})); };
  EXPECT_EQ(Run({op.result(0), op.result(1)}, {count(3), Words({"-"}), Words({"x"})}),
            "[1] '-xxx'; [3,1] '-x' '-xx' '-xxx'");
  EXPECT_EQ(Again({count(0), Words({"-"}), Words({"x"})}), "[1] '-'; [0,1]");
}

TEST_F(Strs, AreScannedAlongAnyAxis) {
  const Value start = Input({2}), x = Input({2, 3});
  const Operation op = ir::MakeWithRegions<ops::Scan>(
      program, {start, x}, 2, {.num_scan_inputs = 1, .scan_input_axes = ir::Ints{1}});
  const Block body = ir::AddBlock(op, 0, {Of(kStr, {2}), Of(kStr, {2})});
  const Value next =
      ir::AtEndOf(body).Make<ops::StringConcat>({body.argument(0), body.argument(1)});
  ir::ReturnFrom(body, {next, next});
  EXPECT_EQ(Run({op.result(0), op.result(1)},
                {Words({"1", "2"}), Str({2, 3}, {"a", "b", "c", "d", "e", "f"})}),
            "[2] '1abc' '2def'; [3,2] '1a' '2d' '1ab' '2de' '1abc' '2def'");
}

TEST(RandomStrings, AreWordsOfTheSeed) {
  const Tensor a = *RandomTensor(kStr, {2, 50}, 1, 0), b = *RandomTensor(kStr, {2, 50}, 1, 0),
               c = *RandomTensor(kStr, {2, 50}, 2, 0);
  EXPECT_EQ(CountDifferent(a.view(), b.view()), 0);
  EXPECT_GT(CountDifferent(a.view(), c.view()), 50);
  for (const std::string& word : a.values<std::string>())
    EXPECT_THAT(word, testing::MatchesRegex("[a-z]+"));
  EXPECT_FALSE(RandomTensor(kStr, {2}, 1, 0, ValueRange{0, 3}).ok());
  EXPECT_EQ(RelativeDifference(a.view(), b.view()), 0);
  EXPECT_TRUE(std::isinf(RelativeDifference(a.view(), c.view())));
}

}  // namespace
}  // namespace weft::kernels
