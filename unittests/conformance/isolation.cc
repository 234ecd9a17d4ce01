#include "unittests/conformance/isolation.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <deque>
#include <map>
#include <string>
#include <utility>

// The address space that a sanitizer maps has no bound.
#if defined(__SANITIZE_ADDRESS__)
#define WEFT_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WEFT_SANITIZED 1
#endif
#endif

namespace weft::conformance {
namespace {

// A file in memory, which outlives the process that writes it.
class MemoryFile {
 public:
  MemoryFile() : fd_(memfd_create("conformance", MFD_CLOEXEC)) {}
  MemoryFile(MemoryFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  MemoryFile& operator=(MemoryFile&&) = delete;
  ~MemoryFile() {
    if (fd_ >= 0) close(fd_);
  }
  int fd() const { return fd_; }
  void Append(const std::string& text) const {
    for (size_t done = 0; done < text.size();) {
      const ssize_t n = write(fd_, text.data() + done, text.size() - done);
      if (n <= 0) return;
      done += static_cast<size_t>(n);
    }
  }
  std::string Read() const {
    std::string text;
    char buffer[4096];
    for (ssize_t n = 0;
         (n = pread(fd_, buffer, sizeof(buffer), static_cast<off_t>(text.size()))) > 0;)
      text.append(buffer, static_cast<size_t>(n));
    return text;
  }

 private:
  int fd_;
};

struct Job {
  size_t index = 0, first_part = 0;
  MemoryFile report = {}, errors = {};
};

std::string OneLine(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  std::replace(text.begin(), text.end(), '\t', ' ');
  return text;
}

std::string LastLine(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

[[noreturn]] void RunChild(const Job& job, const IsolationOptions& options, const RunParts& run) {
  dup2(job.errors.fd(), STDERR_FILENO);
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
#ifndef WEFT_SANITIZED
  const rlimit memory = {options.memory_bytes, options.memory_bytes};
  setrlimit(RLIMIT_AS, &memory);
#endif
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::signal(SIGALRM, SIG_DFL);
  alarm(options.timeout_seconds);
  run(job.index, job.first_part, [&](const Outcome& outcome) {
    job.report.Append(std::string(StatusName(outcome.status)) + "\t" + OneLine(outcome.reason) +
                      "\n");
  });
  _exit(0);
}

// The outcomes in the report of a process; a line that was not finished is none.
std::vector<Outcome> ParseReport(const std::string& report) {
  std::vector<Outcome> outcomes;
  size_t start = 0;
  for (size_t end = report.find('\n'); end != std::string::npos; end = report.find('\n', start)) {
    const std::string line = report.substr(start, end - start);
    start = end + 1;
    const size_t tab = std::min(line.find('\t'), line.size());
    const auto status = ParseStatus(line.substr(0, tab));
    if (status) outcomes.push_back({*status, line.substr(std::min(tab + 1, line.size()))});
  }
  return outcomes;
}

Outcome EarlyEnd(const Job& job, int status, unsigned timeout_seconds) {
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
    return {Status::kTimeout, "more than " + std::to_string(timeout_seconds) + " s"};
  std::string reason = WIFSIGNALED(status) ? strsignal(WTERMSIG(status))
                                           : "exit " + std::to_string(WEXITSTATUS(status));
  const std::string last = LastLine(job.errors.Read());
  return {Status::kCrash, last.empty() ? reason : OneLine(reason + ": " + last)};
}

class Pool {
 public:
  Pool(size_t tests, size_t parts, const IsolationOptions& options, const RunParts& run)
      : options_(options), run_(run), parts_(parts), outcomes_(tests) {
    for (size_t i = 0; i < tests; ++i) waiting_.emplace_back(i, 0);
  }

  absl::StatusOr<std::vector<std::vector<Outcome>>> Run() {
    while (!waiting_.empty() || !running_.empty()) {
      while (!waiting_.empty() && running_.size() < static_cast<size_t>(options_.jobs))
        WEFT_RETURN_IF_ERROR(Start());
      WEFT_RETURN_IF_ERROR(Collect());
    }
    return std::move(outcomes_);
  }

 private:
  absl::Status Start() {
    Job job = {waiting_.front().first, waiting_.front().second};
    if (job.report.fd() < 0 || job.errors.fd() < 0) return SystemError("memfd_create");
    waiting_.pop_front();
    std::fflush(nullptr);  // or the child might write what waits to be written once more
    const pid_t pid = fork();
    if (pid < 0) return SystemError("fork");
    if (pid == 0) RunChild(job, options_, run_);
    running_.emplace(pid, std::move(job));
    return absl::OkStatus();
  }

  // Waits for one process.
  absl::Status Collect() {
    int status = 0;
    const pid_t pid = waitpid(-1, &status, 0);
    if (pid < 0) return errno == EINTR ? absl::OkStatus() : SystemError("waitpid");
    const auto found = running_.find(pid);
    if (found == running_.end()) return absl::OkStatus();
    const Job& job = found->second;
    std::vector<Outcome>& outcomes = outcomes_[job.index];
    for (Outcome& outcome : ParseReport(job.report.Read()))
      if (outcomes.size() < parts_) outcomes.push_back(std::move(outcome));
    if (outcomes.size() < parts_)
      outcomes.push_back(EarlyEnd(job, status, options_.timeout_seconds));
    if (outcomes.size() < parts_) waiting_.emplace_front(job.index, outcomes.size());
    running_.erase(found);
    return absl::OkStatus();
  }

  static absl::Status SystemError(const std::string& call) {
    return ir::Internal(call + ": " + std::strerror(errno));
  }

  const IsolationOptions& options_;
  const RunParts& run_;
  size_t parts_;
  std::vector<std::vector<Outcome>> outcomes_;
  std::deque<std::pair<size_t, size_t>> waiting_;  // test, first part
  std::map<pid_t, Job> running_;
};

}  // namespace

absl::StatusOr<std::vector<std::vector<Outcome>>> RunIsolated(size_t tests, size_t parts,
                                                              const IsolationOptions& options,
                                                              const RunParts& run) {
  return Pool(tests, parts, options, run).Run();
}

}  // namespace weft::conformance
