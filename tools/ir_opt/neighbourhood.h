// The operations around one rewrite.
#pragma once

#include <memory>
#include <vector>

#include "ir/program.h"

namespace weft::tools {

// A program before a rewrite, kept to be looked at after it.
class Neighbourhood {
 public:
  // `root` is where the rewrite begins; may be null.
  Neighbourhood(ir::Program& program, ir::Operation root);

  // After the rewrite: finds out which operations it erased or changed. Without this call, only the
  // root is taken to be.
  void Settle();

  // The changed operations and up to `more` others that are nearest to them, as a program; with their
  // constants no more than `most` operations, unless the changed ones are more.
  std::unique_ptr<ir::Program> Part(size_t more, size_t most);

 private:
  std::vector<ir::Operation> ByDistance() const;

  std::unique_ptr<ir::Program> copy_;
  // Of the body, in order: of the program that is rewritten, and of the copy.
  std::vector<ir::Operation> originals_, copies_;
  std::vector<ir::Operation> changed_;  // of the copy
};

}  // namespace weft::tools
