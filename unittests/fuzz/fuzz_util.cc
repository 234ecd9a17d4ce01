#include "unittests/fuzz/fuzz_util.h"

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>

#include "ir/base/check.h"
#include "ir/dialects/ascend.h"
#include "ir/dialects/fused.h"
#include "ir/dialects/litert.h"
#include "ir/dialects/microsoft.h"
#include "ir/dialects/pd.h"

namespace weft::fuzz {

void LoadDialects(ir::IrContext& context) {
  ir::LoadFusedDialect(context);
  ir::LoadAscendDialect(context);
  ir::LoadLitertDialect(context);
  ir::LoadMicrosoftDialect(context);
  ir::LoadPdDialect(context);
}

ir::IrContext& ContextForInput() {
  constexpr int kInputs = 200;
  static std::unique_ptr<ir::IrContext> context;
  static int left = 0;
  if (left-- == 0) {
    context = std::make_unique<ir::IrContext>();
    LoadDialects(*context);
    left = kInputs - 1;
  }
  return *context;
}

ScratchFile::ScratchFile(std::string_view suffix) {
  static std::atomic<unsigned> next{0};
  const std::string name =
      "weft_fuzz_" + std::to_string(getpid()) + "_" + std::to_string(next++) + std::string(suffix);
  path_ = (std::filesystem::temp_directory_path() / name).string();
}

ScratchFile::~ScratchFile() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

void ScratchFile::Write(std::span<const uint8_t> bytes) const {
  std::ofstream file(path_, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  WEFT_CHECK(file.good(), "cannot write " + path_);
}

}  // namespace weft::fuzz
