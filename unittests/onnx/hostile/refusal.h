// What tests with files made to do harm share. Every such file must give an InvalidArgument of one
// line, without a crash and without taking memory that its size does not explain: each is read in a
// process of its own.
#pragma once

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>

#include "unittests/onnx/model_builder.h"
#include "unittests/sanitizers.h"

namespace weft::onnx {

inline constexpr size_t kMemory = size_t{48} << 20;  // beyond what the process has

inline size_t AddressSpaceInUse() {
  size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

// What importing the file says, in a process of its own: "CODE: message", or how it died.
inline std::string ImportInChild(const std::string& path, const ImportOptions& options) {
  int pipe_ends[2];
  if (pipe(pipe_ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    if (!kSanitized) {
      const rlimit limit{AddressSpaceInUse() + kMemory, RLIM_INFINITY};
      setrlimit(RLIMIT_AS, &limit);
    }
    ir::IrContext context;
    const std::string text = ImportOnnx(context, path, options).status().ToString();
    const ssize_t written = write(pipe_ends[1], text.data(), text.size());
    _exit(written == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  close(pipe_ends[1]);
  std::string text;
  char buffer[512];
  for (ssize_t n; (n = read(pipe_ends[0], buffer, sizeof(buffer))) > 0;)
    text.append(buffer, static_cast<size_t>(n));
  close(pipe_ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return fmt::format("died with status {}: {}", status, text);
  return text;
}

inline void ExpectRefused(const std::string& path, const std::string& expected,
                          const ImportOptions& options = {}) {
  const std::string text = ImportInChild(path, options);
  EXPECT_TRUE(text.starts_with("INVALID_ARGUMENT: ")) << text;
  EXPECT_NE(text.find(expected), std::string::npos) << text << "\nexpected: " << expected;
  EXPECT_GT(text.size(), std::string_view("INVALID_ARGUMENT: ").size() + 5) << text;
  EXPECT_LT(text.size(), 500u);
  for (char c : text) EXPECT_TRUE(c >= 0x20 && c < 0x7f) << static_cast<int>(c);
}

inline void ExpectBytesRefused(const std::string& bytes, const std::string& expected,
                               const ImportOptions& options = {}) {
  TempDir dir;
  WriteFile(dir / "m.onnx", bytes);
  ExpectRefused(dir / "m.onnx", expected, options);
}

// y = Relu(x): valid until `spoil` is done with it.
inline ModelBuilder Small() {
  ModelBuilder m;
  m.Input("x", {2});
  m.Output("y", {2});
  m.Node("Relu", {"x"}, {"y"})->set_name("relu");
  return m;
}
inline void ExpectModelRefused(const std::function<void(ModelBuilder&)>& spoil,
                               const std::string& expected, const ImportOptions& options = {}) {
  ModelBuilder m = Small();
  spoil(m);
  ExpectBytesRefused(m.Bytes(), expected, options);
}

}  // namespace weft::onnx
