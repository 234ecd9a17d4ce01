#include "tools/cli/process.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "tools/cli/reproducer.h"

namespace weft::tools {
namespace {

constexpr int kNoSuchCommand = 127;  // of sh

volatile std::sig_atomic_t interrupted = 0;
bool notes_interrupts = false;  // while there is an Interrupts
struct sigaction on_interrupt;  // without it

void EndNotingInterrupts() {
  if (!std::exchange(notes_interrupts, false)) return;
  sigaction(SIGINT, &on_interrupt, nullptr);
  interrupted = 0;
}

absl::Status CheckInterrupts() {
  return interrupted ? absl::CancelledError("interrupted") : absl::OkStatus();
}

absl::Status SystemError(const char* call) {
  return ir::InvalidArgument(fmt::format("{}: {}", call, std::strerror(errno)));
}

// What the process writes until it closes its end.
std::string ReadAll(int pipe) {
  std::string text;
  char buffer[4096];
  for (ssize_t n = 0; (n = read(pipe, buffer, sizeof(buffer))) > 0 || (n < 0 && errno == EINTR);)
    if (n > 0) text.append(buffer, static_cast<size_t>(n));
  close(pipe);
  return text;
}

struct Copy {
  pid_t process = 0;
  int output = -1;  // a pipe with what it writes
};

absl::StatusOr<Copy> StartCopy(const std::function<int()>& body) {
  int output[2];
  if (pipe(output) != 0) return SystemError("pipe");
  std::fflush(nullptr);  // or the copy might write what waits to be written once more
  const pid_t child = fork();
  if (child < 0) {
    const absl::Status status = SystemError("fork");
    close(output[0]);
    close(output[1]);
    return status;
  }
  if (child == 0) {
    DropReproducer();
    EndNotingInterrupts();
    const rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    dup2(output[1], STDOUT_FILENO);
    dup2(output[1], STDERR_FILENO);
    close(output[0]);
    close(output[1]);
    std::setvbuf(stdout, nullptr, _IONBF, 0);  // what is written before a crash is not lost
    const int code = body();
    std::fflush(nullptr);
    _exit(code);
  }
  close(output[1]);
  return Copy{child, output[0]};
}

absl::StatusOr<ProcessEnd> EndOf(const Copy& copy, std::string text) {
  ProcessEnd end{.text = std::move(text)};
  int status = 0;
  while (waitpid(copy.process, &status, 0) < 0)
    if (errno != EINTR) return SystemError("waitpid");
  if (WIFSIGNALED(status)) {
    end.signal = WTERMSIG(status);
  } else {
    end.exit_code = WEXITSTATUS(status);
  }
  return end;
}

using Clock = std::chrono::steady_clock;

struct RunningCopy {
  Copy copy;
  size_t index = 0;
  Clock::time_point start;
  std::string text;
  bool has_output = false;  // or has closed it
};

void WaitForOutput(std::vector<RunningCopy>& running) {
  std::vector<pollfd> files;
  files.reserve(running.size());
  for (const RunningCopy& copy : running) files.push_back({copy.copy.output, POLLIN, 0});
  const bool any = poll(files.data(), files.size(), -1) > 0;
  for (size_t i = 0; i < running.size(); ++i) running[i].has_output = any && files[i].revents != 0;
}

// False at the end.
bool ReadSome(int pipe, std::string* text) {
  char buffer[4096];
  const ssize_t n = read(pipe, buffer, sizeof(buffer));
  if (n > 0) text->append(buffer, static_cast<size_t>(n));
  return n > 0 || (n < 0 && errno == EINTR);
}

}  // namespace

std::string ProcessEnd::ToString() const {
  return signal != 0 ? strsignal(signal) : fmt::format("exit {}", exit_code);
}

Interrupts::Interrupts() {
  notes_interrupts = true;
  struct sigaction action = {};
  action.sa_handler = [](int) { interrupted = 1; };
  sigaction(SIGINT, &action, &on_interrupt);
}

Interrupts::~Interrupts() { EndNotingInterrupts(); }

absl::StatusOr<ProcessEnd> RunInCopy(const std::function<int()>& body) {
  WEFT_RETURN_IF_ERROR(CheckInterrupts());
  WEFT_ASSIGN_OR_RETURN(const Copy copy, StartCopy(body));
  WEFT_ASSIGN_OR_RETURN(ProcessEnd end, EndOf(copy, ReadAll(copy.output)));
  WEFT_RETURN_IF_ERROR(CheckInterrupts());
  return end;
}

absl::Status RunInCopies(
    size_t count, size_t jobs, const std::function<int(size_t)>& body,
    const std::function<void(size_t, const ProcessEnd&, double seconds)>& ended) {
  const Interrupts interrupts;
  std::vector<RunningCopy> running;
  absl::Status status;
  for (size_t next = 0;;) {
    for (; next < count && running.size() < jobs && status.ok() && !interrupted; ++next) {
      auto copy = StartCopy([&] { return body(next); });
      if (!copy.ok()) status = copy.status();
      if (copy.ok()) running.push_back({*copy, next, Clock::now(), ""});
    }
    if (running.empty()) return status;
    WaitForOutput(running);
    for (size_t i = 0; i < running.size();) {
      RunningCopy& copy = running[i];
      if (!copy.has_output || ReadSome(copy.copy.output, &copy.text)) {
        ++i;
        continue;
      }
      close(copy.copy.output);
      const std::chrono::duration<double> seconds = Clock::now() - copy.start;
      const RunningCopy done = std::move(copy);
      running.erase(running.begin() + static_cast<ptrdiff_t>(i));
      const auto end = EndOf(done.copy, done.text);
      if (end.ok()) ended(done.index, *end, seconds.count());
      if (!end.ok()) status = end.status();
    }
  }
}

absl::StatusOr<ProcessEnd> RunCommand(const std::string& command, const std::string& argument) {
  const std::string script = command + " \"$1\"";
  WEFT_ASSIGN_OR_RETURN(const ProcessEnd end, RunInCopy([&] {
                          setenv(kReproducersVariable, "", 1);
                          execl("/bin/sh", "sh", "-c", script.c_str(), "sh", argument.c_str(),
                                nullptr);
                          return kNoSuchCommand;
                        }));
  if (end.exit_code != kNoSuchCommand) return end;
  return ir::InvalidArgument(
      fmt::format("'{}' cannot be run: {}", command, end.text.substr(0, end.text.find('\n'))));
}

std::string ShellWord(const std::string& text) {
  const auto is_plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || std::strchr("_-./=,:+@%", c);
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) return text;
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

absl::StatusOr<TemporaryFolder> TemporaryFolder::Create() {
  std::error_code error;
  std::string path = (std::filesystem::temp_directory_path(error) / "weft-XXXXXX").string();
  if (error || !mkdtemp(path.data())) return SystemError("no folder for temporary files");
  return TemporaryFolder(std::move(path));
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : path_(std::exchange(other.path_, "")) {}

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  if (!path_.empty()) std::filesystem::remove_all(path_, error);
}

}  // namespace weft::tools
