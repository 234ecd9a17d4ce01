#include "ir/base/output_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

#include "ir/base/read_files.h"
#include "unittests/temp_dir.h"

namespace weft::ir {
namespace {

namespace fs = std::filesystem;

class OutputFileTest : public testing::Test {
 protected:
  std::string Path(const std::string& name) const { return (folder / name).string(); }
  std::string Read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(Path(name), std::ios::binary).rdbuf();
    return text.str();
  }
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name), std::ios::binary) << text;
  }
  size_t NumFiles() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder), {}));
  }

  const fixtures::TempDir dir;
  const fs::path folder = dir.path();
};

TEST_F(OutputFileTest, AppearsWithCommitAndNotBefore) {
  OutputFile file;
  ASSERT_TRUE(file.Open(Path("a")).ok());
  ASSERT_TRUE(file.Append("one ").ok());
  ASSERT_TRUE(file.AppendZeros(2).ok());
  const std::string large(1 << 20, 'x');
  ASSERT_TRUE(file.Append(large).ok());
  EXPECT_EQ(file.size(), 6 + large.size());
  EXPECT_FALSE(fs::exists(Path("a")));
  ASSERT_TRUE(file.Commit().ok());
  EXPECT_EQ(Read("a"), std::string("one \0\0", 6) + large);
  EXPECT_EQ(NumFiles(), 1u);
}

TEST_F(OutputFileTest, MayBeAStringInMemory) {
  std::string memory;
  OutputFile file;
  file.OpenMemory(&memory);
  ASSERT_TRUE(file.Append("one ").ok());
  const std::string large(1 << 20, 'x');
  ASSERT_TRUE(file.Append(large).ok());
  ASSERT_TRUE(file.AppendZeros(2).ok());
  ASSERT_TRUE(file.Commit().ok());
  EXPECT_EQ(memory, "one " + large + std::string(2, '\0'));
  EXPECT_EQ(file.size(), memory.size());
  EXPECT_EQ(NumFiles(), 0u);
}

TEST_F(OutputFileTest, LeavesTheOldFileWithoutCommit) {
  Write("a", "old");
  {
    OutputFile file;
    ASSERT_TRUE(file.Open(Path("a")).ok());
    ASSERT_TRUE(file.Append(std::string(1 << 20, 'x')).ok());
  }
  EXPECT_EQ(Read("a"), "old");
  EXPECT_EQ(NumFiles(), 1u);
}

