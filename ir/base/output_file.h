// A file that appears under its name only when all of it has been written: until Commit has renamed
// it, the name means what it meant before, whatever happens to this process or its disk.
//
//   OutputFile file;
//   WEFT_RETURN_IF_ERROR(file.Open("model.onnx"));
//   WEFT_RETURN_IF_ERROR(file.Append(text));
//   return file.Commit();  // without it nothing is left
//
// Errors are InvalidArgument and name the path and the system's reason: no room, no such folder.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ir/base/status.h"

namespace weft::ir {

// Writes to a file without a name in the folder of `path`, which the system drops when the process
// dies. It is called .weft-PID-N.tmp for an instant before it is renamed, and all the time on file
// systems that lack files without names (NFS, FAT). What replaces a file may be read and written by
// whom that was. Not for several threads.
class OutputFile {
 public:
  enum class Links {
    kFollow,   // a link stays a link, what it means is replaced
    kReplace,  // for side files, which are never read through links
  };

  OutputFile() = default;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  // What exists and is no regular file (a pipe, /dev/null) is written in place. Refuses files that
  // the program has read where it keeps those (ir/base/read_files.h).
  absl::Status Open(const std::string& path, Links links = Links::kFollow);
  // Instead: appends to `memory`, which has all of it after Commit.
  void OpenMemory(std::string* memory) { memory_ = memory; }
  bool is_open() const { return fd_ >= 0; }  // as a file
  absl::Status Append(std::string_view text);
  absl::Status Append(std::span<const std::byte> bytes);  // large ranges are not copied
  absl::Status AppendZeros(size_t count);
  size_t size() const { return size_; }  // of what was appended

  // On the disk (fsync) first, then in place of the old file, in one step.
  absl::Status Commit();

 private:
  friend absl::Status CommitTogether(std::span<OutputFile* const> files);
  absl::Status OpenTemporary();
  absl::Status Flush();
  absl::Status WriteAll(const char* data, size_t size);
  absl::Status Finish();  // all of it on the disk
  absl::Status Close();   // under the temporary name
  absl::Status Rename();
  absl::Status CannotWrite(int error) const;

  std::string given_path_, path_;
  std::string temporary_;  // empty while the file has no name, and when it is written in place
  std::string buffer_;
  int fd_ = -1;
  std::string* memory_ = nullptr;
  bool in_place_ = false;
  std::optional<mode_t> permissions_;  // of the file that is replaced
  size_t size_ = 0;
};

// Commits files of one folder that belong together, such as a text and its weights; those that are
// not open are left out. All are on the disk before the first is renamed; no signal comes between
// two renames, nor does another CommitTogether in the folder. Only SIGKILL or a power cut in those
// microseconds leaves files of two programs.
absl::Status CommitTogether(std::span<OutputFile* const> files);

}  // namespace weft::ir
