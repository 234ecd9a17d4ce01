#include "tools/cli/process.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "tools/cli/reproducer.h"

namespace weft::tools {
namespace {

constexpr int kNoSuchCommand = 127;  // of sh

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

}  // namespace

std::string ProcessEnd::ToString() const {
  return signal != 0 ? strsignal(signal) : fmt::format("exit {}", exit_code);
}

absl::StatusOr<ProcessEnd> RunInCopy(const std::function<int()>& body) {
  int output[2];
  if (pipe(output) != 0) return SystemError("pipe");
  std::fflush(nullptr);  // or the copy might write what waits to be written once more
  const pid_t child = fork();
  if (child < 0) return SystemError("fork");
  if (child == 0) {
    DropReproducer();
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
  ProcessEnd end{.text = ReadAll(output[0])};
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return SystemError("waitpid");
  if (WIFSIGNALED(status)) {
    end.signal = WTERMSIG(status);
  } else {
    end.exit_code = WEXITSTATUS(status);
  }
  return end;
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
