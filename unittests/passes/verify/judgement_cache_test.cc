// Judgements are kept between runs, and nothing that a file holds is believed.
#include "passes/verify/judgement_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "drr/rule_file.h"
#include "ir/dialects/onnx.h"
#include "passes/verify/digest.h"
#include "unittests/fixtures/golden.h"
#include "unittests/temp_dir.h"
#include "unittests/test_paths.h"

namespace weft::passes {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Ne;

RuleJudgement SomeJudgement() {
  RuleJudgement it;
  it.rule = "a-rule";
  it.numerics = drr::NumericClass::kApproximate;
  it.native = true;
  it.verdict = Verdict::kTested;
  it.why = "two\nlines";
  it.counterexample = std::string("a \0 byte", 8);
  it.instances = 24;
  it.symbolic = 3;
  it.comparisons = 288;
  it.max_ulps = 0.1;
  it.mean_ulps = 1e-300;
  return it;
}

class JudgementCaches : public testing::Test {
 protected:
  JudgementCache Cache() const { return JudgementCache((root_ / "weft").string()); }
  // What a file holds that was just stored.
  std::string Stored() const {
    Cache().Store("key", SomeJudgement(), 2);
    std::ostringstream text;
    text << std::ifstream(Cache().PathOf("key"), std::ios::binary).rdbuf();
    return text.str();
  }
  bool IsFoundIn(const std::string& text) const {
    std::ofstream(Cache().PathOf("key"), std::ios::binary) << text;
    return Cache().Find("key", 2).has_value();
  }

