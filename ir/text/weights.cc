#include "ir/text/weights.h"

#include "ir/text/internal/weight_layout.h"

namespace weft::ir {

absl::Status AppendWeights(Program& program, const std::string& path, const PrintOptions& options,
                           OutputFile* file) {
  const text::WeightLayout layout(program, options);
  if (layout.contents().empty()) return absl::OkStatus();
  WEFT_RETURN_IF_ERROR(file->Open(path, OutputFile::Links::kReplace));
  for (Attribute dense : layout.contents()) {
    WEFT_RETURN_IF_ERROR(file->AppendZeros(layout.OffsetOf(dense) - file->size()));
    WEFT_RETURN_IF_ERROR(file->Append(dense.bytes()));
  }
  return absl::OkStatus();
}

absl::Status WriteWeights(Program& program, const std::string& path, const PrintOptions& options) {
  OutputFile file;
  WEFT_RETURN_IF_ERROR(AppendWeights(program, path, options, &file));
  return file.is_open() ? file.Commit() : absl::OkStatus();
}

}  // namespace weft::ir
