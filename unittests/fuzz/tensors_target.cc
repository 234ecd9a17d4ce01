#include <algorithm>

#include "ir/base/check.h"
#include "tools/onnx/tensor_file.h"
#include "unittests/fuzz/fuzz_util.h"
#include "unittests/fuzz/targets.h"

namespace weft::fuzz {
namespace {

bool SameContents(ir::Attribute a, ir::Attribute b) {
  return a.dense_type() == b.dense_type() && std::ranges::equal(a.bytes(), b.bytes()) &&
         a.dense_strings() == b.dense_strings();
}

void ReadAndWrite(const std::string& path, ir::IrContext& context, ir::Type type) {
  const auto value = onnx::ReadValueFile(context, path, type);
  if (!value.ok()) {
    WEFT_CHECK(ir::Message(value.status()).find('\n') == std::string_view::npos,
               ir::Message(value.status()));
    return;
  }
  const ScratchFile copy(".pb");
  const absl::Status written = onnx::WriteValueFile(copy.path(), *value, type, "copy");
  WEFT_CHECK(written.ok(), ir::Message(written));
  const auto again = onnx::ReadValueFile(context, copy.path(), type);
  WEFT_CHECK(again.ok(), ir::Message(again.status()));
  WEFT_CHECK(again->kind == value->kind, "another kind of value is read than was written");
  WEFT_CHECK(std::ranges::equal(again->tensors, value->tensors, SameContents),
             "other contents are read than were written");
}

}  // namespace

void FuzzTensors(std::span<const uint8_t> bytes) {
  ir::IrContext& context = ContextForInput();
  const bool is_npy = TextOf(bytes).starts_with("\x93NUMPY");
  const ScratchFile file(is_npy ? ".npy" : ".pb");
  file.Write(bytes);
  const ir::Type tensor = context.UnrankedTensorType(ir::DataType::kF32);
  ReadAndWrite(file.path(), context, tensor);
  if (is_npy) return;
  ReadAndWrite(file.path(), context, context.SequenceType(tensor));
  ReadAndWrite(file.path(), context, context.OptionalType(tensor));
  ReadAndWrite(file.path(), context, context.OptionalType(context.SequenceType(tensor)));
}

}  // namespace weft::fuzz
