#include "tools/cli/reproducer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/cli/process.h"
#include "weft/version.h"

namespace weft::tools {
namespace {

namespace fs = std::filesystem;

constexpr int kSignals[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL};
constexpr uintmax_t kMaxCopied = uintmax_t{1} << 30;  // bytes; larger files stay where they are
constexpr size_t kMaxStdin = size_t{256} << 20;       // bytes

// All is made before anything can go wrong: a handler of signals may neither allocate nor lock.
struct Reproducer {
  std::string folder, script_path, script, message;
  std::string stdin_path;
  std::shared_ptr<const std::string> stdin_text;            // null: not kept
  std::vector<std::pair<std::string, std::string>> copies;  // from, to
};
Reproducer* prepared = nullptr;  // never freed: a crash may come at any time
struct sigaction before[std::size(kSignals)];

bool WriteAll(int file, const char* data, size_t size) {
  while (size > 0) {
    const ssize_t n = write(file, data, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    data += n;
    size -= static_cast<size_t>(n);
  }
  return true;
}

bool WriteFile(const std::string& path, mode_t mode,
               std::initializer_list<std::string_view> parts) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (file < 0) return false;
  const bool good = std::all_of(parts.begin(), parts.end(), [&](std::string_view part) {
    return WriteAll(file, part.data(), part.size());
  });
  close(file);
  return good;
}

bool CopyFile(const std::string& from, const std::string& to) {
  const int in = open(from.c_str(), O_RDONLY | O_CLOEXEC);
  if (in < 0) return false;
  struct stat file = {};
  const mode_t mode = fstat(in, &file) == 0 ? file.st_mode & 0777 : 0666;
  const int out = open(to.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
  char buffer[4096];
  bool good = out >= 0;
  for (ssize_t n = 0; good && (n = read(in, buffer, sizeof(buffer))) != 0;)
    good = n > 0 ? WriteAll(out, buffer, static_cast<size_t>(n)) : errno == EINTR;
  close(in);
  if (out >= 0) close(out);
  return good;
}

// Only calls that a handler of signals may make.
bool Write(const Reproducer& reproducer) {
  if (mkdir(reproducer.folder.c_str(), 0777) != 0) return false;
  for (const auto& [from, to] : reproducer.copies)
    if (!CopyFile(from, to)) return false;
  const std::string* const text = reproducer.stdin_text.get();
  if (text && !WriteFile(reproducer.stdin_path, 0666, {*text})) return false;
  return WriteFile(reproducer.script_path, 0777, {reproducer.script, text ? " <stdin\n" : "\n"});
}

// A file that shrinks while it is mapped is no crash: who handled that before ends the program.
void OnCrash(int signal, siginfo_t* info, void* context) {
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    sigaction(kSignals[i], &before[i], nullptr);
    if (signal == SIGBUS && kSignals[i] == SIGBUS && (before[i].sa_flags & SA_SIGINFO) != 0)
      before[i].sa_sigaction(signal, info, context);
  }
  const Reproducer* const reproducer = std::exchange(prepared, nullptr);
  if (reproducer && Write(*reproducer))
    WriteAll(STDERR_FILENO, reproducer->message.data(), reproducer->message.size());
  raise(signal);  // as if nobody had handled it, once this has returned
}

class Preparation {
 public:
  explicit Preparation(std::string folder) { result_.folder = std::move(folder); }

  Reproducer Run(const std::string& program, int argc, const char* const* argv) {
    result_.script_path = result_.folder + "/run.sh";
    result_.stdin_path = result_.folder + "/stdin";
    result_.script = fmt::format(
        "#!/bin/sh\n# {} {} failed. The files that its command line named are here, but for what "
        "they "
        "name\n# themselves, folders, and those of more than a GiB.\ncd \"$(dirname \"$0\")\" && "
        "exec {}",
        program, WEFT_VERSION_STRING, program);
    for (int i = 1; i < argc; ++i) {
      const std::string argument = argv[i];
      const std::string before = argv[i - 1];
      result_.script += " " + ShellWord(before == "-o" ? fs::path(argument).filename().string()
                                                       : WithCopy(before, argument));
    }
    result_.message =
        fmt::format("{}: error: crashed; {} runs it again\n", program, result_.script_path);
    return std::move(result_);
  }

 private:
  // The argument, FILE or NAME=FILE, with the file's name in the folder; a folder that is read stays where it is.
  std::string WithCopy(const std::string& before, const std::string& argument) {
    std::error_code error;
    for (const size_t begin : {size_t{0}, argument.find('=') + 1}) {  // 0 again where there is none
      const std::string path = argument.substr(begin), name = argument.substr(0, begin);
      if (path.empty()) continue;
      if (fs::is_regular_file(path, error)) return name + Copy(path);
      const bool is_read =
          begin == 0 ? before == "--calibrate" || !before.starts_with('-') : name == "--calibrate=";
      if (is_read && fs::is_directory(path, error))
        return name + fs::absolute(path, error).string();
    }
    return argument;
  }

  std::string Copy(const std::string& path) {
    std::error_code error;
    std::string whole = fs::absolute(path, error).string();
    if (fs::file_size(path, error) > kMaxCopied || error) return whole;
    std::string name = fs::path(path).filename().string();
    while (!names_.insert(name).second) name.insert(0, "_");
    for (const char* side : {"", ".weights", ".data"})
      if (fs::is_regular_file(path + side, error))
        result_.copies.emplace_back(whole + side, result_.folder + "/" + name + side);
    return access(path.c_str(), X_OK) == 0 ? "./" + name : name;  // as a command is found
  }

  Reproducer result_;
  std::set<std::string> names_ = {"run.sh", "stdin"};
};

}  // namespace

void PrepareReproducer(const std::string& program, int argc, const char* const* argv) {
  const char* const given = std::getenv(kReproducersVariable);
  if (given && *given == '\0') return;
  std::error_code error;
  const fs::path where = given ? fs::path(given) : fs::temp_directory_path(error);
  if (error || prepared) return;
  const fs::path folder = where / fmt::format("{}-reproducer-{}", program, getpid());
  prepared = new Reproducer(Preparation(folder.string()).Run(program, argc, argv));
  static char stack[1 << 16];  // of the handler: the program's may have run over
  stack_t other = {};
  other.ss_sp = stack;
  other.ss_size = sizeof(stack);
  sigaltstack(&other, nullptr);
  struct sigaction action = {};
  action.sa_sigaction = OnCrash;
  action.sa_flags = SA_ONSTACK | SA_SIGINFO;
  for (size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &action, &before[i]);
}

void KeepStdin(std::shared_ptr<const std::string> text) {
  if (prepared && text->size() <= kMaxStdin) prepared->stdin_text = std::move(text);
}

void DropReproducer() {
  if (!prepared) return;
  prepared = nullptr;
  for (size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &before[i], nullptr);
}

std::string WriteReproducer() { return prepared && Write(*prepared) ? prepared->folder : ""; }

}  // namespace weft::tools
