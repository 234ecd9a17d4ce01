#include "ir/base/read_files.h"

#include <mutex>
#include <optional>
#include <set>
#include <utility>

namespace weft::ir {
namespace {

struct ReadFiles {
  std::mutex mutex;
  std::optional<std::set<std::pair<dev_t, ino_t>>> files;  // none: nobody asks
};

ReadFiles& AllRead() {
  static auto* all = new ReadFiles();
  return *all;
}

}  // namespace

KeepReadFiles::KeepReadFiles() {
  ReadFiles& read = AllRead();
  const std::lock_guard lock(read.mutex);
  read.files.emplace();
}

KeepReadFiles::~KeepReadFiles() {
  ReadFiles& read = AllRead();
  const std::lock_guard lock(read.mutex);
  read.files.reset();
}

void NoteRead(int fd) {
  ReadFiles& read = AllRead();
  const std::lock_guard lock(read.mutex);
  struct stat info = {};
  if (read.files && fstat(fd, &info) == 0 && S_ISREG(info.st_mode))
    read.files->emplace(info.st_dev, info.st_ino);
}

bool MustKeep(const struct stat& info) {
  ReadFiles& read = AllRead();
  const std::lock_guard lock(read.mutex);
  return read.files && read.files->contains({info.st_dev, info.st_ino});
}

}  // namespace weft::ir
