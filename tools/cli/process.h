// Other processes: a copy of this one for what may crash, and commands of the user.
#pragma once

#include <functional>
#include <string>

#include "ir/base/status.h"

namespace weft::tools {

struct ProcessEnd {
  int exit_code = 0;
  int signal = 0;    // that ended it; 0: it ended by itself
  std::string text;  // what it wrote to stdout and stderr

  bool ok() const { return exit_code == 0 && signal == 0; }
  bool IsLike(const ProcessEnd& other) const {
    return exit_code == other.exit_code && signal == other.signal;
  }
  std::string ToString() const;  // "exit 1", "Segmentation fault"
};

// While it lives, ^C is noted and does not end this process, but its copies as before. One at a time.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;
};

// Calls `body` in a copy of this process, whose exit code it returns; waits for its end. The caller
// has one thread. Cancelled when an Interrupts has noted ^C.
absl::StatusOr<ProcessEnd> RunInCopy(const std::function<int()>& body);

// Calls body(i) for each i below `count` in a copy of this process, at most `jobs` at a time, and
// ended(i, end, seconds) in this one, as each ends. ^C reaches the copies: then no more are started, and
// those that were not have no end. The caller has one thread.
absl::Status RunInCopies(
    size_t count, size_t jobs, const std::function<int(size_t)>& body,
    const std::function<void(size_t, const ProcessEnd&, double seconds)>& ended);

// sh -c 'command "$1"' with `argument` for $1: the command may be a pipeline and gets the argument at
// its end. InvalidArgument when there is no such command.
absl::StatusOr<ProcessEnd> RunCommand(const std::string& command, const std::string& argument);

// A word of sh that stands for `text`: in quotes, where it needs some.
std::string ShellWord(const std::string& text);

// A new folder for temporary files, which goes with the object.
class TemporaryFolder {
 public:
  static absl::StatusOr<TemporaryFolder> Create();
  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();

  std::string PathOf(const std::string& name) const { return path_ + "/" + name; }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace weft::tools
