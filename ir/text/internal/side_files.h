// Read-only mappings of the side files that one text refers to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "ir/base/status.h"
#include "ir/context.h"

namespace weft::ir::text {

class SideFiles {
 public:
  // Files lie in `folder`; when it is empty, every reference is an error.
  SideFiles(IrContext* context, std::string folder)
      : context_(context), folder_(std::move(folder)) {}

  // The bytes [offset, offset + size) of a file, mapped for as long as the context lives. The name
  // comes from the text, which is not trusted: it must be a plain file name (no folder) of a
  // regular file that is no link.
  absl::StatusOr<std::span<const std::byte>> Read(const std::string& name, uint64_t offset,
                                                  uint64_t size);

 private:
  absl::StatusOr<std::span<const std::byte>> Map(const std::string& name);
  IrContext* context_;
  std::string folder_;
  std::map<std::string, std::span<const std::byte>> mapped_;
};

}  // namespace weft::ir::text
