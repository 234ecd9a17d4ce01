// What the fuzz targets share.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "ir/context.h"

namespace weft::fuzz {

inline std::string_view TextOf(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Every dialect that the tools load.
void LoadDialects(ir::IrContext& context);

// A context with these dialects, the same for some inputs in a row: loading them takes longer than
// reading most inputs. It is another one now and then, so that what inputs leave in it stays little;
// nothing made in it may be kept until the next call.
ir::IrContext& ContextForInput();

// A file of this process alone, in a folder for temporary files; removed with the object. Readers of
// files map them, so each input needs one.
class ScratchFile {
 public:
  explicit ScratchFile(std::string_view suffix);  // ".npy"
  ~ScratchFile();
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  void Write(std::span<const uint8_t> bytes) const;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace weft::fuzz
