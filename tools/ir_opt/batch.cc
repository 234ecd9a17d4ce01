#include "tools/ir_opt/batch.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <new>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "ir/base/escape.h"
#include "tools/cli/exit_code.h"
#include "tools/cli/process.h"
#include "tools/cli/tables/json_text.h"
#include "tools/cli/tables/progress_line.h"
#include "tools/cli/tables/table.h"
#include "weft/base/files.h"

namespace weft::tools {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

bool IsModel(const fs::path& path) { return ModelFormatOf(path.string()).ok(); }

// Also where a link leads nowhere: that is an error to tell of.
bool MayBeFile(const fs::directory_entry& entry) {
  std::error_code error;
  const fs::file_type type = entry.status(error).type();
  return type == fs::file_type::regular || type == fs::file_type::not_found ||
         type == fs::file_type::none;
}

// The models below `folder`, by name, but for those below `output_dir`.
absl::StatusOr<std::vector<fs::path>> ModelsBelow(const std::string& folder,
                                                  const std::string& output_dir) {
  std::vector<fs::path> models;
  std::error_code error;
  fs::recursive_directory_iterator at(folder, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    std::error_code unreadable;
    if (at->is_directory(unreadable)) {
      if (SameFile(at->path().string(), output_dir)) at.disable_recursion_pending();
    } else if (IsModel(at->path()) && MayBeFile(*at)) {
      models.push_back(at->path());
    }
  }
  if (error) return ir::InvalidArgument(folder + ": " + error.message());
  if (models.empty()) return ir::InvalidArgument(folder + ": holds no .onnx or .ir file");
  std::sort(models.begin(), models.end());
  return models;
}

// The path and its side files.
std::vector<std::string> WithSides(const std::string& path) {
  return {path, path + ".weights", path + ".data"};
}

using FileId = std::pair<dev_t, ino_t>;

absl::Status CheckOverwritesNoInput(const std::vector<BatchModel>& models) {
  std::map<FileId, std::string> inputs;
  struct stat info;
  for (const BatchModel& model : models)
    for (const std::string& path : WithSides(model.in))
      if (stat(path.c_str(), &info) == 0) inputs[{info.st_dev, info.st_ino}] = path;
  for (const BatchModel& model : models) {
    for (const std::string& path : WithSides(model.out)) {
      if (stat(path.c_str(), &info) != 0) continue;
      const auto input = inputs.find({info.st_dev, info.st_ino});
      if (input != inputs.end())
        return ir::InvalidArgument(path + ": would overwrite the input " + input->second);
    }
  }
  return absl::OkStatus();
}

absl::Status CheckOutputsDiffer(const std::vector<BatchModel>& models) {
  std::map<std::string, std::string> writers;
  for (const BatchModel& model : models) {
    const auto [it, is_new] = writers.emplace(model.out, model.in);
    if (!is_new)
      return ir::InvalidArgument(
          fmt::format("{} and {} would both be written to {}", it->second, model.in, model.out));
  }
  return absl::OkStatus();
}

// What a process tells of its model, in memory that it shares with this one.
struct Result {
  OpCounts ops;
  char error[1000];  // ends with a zero; empty: none
};

class SharedResults {
 public:
  explicit SharedResults(size_t count) : size_(count * sizeof(Result)) {
    void* const memory =
        mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    results_ = static_cast<Result*>(memory);  // all zeros
  }
  ~SharedResults() { munmap(results_, size_); }
  SharedResults(const SharedResults&) = delete;
  SharedResults& operator=(const SharedResults&) = delete;

  Result& operator[](size_t i) { return results_[i]; }

