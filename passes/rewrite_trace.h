// The rewrites of a run, numbered over all its passes: to end the run after so many of them, and to
// tell what each one did.
//
// A rewrite is the application of a rule, a constant folded, an operation merged into an equal one, a
// group of elementwise operations fused; of any other pass, all that it does.
//
//   RewriteTrace trace({.limit = 10, .on_rewrite = [](const TracedRewrite& r) { Print(r); }});
//   pm.pass_context().trace = &trace;
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/rewriter.h"

namespace weft::passes {

// "onnx.Add %name (location)".
std::string DescribeSite(ir::Operation op);

struct TracedRewrite {
  uint64_t number = 0;  // from 1
  std::string pass;
  std::string rule;    // or "fold", "merge", "fuse"; empty for all that a pass does
  std::string site;    // DescribeSite() of the operation it begins at; empty for a whole pass
  ir::Operation root;  // that operation, in RewriteTraceOptions::before_rewrite only
  // Names of operations, without those inside of others that went or came, too.
  std::vector<std::string> went, came;
  // Their Operation::id()s. An operation that came may have the id of one that went.
  std::vector<uint32_t> went_ids, came_ids;
  // Of a merge: those of operations that stay, whose results stand for those of what went.
  std::vector<uint32_t> stayed_ids;
  // With RewriteTraceOptions::lines, each "- (%2) = ..." or "+ ...", in the order of the program.
  // Values keep the numbers that they have in the text of the program before; new ones follow.
  std::vector<std::string> lines;
};

struct RewriteTraceOptions {
  uint64_t limit = UINT64_MAX;
  bool lines = false;  // takes time linear in the program for every rewrite
  std::function<void(const TracedRewrite&)> on_rewrite = nullptr;
  // Before a rewrite is tried, of which `went`, `came` and `lines` are not known yet. One that comes
  // to nothing is followed by another one with the same number.
  std::function<void(const TracedRewrite&, ir::Program&)> before_rewrite = nullptr;
};

class RewriteTrace {
 public:
  explicit RewriteTrace(RewriteTraceOptions options);
  ~RewriteTrace();
  RewriteTrace(const RewriteTrace&) = delete;
  RewriteTrace& operator=(const RewriteTrace&) = delete;

  uint64_t count() const { return count_; }
  // No pass may change anything any more.
  bool AtLimit() const { return count_ >= options_.limit; }

  // Around a pass, for the pass manager. One that reported no rewrite but changed something is one.
  void BeginPass(std::string_view pass, ir::Program& program);
  void EndPass(bool changed, ir::Program& program);

  // For passes that report rewrites one by one. Not AtLimit(): Begin, changes by a Rewriter that has
  // Listener(), Commit. A Begin without a Commit came to nothing.
  void Begin(std::string_view rule, ir::Operation site);
  bool Commit();  // whether it was the last one, which is to say AtLimit()
  // To be the listener of a rewriter; passes everything on to `next`, which may be null.
  ir::RewriteListener* Listener(ir::RewriteListener* next = nullptr);

 private:
  struct Text {  // of a program at one moment
    std::vector<ir::Value> values;
    std::vector<std::pair<ir::Operation, std::string>> lines;
  };
  class Recorder;
  struct Op {
    uint32_t id, parent;
    std::string name;
  };

  // Without `made`. Values of `numbered` keep those numbers.
  static Text TextOf(ir::Program& program, const std::vector<ir::Value>& numbered,
                     ir::Operation made = {});
  static std::vector<std::string> Difference(const Text& before, const Text& after);
  static void ListOutermost(const std::vector<Op>& ops, std::vector<std::string>* names,
                            std::vector<uint32_t>* ids);
  void Announce(std::string_view rule, ir::Operation site, ir::Program& program);
  void Report();
  // Before the first change of a rewrite, or when it was to make this operation.
  void KeepText(ir::Operation made = {});

  RewriteTraceOptions options_;
  uint64_t count_ = 0;
  std::string pass_;
  uint64_t count_before_pass_ = 0;
  std::vector<ir::Operation> ops_before_pass_;
  std::vector<std::string> names_before_pass_;
  Text text_before_pass_;

  ir::Program* program_ = nullptr;  // of the rewrite under way; null: none is
  TracedRewrite rewrite_;
  std::vector<Op> went_, came_;
  std::vector<ir::Operation> stand_ins_;  // what defines the values that others were replaced by
  bool has_text_ = false;
  Text text_;
  std::vector<std::unique_ptr<Recorder>> recorders_;
};

// The rewriter of a pass that reports its rewrites one by one; without a trace, one as any other.
//
//   if (rewriter.AtLimit()) break;
//   rewriter.Begin("fold", op);
//   if (!Fold(op, rewriter)) continue;
//   rewriter.Commit();
class TracedRewriter : public ir::Rewriter {
 public:
  TracedRewriter(ir::Program& program, RewriteTrace* trace)
      : Rewriter(&program, trace ? trace->Listener() : nullptr), trace_(trace) {}

  bool AtLimit() const { return trace_ && trace_->AtLimit(); }
  void Begin(std::string_view rule, ir::Operation site) {
    if (trace_) trace_->Begin(rule, site);
  }
  void Commit() {
    if (trace_) trace_->Commit();
  }

 private:
  RewriteTrace* trace_;
};

}  // namespace weft::passes
