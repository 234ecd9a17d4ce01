#include "ir/analysis/verifier.h"
#include "ir/base/check.h"
#include "tools/onnx/export.h"
#include "tools/onnx/import.h"
#include "unittests/fuzz/fuzz_util.h"
#include "unittests/fuzz/targets.h"

namespace weft::fuzz {

void FuzzOnnx(std::span<const uint8_t> bytes) {
  ir::IrContext& context = ContextForInput();
  const auto program = onnx::ImportOnnxBytes(context, std::as_bytes(bytes));
  if (!program.ok()) {
    const std::string_view message = ir::Message(program.status());
    WEFT_CHECK(program.status().code() == absl::StatusCode::kInvalidArgument ||
                   program.status().code() == absl::StatusCode::kUnimplemented,
               message);
    WEFT_CHECK(message.find('\n') == std::string_view::npos, message);
    return;
  }
  // The tools refuse what does not verify.
  if (!ir::Verify(**program).ok()) return;
  const ScratchFile file(".onnx");
  if (!onnx::ExportOnnx(**program, file.path()).ok()) return;
  const auto again = onnx::ImportOnnx(context, file.path());
  WEFT_CHECK(again.ok(), ir::Message(again.status()));
  const absl::Status valid = ir::Verify(**again);
  WEFT_CHECK(valid.ok(), ir::Message(valid));
}

}  // namespace weft::fuzz