  const fixtures::TempDir dir_;
  const fs::path root_ = dir_.path();
};

TEST_F(JudgementCaches, KeepNothingOfRulesWithFunctionsThatCameWithTheirText) {
  ir::IrContext context;
  ir::LoadOnnxDialect(context);
  const drr::NativeFunctions functions = {
      {"fits", [](std::span<const drr::NativeArgument>) { return true; }}};
  const auto key_of = [&](const std::string& constraint) {
    const auto file =
        drr::text::ReadRules("rule r {\nsource { %0 = onnx.Neg(%x) }\n" + constraint +
                                 "\nresult { !0 = onnx.Abs(%x) }\nreplace %0 with !0 }",
                             "r.weft", &context, nullptr, &functions);
    EXPECT_TRUE(file.errors.empty()) << file.errors[0];
    return JudgementKey(*file.rules[0], {.seeds = nullptr});
  };
  EXPECT_THAT(key_of("require \"x has rank 2\" rank_is(%x, 2)"), HasSubstr("rank_is"));
  EXPECT_EQ(key_of("require \"x fits\" native fits(%x)"), "");
  Cache().Store("", SomeJudgement(), 2);
  EXPECT_FALSE(Cache().Find("", 2).has_value());
  EXPECT_FALSE(fs::exists(Cache().folder()));
}

TEST_F(JudgementCaches, GiveBackEveryField) {
  EXPECT_FALSE(Cache().Find("key", 2).has_value());
  Cache().Store("key", SomeJudgement(), 2);
  const auto found = Cache().Find("key", 100);
  ASSERT_TRUE(found.has_value());
  const RuleJudgement expected = SomeJudgement();
  EXPECT_EQ(found->rule, expected.rule);
  EXPECT_EQ(found->numerics, expected.numerics);
  EXPECT_EQ(found->native, expected.native);
  EXPECT_EQ(found->verdict, expected.verdict);
  EXPECT_EQ(found->why, expected.why);
  EXPECT_EQ(found->counterexample, expected.counterexample);
  EXPECT_EQ(found->instances, expected.instances);
  EXPECT_EQ(found->symbolic, expected.symbolic);
  EXPECT_EQ(found->comparisons, expected.comparisons);
  EXPECT_EQ(found->max_ulps, expected.max_ulps);
  EXPECT_EQ(found->mean_ulps, expected.mean_ulps);
  EXPECT_FALSE(Cache().Find("another key", 2).has_value());
}

TEST_F(JudgementCaches, KnowHowMuchTimeAJudgementHad) {
  RuleJudgement it = SomeJudgement();
  it.cut_short = true;
  Cache().Store("key", it, 2);
  EXPECT_TRUE(Cache().Find("key", 2).has_value());
  EXPECT_FALSE(Cache().Find("key", 40).has_value());
  it.verdict = Verdict::kRefuted;  // no time changes that
  Cache().Store("key", it, 2);
  EXPECT_TRUE(Cache().Find("key", 40).has_value());
  it.verdict = Verdict::kUnjudged;  // more may be found next time
  Cache().Store("another key", it, 2);
  EXPECT_FALSE(Cache().Find("another key", 2).has_value());
}

TEST_F(JudgementCaches, IgnoreAFileWithAnyByteChanged) {
  const std::string text = Stored();
  ASSERT_TRUE(IsFoundIn(text));
  for (size_t i = 0; i < text.size(); ++i) {
    std::string damaged = text;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    EXPECT_FALSE(IsFoundIn(damaged)) << "byte " << i;
    EXPECT_FALSE(IsFoundIn(text.substr(0, i))) << "cut at " << i;
  }
  EXPECT_FALSE(IsFoundIn(text + "x"));
}

// Somebody who knows how the checksum is made.
TEST_F(JudgementCaches, BelieveNothingOfFieldsWithARightChecksum) {
  const auto is_found = [&](const std::string& body) {
    return IsFoundIn("weft judgement 1\n" + Digest(body) + "\n" + body);
  };
  const std::string text = Stored();
  const std::string body = text.substr(text.find('\n', 17) + 1);
  ASSERT_TRUE(is_found(body));
  const auto with = [&](const std::string& field, const std::string& value) {
    std::string other = body;
    const size_t at = other.find("\n" + field + " ") + 1;
    const size_t line = other.find('\n', at), size = std::stoul(other.substr(at + field.size()));
    const std::string changed = field + " " + std::to_string(value.size()) + "\n" + value;
    return other.replace(at, line + 1 + size - at, changed);
  };
  ASSERT_TRUE(is_found(with("verdict", "1")));
  for (const char* value : {"3", "-1", "4294967296", "18446744073709551616", "", "x", "1 "}) {
    EXPECT_FALSE(is_found(with("verdict", value))) << value;
    EXPECT_FALSE(is_found(with("native", value))) << value;
  }
  EXPECT_FALSE(is_found(with("numerics", "4")));
  EXPECT_FALSE(is_found(with("instances", "2147483648")));
  EXPECT_FALSE(is_found(body.substr(body.find("why "))));  // without the first fields
  for (const char* field : {"rule 99999999999999999999\n", "rule 18446744073709551615\n",
                            "rule 5\nab", "rule -1\nab\n", "rule\n", "\n", "rule 1", " 0\n"})
    EXPECT_FALSE(is_found(body + field)) << field;
}

TEST_F(JudgementCaches, IgnoreAFileForAnotherKeyUnderThisName) {
  Cache().Store("key", SomeJudgement(), 2);
  fs::copy_file(Cache().PathOf("key"), Cache().PathOf("another key"));
  EXPECT_FALSE(Cache().Find("another key", 2).has_value());
}

TEST_F(JudgementCaches, IgnoreWhatIsNoFileOfThisUser) {
  Cache().Store("key", SomeJudgement(), 2);
  const std::string path = Cache().PathOf("key");
  fs::rename(path, root_ / "elsewhere");
  fs::create_symlink(root_ / "elsewhere", path);
  EXPECT_FALSE(Cache().Find("key", 2).has_value());
  fs::remove(path);
  fs::create_directory(path);
  EXPECT_FALSE(Cache().Find("key", 2).has_value());
  Cache().Store("key", SomeJudgement(), 2);
  EXPECT_TRUE(fs::is_directory(path));
  fs::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);  // neither reading nor writing it waits
  EXPECT_FALSE(Cache().Find("key", 2).has_value());
  Cache().Store("key", SomeJudgement(), 2);
  fs::remove(path);
  Cache().Store("key", SomeJudgement(), 2);
  EXPECT_TRUE(Cache().Find("key", 2).has_value());
  fs::permissions(path, fs::perms::all);  // anybody may have written it
  EXPECT_FALSE(Cache().Find("key", 2).has_value());
}

TEST_F(JudgementCaches, GoWithoutAFolder) {
  for (const std::string& folder : {std::string(), std::string("/dev/null/weft"),
                                    (root_ / "none" / "cache" / "weft").string()}) {
    const JudgementCache cache(folder);
    cache.Store("key", SomeJudgement(), 2);
    EXPECT_FALSE(cache.Find("key", 2).has_value());
    cache.Trim();
  }
  EXPECT_TRUE(fs::is_empty(root_));
}

TEST_F(JudgementCaches, KeepTheNewestFilesAndNothingOfOthersIsRemoved) {
  Cache().Store("key", SomeJudgement(), 2);
  const fs::path folder = Cache().folder();
  std::ofstream(folder / "notes.txt") << "mine";
  const auto now = fs::last_write_time(Cache().PathOf("key"));
  for (size_t i = 0; i < JudgementCache::kMaxFiles + 9; ++i) {
    const std::string path = Cache().PathOf(std::to_string(i));
    std::ofstream(path) << i;
    fs::last_write_time(path, now - std::chrono::seconds(i + 1));
  }
  Cache().Trim();
  const auto files = std::distance(fs::directory_iterator(folder), fs::directory_iterator());
  EXPECT_EQ(static_cast<size_t>(files), JudgementCache::kMaxFiles + 1);
  EXPECT_TRUE(fs::exists(folder / "notes.txt"));
  EXPECT_TRUE(fs::exists(Cache().PathOf("key")));
  EXPECT_TRUE(fs::exists(Cache().PathOf("0")));
  EXPECT_FALSE(fs::exists(Cache().PathOf(std::to_string(JudgementCache::kMaxFiles))));
}

