// The files that a program has read, for programs that must not replace them.
#pragma once

#include <sys/stat.h>

namespace weft::ir {

// While one lives, OutputFile refuses to write in place of a file that the process has read since: a model, its
// weights, rules, values. One at a time. Tools have one; who embeds us may read a file and replace it.
class KeepReadFiles {
 public:
  KeepReadFiles();
  KeepReadFiles(const KeepReadFiles&) = delete;
  KeepReadFiles& operator=(const KeepReadFiles&) = delete;
  ~KeepReadFiles();
};

// Of a descriptor that a file is read by. From any thread; nothing without a KeepReadFiles.
void NoteRead(int fd);
// Whether that is a file to keep.
bool MustKeep(const struct stat& info);

}  // namespace weft::ir
