// Whether a model computes what it did: of the whole model where that can run, else of each region that passes rewrote.
//
//   WEFT_ASSIGN_OR_RETURN(ModelCheck check, ModelCheck::Create(options, numerics, original, threads));
//   check.Watch(program);                      // a copy of the original
//   ...                                        // passes, with a RewriteTrace
//   absl::Status verdict = check.Judge(&text);
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "weft/check/program_check.h"
#include "weft/check/rewritten_regions.h"

namespace weft {

class ModelCheck {
 public:
  // The original must outlive the check and remain as it is.
  static absl::StatusOr<ModelCheck> Create(const CheckOptions& options, drr::NumericClass numerics,
                                           ir::Program& original, int threads);

  // What is compared, how, and why not the whole: lines.
  const std::string& Preface() const { return preface_; }

  // Before passes run on the program, which equals the original. They must not replace operations in
  // place: a run with a RewriteTrace does not.
  void Watch(ir::Program& program);

  // Of the watched program, after the passes; what was compared goes to `text`, in lines. CheckFailed
  // when the whole, or a region and all that led to it, differs too much. A region that cannot run is
  // named in `text`; Unsupported when there are some and none can.
  // Outputs that were compared as a whole are appended to `compared`, which may be null.
  absl::Status Judge(std::string* text, std::vector<ComparedOutput>* compared = nullptr) const;

 private:
  ModelCheck() = default;
  absl::Status JudgeRegions(std::string* text) const;
  absl::Status JudgeRegion(RewrittenRegion region, std::string* lines) const;
  absl::Status JudgePart(const RewrittenRegions::Part& part, std::string* lines) const;

  CheckOptions options_;
  drr::NumericClass numerics_ = drr::NumericClass::kExact;
  int threads_ = 1;
  ir::Program* original_ = nullptr;
  ir::Program* program_ = nullptr;
  std::optional<ProgramCheck> whole_;
  std::unique_ptr<RewrittenRegions> regions_;
  std::string preface_;
};

}  // namespace weft