TEST_F(OutputFileTest, HasThePermissionsOfAnyNewFile) {
  const mode_t before = umask(027);
  OutputFile file;
  ASSERT_TRUE(file.Open(Path("a")).ok());
  ASSERT_TRUE(file.Commit().ok());
  umask(before);
  struct stat info = {};
  ASSERT_EQ(stat(Path("a").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
}

TEST_F(OutputFileTest, HasThePermissionsOfTheFileThatItReplaces) {
  Write("a", "old");
  fs::permissions(Path("a"), fs::perms::owner_read | fs::perms::owner_write);
  OutputFile file;
  ASSERT_TRUE(file.Open(Path("a")).ok());
  ASSERT_TRUE(file.Append("new").ok());
  ASSERT_TRUE(file.Commit().ok());
  EXPECT_EQ(Read("a"), "new");
  EXPECT_EQ(fs::status(Path("a")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(OutputFileTest, MayHaveANameAsLongAsTheSystemAllows) {
  const std::string name(255, 'a');
  OutputFile file;
  ASSERT_TRUE(file.Open(Path(name)).ok());
  ASSERT_TRUE(file.Append("new").ok());
  EXPECT_EQ(Message(file.Commit()), "");
  EXPECT_EQ(Read(name), "new");
}

TEST_F(OutputFileTest, FollowsLinksOrReplacesThem) {
  for (const auto links : {OutputFile::Links::kFollow, OutputFile::Links::kReplace}) {
    Write("target", "old");
    fs::remove(Path("link"));
    fs::create_symlink("target", Path("link"));
    OutputFile file;
    ASSERT_TRUE(file.Open(Path("link"), links).ok());
    ASSERT_TRUE(file.Append("new").ok());
    ASSERT_TRUE(file.Commit().ok());
    const bool follow = links == OutputFile::Links::kFollow;
    EXPECT_EQ(fs::is_symlink(Path("link")), follow);
    EXPECT_EQ(Read("link"), "new");
    EXPECT_EQ(Read("target"), follow ? "new" : "old");
  }
}

TEST_F(OutputFileTest, FollowsLinksToWhatIsNotThereYet) {
  fs::create_directory(Path("sub"));
  fs::create_symlink("sub/second", Path("link"));
  fs::create_symlink("target", Path("sub/second"));
  OutputFile file;
  ASSERT_TRUE(file.Open(Path("link")).ok());
  ASSERT_TRUE(file.Append("new").ok());
  ASSERT_TRUE(file.Commit().ok());
  EXPECT_TRUE(fs::is_symlink(Path("link")) && fs::is_symlink(Path("sub/second")));
  EXPECT_EQ(Read("sub/target"), "new");
  fs::create_symlink("round", Path("round"));
  OutputFile round;
  EXPECT_EQ(Message(round.Open(Path("round"))),
            "cannot write " + Path("round") + ": Too many levels of symbolic links");
}

// Only while a program asks for it.
TEST_F(OutputFileTest, ReplacesNoFileThatIsKept) {
  Write("read", "old");
  const auto note = [&] {
    std::FILE* file = std::fopen(Path("read").c_str(), "rb");
    NoteRead(fileno(file));
    std::fclose(file);
  };
  note();
  {
    const KeepReadFiles keep;
    OutputFile before, after;
    EXPECT_EQ(Message(before.Open(Path("read"))), "");
    note();
    EXPECT_EQ(Message(after.Open(Path("read"))),
              "cannot write " + Path("read") + ": that file is read");
    OutputFile other;
    EXPECT_EQ(Message(other.Open(Path("other"))), "");
  }
  OutputFile later;
  EXPECT_EQ(Message(later.Open(Path("read"))), "");
}

TEST_F(OutputFileTest, SaysWhatTheSystemSays) {
  OutputFile missing, is_folder, full;
  EXPECT_EQ(Message(missing.Open(Path("none/a"))),
            "cannot write " + Path("none/a") + ": No such file or directory");
  EXPECT_EQ(Message(is_folder.Open(folder.string())),
            "cannot write " + folder.string() + ": Is a directory");
  ASSERT_TRUE(full.Open("/dev/full").ok());
  ASSERT_TRUE(full.Append("x").ok());  // in the buffer
  EXPECT_EQ(Message(full.Commit()), "cannot write /dev/full: No space left on device");
}

TEST_F(OutputFileTest, OneThatFailsLeavesTheOtherAsItWas) {
  Write("a", "old");
  OutputFile a, full;
  ASSERT_TRUE(a.Open(Path("a")).ok());
  ASSERT_TRUE(a.Append("new").ok());
  ASSERT_TRUE(full.Open("/dev/full").ok());
  ASSERT_TRUE(full.Append("x").ok());
  OutputFile never_opened;
  OutputFile* const files[] = {&a, &never_opened, &full};
  EXPECT_FALSE(CommitTogether(files).ok());
  EXPECT_EQ(Read("a"), "old");
}

TEST_F(OutputFileTest, FilesThatBelongTogetherAreThoseOfOneWriter) {
  for (int round = 0; round < 50; ++round) {
    std::vector<std::thread> writers;
    for (char writer = 'a'; writer < 'e'; ++writer) {
      writers.emplace_back([this, writer] {
        OutputFile text, weights;
        EXPECT_TRUE(text.Open(Path("text")).ok());
        EXPECT_TRUE(weights.Open(Path("weights")).ok());
        EXPECT_TRUE(text.Append(std::string(1, writer)).ok());
        EXPECT_TRUE(weights.Append(std::string(1, writer)).ok());
        OutputFile* const files[] = {&weights, &text};
        EXPECT_TRUE(CommitTogether(files).ok());
      });
    }
    for (std::thread& writer : writers) writer.join();
    ASSERT_EQ(Read("text"), Read("weights"));
    ASSERT_EQ(NumFiles(), 2u);
  }
}

}  // namespace
}  // namespace weft::ir
