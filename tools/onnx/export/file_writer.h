// A new file that takes the contents of tensors as ONNX stores them.
#pragma once

#include "ir/attribute.h"
#include "ir/base/output_file.h"

namespace weft::onnx {

class FileWriter : public ir::OutputFile {
 public:
  absl::Status AppendContents(ir::Attribute dense);  // packed where files pack; not of strings
};

}  // namespace weft::onnx