 private:
  size_t size_;
  Result* results_;
};

int Tell(const absl::Status& status, Result* result) {
  if (!status.ok())
    fmt::format_to_n(result->error, sizeof(result->error) - 1, "{}", ir::Message(status));
  return ExitCodeOf(status);
}

int OptimiseInCopy(const OptimiseModel& optimise, const BatchModel& model, Result* result) {
  try {
    return Tell(optimise(model, &result->ops), result);
  } catch (const std::bad_alloc&) {
    return Tell(ir::InvalidArgument("out of memory"), result);
  } catch (const std::exception& error) {
    return Tell(ir::InvalidArgument(error.what()), result);
  }
}

std::string LastLine(std::string_view text) {
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  return std::string(text.substr(text.rfind('\n') + 1));
}

// One that ended before it could tell has said why, or a signal ended it.
std::string ErrorOf(const ProcessEnd& end, const Result& result) {
  if (end.ok()) return "";
  if (result.error[0] != '\0') return result.error;
  if (end.signal != 0 || end.text.empty()) return end.ToString();
  return LastLine(end.text);
}

// What a process printed, parted into objects as JsonText() prints them and lines.
struct Said {
  std::string text;
  ordered_json answers = ordered_json::array();
};

Said Part(const std::string& printed) {
  Said said;
  std::string line, object;
  for (std::istringstream lines(printed); std::getline(lines, line);) {
    if (object.empty() && line != "{") {
      said.text += line + "\n";
      continue;
    }
    object += line + "\n";
    if (line != "}") continue;
    ordered_json answer = ordered_json::parse(object, nullptr, /*allow_exceptions=*/false);
    if (answer.is_discarded()) said.text += object;
    if (!answer.is_discarded()) said.answers.push_back(std::move(answer));
    object.clear();
  }
  said.text += object;
  return said;
}

struct Row {
  bool started = false;
  int code = kBadInput;
  double seconds = 0;
  std::string error = "not started";
  ordered_json answers = ordered_json::array();
};

void PrintRows(const std::vector<BatchModel>& models, const std::vector<Row>& rows,
               SharedResults& results) {
  Table table({"model", "operations", "after", "seconds", "error"});
  for (size_t i = 0; i < rows.size(); ++i) {
    const bool done = rows[i].code == kDone;
    table.AddRow({models[i].in, done ? fmt::to_string(results[i].ops.before) : "",
                  done ? fmt::to_string(results[i].ops.after) : "",
                  rows[i].started ? fmt::format("{:.2f}", rows[i].seconds) : "", rows[i].error},
                 done ? Style::kPlain : Style::kRed);
  }
  std::fputs(table.ToString(stderr).c_str(), stderr);
}

void PrintJson(const std::vector<BatchModel>& models, const std::vector<Row>& rows,
               SharedResults& results) {
  ordered_json all = ordered_json::array();
  for (size_t i = 0; i < rows.size(); ++i) {
    const bool done = rows[i].code == kDone;
    const auto if_done = [&](size_t count) { return done ? ordered_json(count) : ordered_json(); };
    all.push_back({{"model", models[i].in},
                   {"output", models[i].out},
                   {"exit_code", rows[i].code},
                   {"error", done ? ordered_json() : ordered_json(rows[i].error)},
                   {"seconds", rows[i].started ? ordered_json(rows[i].seconds) : ordered_json()},
                   {"operations_before", if_done(results[i].ops.before)},
                   {"operations_after", if_done(results[i].ops.after)},
                   {"answers", rows[i].answers}});
  }
  std::fputs(JsonText({{"models", all}}).c_str(), stderr);
}

absl::Status Verdict(const std::vector<Row>& rows) {
  const auto count = [&](int code) {
    return std::count_if(rows.begin(), rows.end(), [&](const Row& r) { return r.code == code; });
  };
  const auto failed = static_cast<size_t>(static_cast<ptrdiff_t>(rows.size()) - count(kDone));
  if (failed == 0) return absl::OkStatus();
  const std::string text = fmt::format("{} of {} models failed", failed, rows.size());
  if (count(kBadInput) > 0) return ir::InvalidArgument(text);
  return count(kUnsupported) > 0 ? ir::Unsupported(text) : CheckFailed(text);
}

absl::Status MakeFolders(const std::vector<BatchModel>& models) {
  std::set<fs::path> folders;
  for (const BatchModel& model : models) folders.insert(fs::path(model.out).parent_path());
  folders.erase("");  // that we are in
  for (const fs::path& folder : folders) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) return ir::InvalidArgument(folder.string() + ": " + error.message());
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<BatchModel>> PlanBatch(const std::vector<std::string>& inputs,
                                                  const std::string& output_dir,
                                                  const std::string& format) {
  std::vector<BatchModel> models;
  const auto add = [&](const fs::path& in, fs::path name) {
    if (!format.empty()) name.replace_extension(format);
    models.push_back({in.string(), (fs::path(output_dir) / name).lexically_normal().string()});
  };
  for (const std::string& input : inputs) {
    std::error_code error;
    if (fs::is_directory(input, error)) {
      WEFT_ASSIGN_OR_RETURN(const auto below, ModelsBelow(input, output_dir));
      for (const fs::path& path : below) add(path, path.lexically_relative(input));
    } else {
      WEFT_RETURN_IF_ERROR(ModelFormatOf(input).status());
      add(input, fs::path(input).filename());
    }
  }
  WEFT_RETURN_IF_ERROR(CheckOverwritesNoInput(models));
  WEFT_RETURN_IF_ERROR(CheckOutputsDiffer(models));
  return models;
}

absl::Status RunBatch(const std::vector<BatchModel>& models, size_t jobs, bool json,
                      const OptimiseModel& optimise) {
  WEFT_RETURN_IF_ERROR(MakeFolders(models));
  SharedResults results(models.size());
  std::vector<Row> rows(models.size());
  ProgressLine progress("models", models.size());
  size_t done = 0, failed = 0;
  progress.Show(done, failed);
  const auto ended = [&](size_t i, const ProcessEnd& end, double seconds) {
    Said said = json ? Part(end.text) : Said{.text = end.text};
    rows[i] = {true, end.signal != 0 ? kBadInput : end.exit_code, seconds, ErrorOf(end, results[i]),
               std::move(said.answers)};
    progress.Clear();
    if (!said.text.empty())
      std::fprintf(stderr, "%s:\n%s", ir::EscapeControl(models[i].in).c_str(), said.text.c_str());
    failed += rows[i].code != kDone;
    progress.Show(++done, failed);
  };
  WEFT_RETURN_IF_ERROR(RunInCopies(
      models.size(), jobs,
      [&](size_t i) { return OptimiseInCopy(optimise, models[i], &results[i]); }, ended));
  progress.Clear();
  (json ? PrintJson : PrintRows)(models, rows, results);
  return Verdict(rows);
}

}  // namespace weft::tools