TEST_F(JudgementCaches, KeepNoMoreBytesThanTheyMay) {
  Cache().Store("key", SomeJudgement(), 2);
  const size_t files = JudgementCache::kMaxBytes / JudgementCache::kMaxFileBytes;
  for (size_t i = 0; i < files; ++i) {
    const std::string path = Cache().PathOf(std::to_string(i));
    std::ofstream(path) << i;
    fs::resize_file(path, JudgementCache::kMaxFileBytes);  // which takes no room on the disk
  }
  const std::string oldest = Cache().PathOf("7");
  fs::last_write_time(oldest, fs::last_write_time(oldest) - std::chrono::hours(1));
  Cache().Trim();
  EXPECT_FALSE(fs::exists(oldest));
  EXPECT_TRUE(fs::exists(Cache().PathOf("8")));
}

TEST_F(JudgementCaches, HoldNothingTooLarge) {
  RuleJudgement it = SomeJudgement();
  it.counterexample.assign(JudgementCache::kMaxFileBytes, 'x');
  Cache().Store("key", it, 2);
  EXPECT_FALSE(Cache().Find("key", 2).has_value());
}

TEST_F(JudgementCaches, ServeSeveralWritersAndReadersOfOneKey) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([this] {
      for (int i = 0; i < 50; ++i) {
        Cache().Store("key", SomeJudgement(), 2);
        EXPECT_TRUE(Cache().Find("key", 2).has_value());
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::distance(fs::directory_iterator(Cache().folder()), fs::directory_iterator()), 1);
}

TEST(JudgementFolder, IsWhereTheUserKeepsWhatCanBeMadeAgain) {
  const auto value = [](const char* name) {
    return std::string(std::getenv(name) ? std::getenv(name) : "");
  };
  const std::string home = value("HOME"), cache = value("XDG_CACHE_HOME");
  setenv("HOME", "/home/a", 1);
  setenv("XDG_CACHE_HOME", "/var/b", 1);
  EXPECT_EQ(JudgementCache::FolderOfUser(), "/var/b/weft");
  for (const char* invalid : {"", "relative"}) {
    setenv("XDG_CACHE_HOME", invalid, 1);
    EXPECT_EQ(JudgementCache::FolderOfUser(), "/home/a/.cache/weft");
  }
  unsetenv("XDG_CACHE_HOME");
  EXPECT_EQ(JudgementCache::FolderOfUser(), "/home/a/.cache/weft");
  unsetenv("HOME");
  EXPECT_EQ(JudgementCache::FolderOfUser(), "");
  setenv("HOME", home.c_str(), 1);
  setenv("XDG_CACHE_HOME", cache.c_str(), 1);
}

TEST(JudgementKeys, HoldTheRuleTheOptionsAndTheProgram) {
  ir::IrContext context;
  ir::LoadOnnxDialect(context);
  const auto rules =
      fixtures::ReadRulesFile(fixtures::TestData("/passes/verify/right_rules.weft"), context);
  ASSERT_TRUE(rules.ok()) << rules.status();
  const drr::Rule& rule = *(*rules)[0];
  const std::string key = JudgementKey(rule, {});
  EXPECT_EQ(JudgementKey(rule, {}), key);
  EXPECT_EQ(JudgementKey(rule, {.seconds = 1}), key);
  EXPECT_THAT(key, HasSubstr(DigestOfThisProgram()));
  EXPECT_THAT(JudgementKey(*(*rules)[1], {}), Ne(key));
  EXPECT_THAT(JudgementKey(rule, {.seed = 2}), Ne(key));
  EXPECT_THAT(JudgementKey(rule, {.instances = 2}), Ne(key));
  EXPECT_THAT(JudgementKey(rule, {.attempts = 2}), Ne(key));
  EXPECT_THAT(JudgementKey(rule, {.inputs = 1}), Ne(key));
  EXPECT_THAT(JudgementKey(rule, {.symbolic = false}), Ne(key));
  drr::Rule stricter = rule;
  stricter.numerics = drr::NumericClass::kApproximate;
  EXPECT_THAT(JudgementKey(stricter, {}), Ne(key));
}

TEST(Digests, DifferInEachBitAndInLength) {
  EXPECT_EQ(Digest("").size(), 32u);
  std::set<std::string> digests = {Digest("")};
  std::string text(20, '\0');
  for (size_t size = 1; size <= text.size(); ++size)
    EXPECT_TRUE(digests.insert(Digest(text.substr(0, size))).second);
  for (size_t bit = 0; bit < 8 * text.size(); ++bit) {
    std::string other = text;
    other[bit / 8] = static_cast<char>(1 << bit % 8);
    EXPECT_TRUE(digests.insert(Digest(other)).second) << bit;
  }
}

}  // namespace
}  // namespace weft::passes
