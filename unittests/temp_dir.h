// A folder of a test's own. Tests of one program run beside each other, each in its process, so that a fixed name
// below /tmp is one that another test removes.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "ir/base/check.h"

namespace weft::fixtures {

// A new, empty folder that goes away, with all that is in it, at the end of its scope.
class TempDir {
 public:
  TempDir() {
    std::string pattern = (std::filesystem::temp_directory_path() / "weft_test_XXXXXX").string();
    WEFT_CHECK(mkdtemp(pattern.data()) != nullptr, "no folder " + pattern);
    path_ = pattern;
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace weft::fixtures
