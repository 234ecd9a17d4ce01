// What happens to a user's files when the disk is full, the memory limited, the program killed.
// tools/scripts/faults has the cases that take long.
#include "tools/cli/faults.h"

#include <gmock/gmock.h>
#include <sys/mman.h>

#include <barrier>
#include <csignal>
#include <thread>

#include "ir/base/output_file.h"
#include "tools/cli/reproducer.h"
#include "unittests/sanitizers.h"
#include "unittests/tools/subprocess.h"

namespace weft::tools {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class Faults : public IrOpt {
 protected:
  // As timeout(1) sends it: -s SIGNAL SECONDS, and SIGKILL when that has not helped 5 seconds later.
  static Outcome Signal(const std::string& signal, double seconds,
                        const std::vector<std::string>& arguments) {
    return RunInShell("exec timeout --preserve-status -k 5 -s " + signal + " " +
                          std::to_string(seconds) + " \"$@\"",
                      arguments);
  }
  void ExpectOneLine(const Outcome& outcome, const std::string& expected) const {
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_THAT(outcome.err, StartsWith("ir-opt: error: "));
    EXPECT_THAT(outcome.err, HasSubstr(expected));
    EXPECT_EQ(CountOf(outcome.err, "\n"), 1u) << outcome.err;
  }
  // The text and its weights.
  using Pair = std::pair<std::string, std::string>;
  Pair ReadPair() const { return {ReadFile(Path("out.ir")), ReadFile(Path("out.ir.weights"))}; }
  Pair PairOf(const std::string& pipeline) const {
    Accept({kBertTiny, "-o", Path("out.ir"), "--pipeline", pipeline});
    return ReadPair();
  }
};

TEST_F(Faults, AFullDiskIsOneLine) {
  for (const char* name : {"out.onnx", "out.ir"}) {
    std::filesystem::create_symlink("/dev/full", Path(name));
    ExpectOneLine(Run({kBertTiny, "-o", Path(name)}), "No space left on device");
  }
  EXPECT_THAT(Files(), ElementsAre("out.ir", "out.onnx"));
  ExpectOneLine(RunInShell("exec \"$@\" > /dev/full", {"ir-opt", kBertTiny}),
                "writing to stdout failed");
  EXPECT_EQ(RunInShell("exec \"$@\" 2> /dev/full", {"ir-opt", kBertTiny, "--stats=json"}).code, 2);
}

TEST_F(Faults, ATooLargeFileIsOneLineAndTheOldOneStays) {
  for (const char* name : {"out.onnx", "out.ir"}) {
    Write(name, "old");
    ExpectOneLine(
        RunInShell("ulimit -f 16 && exec \"$@\"", {"ir-opt", kBertTiny, "-o", Path(name)}),
        "File too large");
    EXPECT_EQ(ReadFile(Path(name)), "old");
  }
  EXPECT_THAT(Files(), ElementsAre("out.ir", "out.onnx"));
}

TEST_F(Faults, AFolderThatCannotBeWrittenIsOneLine) {
  for (const char* name : {"/proc/out.onnx", "/proc/out.ir"})
    ExpectOneLine(Run({kBertTiny, "-o", name}), std::string("cannot write ") + name);
  if (geteuid() == 0) return;  // to whom every folder is open
  std::filesystem::create_directory(Path("closed"));
  std::filesystem::permissions(
      Path("closed"), std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  for (const char* name : {"closed/out.onnx", "closed/out.ir"})
    ExpectOneLine(Run({kBertTiny, "-o", Path(name)}), "Permission denied");
}

TEST_F(Faults, AKilledProgramLeavesWholeFilesOfOneRun) {
  const Pair fused = PairOf("fuse"), plain = PairOf("none");
  ASSERT_NE(fused, plain);
  constexpr int kKills = 25;
  for (int i = 0; i < kKills; ++i) {
    const bool interrupt = i % 2 == 0;
    const Outcome outcome = Signal(
        interrupt ? "INT" : "KILL", 0.002 * i,
        {"ir-opt", kBertTiny, "-o", Path("out.ir"), "--pipeline", i % 3 == 0 ? "none" : "fuse"});
    EXPECT_THAT(outcome.err, IsEmpty());
    EXPECT_THAT(ReadFile(Path("out.ir")), AnyOf(fused.first, plain.first)) << i;
    EXPECT_THAT(ReadFile(Path("out.ir.weights")), AnyOf(fused.second, plain.second)) << i;
    if (!interrupt) continue;  // SIGKILL may come in the instant between two renames
    EXPECT_THAT(ReadPair(), AnyOf(fused, plain)) << i;
    EXPECT_THAT(Files(), ElementsAre("out.ir", "out.ir.weights"));
  }
}

TEST_F(Faults, TwoWritersLeaveTheFilesOfOne) {
  const Pair fused = PairOf("fuse"), plain = PairOf("none");
  for (int i = 0; i < 10; ++i) {
    RunInShell("\"$@\" --pipeline none & \"$@\" --pipeline fuse & wait",
               {"ir-opt", kBertTiny, "-o", Path("out.ir")});
    EXPECT_THAT(ReadPair(), AnyOf(fused, plain)) << i;
    EXPECT_THAT(Files(), ElementsAre("out.ir", "out.ir.weights"));
  }
}

TEST_F(Faults, AnInterruptEndsMeasuring) {
  const Outcome bench =
      Signal("INT", 0.5, {"ir-run", kBertTiny, "--random-inputs", "1", "--bench"});
  EXPECT_EQ(bench.signal == SIGINT ? 130 : bench.code, 130) << bench.err;
  EXPECT_THAT(bench.out, IsEmpty());
}

TEST_F(Faults, TooLittleMemoryIsOneLineAndNoCrash) {
  if (kSanitized) GTEST_SKIP();
  for (const std::string program : {"ir-opt", "ir-run"}) {
    std::vector<std::string> arguments = {program, kBertTiny};
    if (program == "ir-run") {
      arguments.insert(arguments.end(),
                       {"--random-inputs", "1", "--threads", "2", "--oversubscribe"});
    } else {
      arguments.insert(arguments.end(), {"-o", Path("out.onnx")});
    }
    int failed = 0, passed = 0;
    for (double mib = 16; mib < 1024 && passed < 3; mib *= 1.04) {
      const Outcome outcome =
          RunInShell("ulimit -v " + std::to_string(static_cast<int>(mib * 1024)) +
                         " && exec timeout 20 \"$@\"",  // 124: it hangs
                     arguments);
      if (outcome.code == 127 || outcome.err.find("error while loading") != std::string::npos)
        continue;
      // Nobody catches what a library throws while it is loaded, as Z3's may, for want of a little more.
      if (failed == 0 && outcome.signal == SIGABRT && outcome.err.starts_with("terminate called"))
        continue;
      outcome.code == 0 ? ++passed : ++failed;
      if (outcome.code == 0) continue;
      EXPECT_EQ(outcome.code, 2) << mib << " MiB, signal " << outcome.signal << ": " << outcome.err;
      EXPECT_THAT(outcome.err, StartsWith(program + ": error: ")) << mib;
      EXPECT_EQ(CountOf(outcome.err, "\n"), 1u) << outcome.err;
      EXPECT_THAT(Files(), AnyOf(IsEmpty(), ElementsAre("out.onnx")));
    }
    EXPECT_GT(failed, 0);
    EXPECT_EQ(passed, 3);
  }
}

// A map of a file that has become one page shorter. It is larger than what OutputFile copies.
class CutShort : public Faults {
 protected:
  std::span<const std::byte> Map() {
    constexpr size_t kPages = 128;
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    path_ = Write("weights", std::string(kPages * page, 'w'));
    const int file = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    void* const data = mmap(nullptr, kPages * page, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    EXPECT_NE(data, MAP_FAILED);
    std::filesystem::resize_file(path_, (kPages - 1) * page);
    return {static_cast<const std::byte*>(data), kPages * page};
  }
  std::string path_;
};

TEST_F(CutShort, AReadIsOneLineThatNamesTheFile) {
  const auto bytes = Map();
  EXPECT_EXIT(
      {
        HandleFaults();
        std::exit(static_cast<int>(*const_cast<const volatile std::byte*>(&bytes.back())));
      },
      testing::ExitedWithCode(2), "error: .*/weights: became shorter while it was read\n$");
}

TEST_F(CutShort, ReadsInTwoThreadsAreOneLineToo) {
  const auto bytes = Map();
  for (int run = 0; run < 20; ++run) {
    EXPECT_EXIT(
        {
          HandleFaults();
          std::barrier both_started(2);
          const auto read = [&] {
            both_started.arrive_and_wait();
            std::exit(static_cast<int>(*const_cast<const volatile std::byte*>(&bytes.back())));
          };
          std::thread other(read);
          read();
        },
        testing::ExitedWithCode(2), "^[^\n]*weights: became shorter while it was read\n$");
  }
}

TEST_F(CutShort, IsNoCrashOfWhichAReproducerIsWritten) {
  const auto bytes = Map();
  EXPECT_EXIT(
      {
        HandleFaults();
        setenv(kReproducersVariable, Path("").c_str(), 1);
        const char* const arguments[] = {"ir-opt"};
        PrepareReproducer("ir-opt", 1, arguments);
        std::exit(static_cast<int>(*const_cast<const volatile std::byte*>(&bytes.back())));
      },
      testing::ExitedWithCode(2), "^[^\n]*weights: became shorter while it was read\n$");
}

TEST_F(CutShort, WritingItOnIsOneLineToo) {
  ir::OutputFile file;
  ASSERT_TRUE(file.Open(Path("out")).ok());
  EXPECT_EQ(ir::Message(file.Append(Map())),
            "cannot write " + Path("out") + ": a file that it is made from became shorter");
}

}  // namespace
}  // namespace weft::tools
