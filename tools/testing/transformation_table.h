// The README's table of the seeds' transformations: what each is, what tests it and what it does to
// the program that its document shows, the golden file with a SEED line. Rules that ship as text
// are in it too.
#pragma once

#include <string>

#include "ir/base/status.h"

namespace weft::fixtures {

// Markdown, one row per transformation that has a seed, by seed and name. `golden` is a folder of
// golden files, one folder per transformation, `rules` has a folder of rules as text per seed.
// An error when a transformation does not fire in one of its golden files, has no near miss there,
// or not one file with a SEED line.
absl::StatusOr<std::string> TransformationTable(const std::string& golden,
                                                const std::string& rules);

// `text` with `table` in place of what stands between the lines that mark it.
absl::StatusOr<std::string> WithTransformationTable(const std::string& text,
                                                    const std::string& table);

}  // namespace weft::fixtures
