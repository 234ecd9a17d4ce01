#include "passes/verify/judgement_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string_view>
#include <system_error>
#include <vector>

#include "drr/rule/vocabulary.h"
#include "drr/text/rule_text.h"
#include "ir/base/check.h"
#include "ir/base/output_file.h"
#include "passes/verify/digest.h"

namespace weft::passes {
namespace {

namespace fs = std::filesystem;

// A file is kHead, the digest of what follows on a line of its own, and fields "NAME SIZE\nVALUE\n".
constexpr std::string_view kHead = "weft judgement 1\n";
constexpr std::string_view kSuffix = ".judgement";
constexpr size_t kDigits = 32;  // of a digest

// Every field of a judgement, for the writer and for the reader.
template <class Field, class Judgement>
void VisitFields(Field& field, Judgement& it) {
  field("rule", it.rule);
  field("numerics", it.numerics);
  field("native", it.native);
  field("verdict", it.verdict);
  field("why", it.why);
  field("counterexample", it.counterexample);
  field("instances", it.instances);
  field("symbolic", it.symbolic);
  field("comparisons", it.comparisons);
  field("max_ulps", it.max_ulps);
  field("mean_ulps", it.mean_ulps);
  field("cut_short", it.cut_short);
  field("proved", it.proved);
  field("unproved", it.unproved);
}

class FieldWriter {
 public:
  void operator()(std::string_view name, const std::string& value) {
    text_ += fmt::format("{} {}\n{}\n", name, value.size(), value);
  }
  void operator()(std::string_view name, double value) {
    (*this)(name, std::to_string(std::bit_cast<uint64_t>(value)));
  }
  void operator()(std::string_view name, int value) { (*this)(name, std::to_string(value)); }
  void operator()(std::string_view name, Verdict value) { (*this)(name, static_cast<int>(value)); }
  void operator()(std::string_view name, drr::NumericClass value) {
    (*this)(name, static_cast<int>(value));
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

class FieldReader {
 public:
  // Believes nothing of the text.
  explicit FieldReader(std::string_view text) {
    while (!text.empty() && ok_) {
      const size_t line = text.find('\n'), space = text.find(' ');
      size_t size = 0;
      ok_ = line != text.npos && space < line &&
            Parse(text.substr(space + 1, line - space - 1), &size) &&
            size < text.size() - line - 1 && text[line + 1 + size] == '\n';
      if (!ok_) return;
      fields_[std::string(text.substr(0, space))] = text.substr(line + 1, size);
      text.remove_prefix(line + 1 + size + 1);
    }
  }
  void operator()(std::string_view name, std::string& value) {
    const auto it = fields_.find(name);
    ok_ &= it != fields_.end();
    if (ok_) value = it->second;
  }
  void operator()(std::string_view name, double& value) {
    value = std::bit_cast<double>(Bits(name));
  }
  void operator()(std::string_view name, bool& value) { value = Number(name, 1) == 1; }
  void operator()(std::string_view name, int& value) {
    value = static_cast<int>(Number(name, 0x7fffffff));
  }
  void operator()(std::string_view name, Verdict& value) {
    value = static_cast<Verdict>(Number(name, static_cast<uint64_t>(Verdict::kUnjudged)));
  }
  void operator()(std::string_view name, drr::NumericClass& value) {
    value = static_cast<drr::NumericClass>(Number(name, drr::kNumericClassNames.size() - 1));
  }
  // Whether all fields that were asked for were there.
  bool ok() const { return ok_; }

 private:
  template <class T>
  static bool Parse(std::string_view text, T* number) {
    const auto result = std::from_chars(text.data(), text.data() + text.size(), *number);
    return result.ec == std::errc() && result.ptr == text.data() + text.size();
  }
  uint64_t Bits(std::string_view name) {
    std::string text;
    (*this)(name, text);
    uint64_t bits = 0;
    ok_ = ok_ && Parse(text, &bits);
    return bits;
  }
  uint64_t Number(std::string_view name, uint64_t most) {
    const uint64_t number = Bits(name);
    ok_ &= number <= most;
    return ok_ ? number : 0;
  }

  std::map<std::string, std::string_view, std::less<>> fields_;
  bool ok_ = true;
};

// "" where it is no plain file of this user that nobody else may write.
std::string ReadOwnFile(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return "";
  struct stat info = {};
  std::string text;
  if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
      (info.st_mode & S_IWOTH) == 0 && info.st_size > 0 &&
      static_cast<size_t>(info.st_size) <= JudgementCache::kMaxFileBytes) {
    text.resize(static_cast<size_t>(info.st_size));
    size_t size = 0;
    for (ssize_t n = 1; n != 0 && size < text.size();) {
      n = read(fd, text.data() + size, text.size() - size);
      if (n < 0 && errno != EINTR) break;
      if (n > 0) size += static_cast<size_t>(n);
    }
    text.resize(size);
  }
  close(fd);
  return text;
}

// What follows the head, if the digest is that of it.
std::string_view CheckedBody(std::string_view text) {
  if (text.substr(0, kHead.size()) != kHead) return "";
  text.remove_prefix(kHead.size());
  if (text.size() <= kDigits || text[kDigits] != '\n') return "";
  const std::string_view body = text.substr(kDigits + 1);
  return text.substr(0, kDigits) == Digest(body) ? body : "";
}

bool IsOurs(const std::string& name) {
  return name.size() >= kDigits + kSuffix.size() &&
         name.compare(kDigits, kSuffix.size(), kSuffix) == 0 &&
         name.find_first_not_of("0123456789abcdef") == kDigits;
}

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

std::string JudgementKey(const drr::Rule& rule, const JudgeOptions& options) {
  WEFT_CHECK(!options.seeds, "programs that are given are in no key");
  if (!drr::FunctionsOf(rule.graph).empty()) return "";
  return fmt::format(
      "judge {}\nprogram {}\nseed {} instances {} attempts {} inputs {} symbolic {} prove {}\n{}",
      kJudgeVersion, DigestOfThisProgram(), options.seed, options.instances, options.attempts,
      options.inputs, options.symbolic, options.prove, drr::text::PrintRule(rule));
}

std::string JudgementCache::FolderOfUser() {
  // A path that is not absolute is invalid, says the XDG Base Directory Specification.
  if (const std::string cache = Variable("XDG_CACHE_HOME"); !cache.empty() && cache[0] == '/')
    return cache + "/weft";
  const std::string home = Variable("HOME");
  return !home.empty() && home[0] == '/' ? home + "/.cache/weft" : "";
}

std::string JudgementCache::PathOf(const std::string& key) const {
  return fmt::format("{}/{}{}", folder_, Digest(key), kSuffix);
}

std::optional<RuleJudgement> JudgementCache::Find(const std::string& key, double seconds) const {
  if (folder_.empty() || key.empty()) return std::nullopt;
  const std::string text = ReadOwnFile(PathOf(key));
  FieldReader field(CheckedBody(text));
  std::string stored_key;
  double stored_seconds = 0;
  RuleJudgement judgement;
  field("key", stored_key);
  field("seconds", stored_seconds);
  VisitFields(field, judgement);
  if (!field.ok() || stored_key != key) return std::nullopt;
  const bool is_enough =
      !judgement.cut_short || judgement.verdict == Verdict::kRefuted || stored_seconds >= seconds;
  return is_enough ? std::optional(std::move(judgement)) : std::nullopt;
}

void JudgementCache::Store(const std::string& key, const RuleJudgement& judgement,
                           double seconds) const {
  if (folder_.empty() || key.empty()) return;
  if (judgement.cut_short && judgement.verdict == Verdict::kUnjudged) return;
  FieldWriter field;
  field("key", key);
  field("seconds", seconds);
  VisitFields(field, judgement);
  const std::string text = fmt::format("{}{}\n{}", kHead, Digest(field.text()), field.text());
  if (text.size() > kMaxFileBytes) return;
  mkdir(fs::path(folder_).parent_path().c_str(), 0700);
  mkdir(folder_.c_str(), 0700);
  // Writing to a pipe that someone has put there would wait for a reader.
  const std::string path = PathOf(key);
  struct stat info = {};
  if (lstat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISLNK(info.st_mode)) return;
  ir::OutputFile file;
  if (file.Open(path, ir::OutputFile::Links::kReplace).ok() && file.Append(text).ok())
    (void)file.Commit();
}

void JudgementCache::Trim() const {
  struct Found {
    fs::file_time_type time;
    fs::path path;
    size_t size;
  };
  std::vector<Found> files;
  size_t bytes = 0;
  std::error_code error;
  for (fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error)) {
    if (!IsOurs(it->path().filename().string())) continue;
    std::error_code gone;  // another process trims too
    const fs::file_time_type time = it->last_write_time(gone);
    const uintmax_t size = gone ? 0 : it->file_size(gone);
    if (gone) continue;
    bytes += size;
    files.push_back({time, it->path(), size});
  }
  std::sort(files.begin(), files.end(), [](const Found& a, const Found& b) {
    return a.time != b.time ? a.time < b.time : a.path < b.path;
  });
  for (size_t i = 0; i < files.size(); ++i) {
    if (files.size() - i <= kMaxFiles && bytes <= kMaxBytes) break;
    fs::remove(files[i].path, error);
    bytes -= files[i].size;
  }
}

}  // namespace weft::passes
