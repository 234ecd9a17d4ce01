// Running ir-opt and ir-run as a user would, in a folder of the test's own.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "unittests/temp_dir.h"
#include "unittests/test_paths.h"

extern char** environ;

namespace weft::tools {

struct Outcome {
  int code = -1;   // exit code; -1 when a signal ended the program
  int signal = 0;  // that one
  std::string out, err;
};

// What a test does with a program while it runs: called with what stderr holds so far.
using Watch = std::function<void(pid_t program, const std::string& err)>;

// Reads both pipes until they are closed.
inline void Drain(int out, int err, Outcome* outcome, const std::function<void()>& after_read) {
  pollfd files[2] = {{out, POLLIN, 0}, {err, POLLIN, 0}};
  std::string* texts[2] = {&outcome->out, &outcome->err};
  for (int open = 2; open > 0;) {
    poll(files, 2, -1);
    for (int i = 0; i < 2; ++i) {
      if (files[i].fd < 0 || files[i].revents == 0) continue;
      char buffer[4096];
      const ssize_t n = read(files[i].fd, buffer, sizeof(buffer));
      if (n > 0) {
        texts[i]->append(buffer, static_cast<size_t>(n));
        if (after_read) after_read();
      } else {
        close(files[i].fd);
        files[i].fd = -1;
        --open;
      }
    }
  }
}

// Judgements of rules are not kept, least of all among the user's own.
inline const bool kKeepsNoJudgements = setenv("XDG_CACHE_HOME", "/dev/null", 1) == 0;

inline std::string ProgramPath(const std::string& name) {
  return fixtures::BuildPath("/bin/") + name;
}

// Runs bin/<arguments[0]> of this build, or any program by its whole path, with `input` on stdin, which must fit a pipe.
inline Outcome RunProgram(std::vector<std::string> arguments, const std::string& input = "",
                          const Watch& watch = nullptr) {
  std::signal(SIGPIPE, SIG_IGN);
  if (arguments[0][0] != '/') arguments[0] = ProgramPath(arguments[0]);
  int in[2], out[2], err[2];
  for (int* ends : {in, out, err}) EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], 0);
  posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  posix_spawn_file_actions_adddup2(&actions, err[1], 2);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  EXPECT_EQ(posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environ), 0) << argv[0];
  posix_spawn_file_actions_destroy(&actions);
  for (int end : {in[0], out[1], err[1]}) close(end);
  EXPECT_EQ(write(in[1], input.data(), input.size()), static_cast<ssize_t>(input.size()));
  close(in[1]);
  Outcome outcome;
  Drain(out[0], err[0], &outcome, [&] {
    if (watch) watch(child, outcome.err);
  });
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status)) outcome.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
  return outcome;
}

// Runs the line of shell, in which "$@" stands for a program of this build and its arguments.
inline Outcome RunInShell(const std::string& line, std::vector<std::string> arguments) {
  arguments[0] = ProgramPath(arguments[0]);
  arguments.insert(arguments.begin(), {"/bin/sh", "-c", line, "sh"});
  return RunProgram(std::move(arguments));
}

inline std::string ReadFile(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

inline size_t CountOf(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// A .npy file of 32-bit floats.
inline std::string Npy(const std::string& shape, const std::vector<float>& values) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }";
  header.resize((header.size() + 10 + 64) / 64 * 64 - 10 - 1, ' ');
  header += '\n';
  std::string text = "\x93NUMPY";
  text += {1, 0, static_cast<char>(header.size() & 255), static_cast<char>(header.size() >> 8)};
  text += header;
  text.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  return text;
}

// A folder of its own for every test, and runs of one program.
class ProgramTest : public ::testing::Test {
 protected:
  explicit ProgramTest(std::string program) : program_(std::move(program)) {}

  Outcome Run(std::vector<std::string> arguments, const std::string& input = "") const {
    arguments.insert(arguments.begin(), program_);
    return RunProgram(std::move(arguments), input);
  }
  Outcome Accept(const std::vector<std::string>& arguments, const std::string& input = "") const {
    Outcome outcome = Run(arguments, input);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome;
  }
  // Expects that exit code and one line on stderr, which it returns.
  std::string Refusal(const std::vector<std::string>& arguments, int code = 2) const {
    const Outcome outcome = Run(arguments);
    EXPECT_EQ(outcome.code, code) << outcome.err;
    EXPECT_EQ(outcome.err.substr(0, program_.size() + 9), program_ + ": error: ");
    EXPECT_EQ(CountOf(outcome.err, "\n"), 1u) << outcome.err;
    if (code == 2) {
      EXPECT_EQ(outcome.out, "");
    }
    return outcome.err;
  }

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name), std::ios::binary) << text;
    return Path(name);
  }
  std::string WriteNpy(const std::string& name, const std::string& shape,
                       const std::vector<float>& values) const {
    return Write(name, Npy(shape, values));
  }
  // The names of the files in the folder, to see that nothing is left behind.
  std::vector<std::string> Files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_))
      names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }

  std::string program_;
  const fixtures::TempDir dir_;
  const std::filesystem::path folder_ = dir_.path();
};

class IrOpt : public ProgramTest {
 protected:
  IrOpt() : ProgramTest("ir-opt") {}
};

inline const std::string kBertTiny = fixtures::TestData("/models/bert_tiny.onnx");

}  // namespace weft::tools
