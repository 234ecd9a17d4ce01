// Where operations come from: the operations of the model that one stands for, and the rules and
// passes that made it of those.
//
//   RecordOrigins(program);              // from now on; who does not ask pays nothing
//   ...                                  // passes
//   const Origin origin = OriginOf(op);  // sources: conv1, bn1; rules: fold-batch-norm
//   JoinedSources(origin);               // "conv1+bn1"
//
// A table beside the program holds a number for each operation, so that what compares or prints
// operations, and rules that read locations, know nothing of it. Copies of a program keep it.
//
// An operation that a rule makes comes from those of its name that the rule erases, or from all
// that it erases where none has its name. Erased ones whose name nothing new has belong to all that
// is new. (So a Transpose that moves below a Relu takes nothing of it along.) What any other pass
// puts in the place of an operation comes from that one. Constants are no sources.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/builder.h"

namespace weft::ir {

// Without repetition.
struct Origin {
  std::vector<Name> sources;  // names of operations, in the order of the program at the start
  std::vector<Name> rules;    // or passes, in the order in which they came first
  std::vector<Name> docs;     // what the model says of the sources
  friend bool operator==(const Origin&, const Origin&) = default;
};

// Starts recording: from now on every operation is a source, or what it is already known to come
// from. The name of a source is its location, else "%" and the name or number of its first result.
// `doc_of` (may be null) says what the model says of an operation, "" for nothing. Does nothing the
// second time.
void RecordOrigins(Program& program, const std::function<std::string(Operation)>& doc_of = nullptr);
bool RecordsOrigins(Program& program);

// Empty where nothing is known. In time linear in the rewrites that it goes back to.
Origin OriginOf(Operation op);
// Whether more is known than that the operation is a source itself.
bool IsRewritten(Operation op);
// For readers of files; does not start recording.
void SetOrigin(Operation op, const Origin& origin);
// For passes that make one operation of several: `op` comes from these too. Does nothing where
// nothing is recorded.
void AddSources(Operation op, std::span<const Operation> from);

// "conv1+bn1+relu1", or "conv1+bn1+7_more" where that has more than max_size characters; the first
// name is there in full however long it is. Empty without sources.
std::string JoinedSources(const Origin& origin, size_t max_size = 80);
// "conv1+bn1 <- fold-batch-norm <- ..." for a rewritten operation, the location of any other.
std::string DescribeOrigin(Operation op);

// While it lives, `rule` is what replaces operations; what it makes of none comes from it alone.
class OriginScope {
 public:
  OriginScope(Program& program, std::string_view rule);
  ~OriginScope();
  OriginScope(const OriginScope&) = delete;
  OriginScope& operator=(const OriginScope&) = delete;

 private:
  Program& program_;
  Name outer_rule_;
  uint32_t outer_first_ = 0;
};

// A rewriter's listener that records what each rewrite makes of what; tells `next` all that it
// hears. Of a program that records origins, and for rewrites that are not done in place.
class OriginRecorder : public RewriteListener {
 public:
  OriginRecorder(Program& program, RewriteListener* next) : program_(program), next_(next) {}
  void Begin();
  void Commit(std::string_view rule);
  void Abandon();  // the rewrite came to nothing

  void OnInserted(Operation op) override;
  void OnReleased(Value value) override { next_->OnReleased(value); }
  void OnModified(Operation op) override { next_->OnModified(op); }
  void OnReplacedInPlace(Operation op, std::span<const uint32_t> erased,
                         std::span<const uint32_t> released) override {
    next_->OnReplacedInPlace(op, erased, released);
  }
  void OnReplaced(Operation op, std::span<const Value> with) override {
    next_->OnReplaced(op, with);
  }
  void OnErased(Operation op) override;

 private:
  struct Erased {
    Opcode opcode;
    uint32_t origin;
  };
  Program& program_;
  RewriteListener* next_;
  std::vector<Erased> erased_;
  std::vector<Operation> made_;
};

}  // namespace weft::ir
