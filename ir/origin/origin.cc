#include "ir/origin/origin.h"

#include <algorithm>
#include <utility>

#include "ir/graph_view.h"
#include "ir/internal/program_side_tables.h"
#include "ir/origin/origin_table.h"
#include "ir/text/printer.h"
#include "ir/walk.h"

namespace weft::ir {
namespace {

using internal::OriginTable;

OriginTable* TableOf(Program& program) { return GraphView(&program).origins().get(); }

OriginTable& MakeTable(Program& program) {
  Owned<OriginTable>& table = GraphView(&program).origins();
  if (!table) table = Owned<OriginTable>(new OriginTable);
  return *table;
}

Name NameOf(Operation op, const ValueNumbering& numbering) {
  if (!op.location().empty()) return op.location();
  if (op.num_results() == 0) return Name(op.name());
  const std::string_view name = op.result(0).name();
  return name.empty() ? Name(numbering.NameOf(op.result(0))) : Name("%" + std::string(name));
}

// Constants are no sources, and what ends a block computes nothing.
bool HasOrigin(Operation op) { return !op.HasTrait(kConstantLike) && !op.HasTrait(kTerminator); }

}  // namespace

void RecordOrigins(Program& program, const std::function<std::string(Operation)>& doc_of) {
  OriginTable& table = MakeTable(program);
  if (table.records) return;
  table.records = true;
  const ValueNumbering numbering(program);
  Walk(program, [&](Operation op) {
    if (!HasOrigin(op)) return;
    const uint32_t known = table.Of(op);
    Origin origin = table.Flatten(known);
    if (origin.docs.empty() && doc_of)
      if (const std::string doc = doc_of(op); !doc.empty()) origin.docs.emplace_back(doc);
    const Name doc = origin.docs.empty() ? Name() : origin.docs[0];
    table.Set(op, known == OriginTable::kNone ? table.AddOwn(NameOf(op, numbering), doc)
                                              : table.AddKnown(origin));
  });
}

bool RecordsOrigins(Program& program) {
  const OriginTable* table = TableOf(program);
  return table && table->records;
}

Origin OriginOf(Operation op) {
  const OriginTable* table = TableOf(*op.program());
  return table ? table->Flatten(table->Of(op)) : Origin();
}

bool IsRewritten(Operation op) {
  const OriginTable* table = TableOf(*op.program());
  const uint32_t node = table ? table->Of(op) : OriginTable::kNone;
  return node != OriginTable::kNone && !table->IsOwn(node);
}

void SetOrigin(Operation op, const Origin& origin) {
  if (origin == Origin()) return;
  OriginTable& table = MakeTable(*op.program());
  table.Set(op, table.AddKnown(origin));
}

void AddSources(Operation op, std::span<const Operation> from) {
  OriginTable* table = TableOf(*op.program());
  if (!table || !table->records) return;
  std::vector<uint32_t> nodes = {table->Of(op)};
  for (const Operation source : from) nodes.push_back(table->Of(source));
  table->Set(op, table->AddRewrite(std::move(nodes), {}));
}

std::string JoinedSources(const Origin& origin, size_t max_size) {
  const size_t count = origin.sources.size();
  size_t whole = count;  // the signs, and one
  for (const Name name : origin.sources) whole += name.str().size();
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    const std::string_view name = origin.sources[i].str();
    const std::string rest = "+" + std::to_string(count - i) + "_more";
    if (i > 0 && whole > max_size + 1 && text.size() + 1 + name.size() + rest.size() > max_size)
      return text + rest;
    if (i > 0) text += '+';
    text += name;
  }
  return text;
}

std::string DescribeOrigin(Operation op) {
  const std::string_view location = op.location().str();
  if (!IsRewritten(op)) return std::string(location);
  const Origin origin = OriginOf(op);
  std::string text = origin.sources.empty() ? std::string(location) : JoinedSources(origin);
  for (const Name rule : origin.rules) text.append(" <- ").append(rule.str());
  return text;
}

// --- recording ----------------------------------------------------------------------

OriginScope::OriginScope(Program& program, std::string_view rule) : program_(program) {
  OriginTable* table = TableOf(program);
  if (!table) return;
  outer_rule_ = table->scope_rule;
  outer_first_ = table->scope_first;
  table->scope_rule = Name(rule);
  table->scope_first = table->size();
}

OriginScope::~OriginScope() {
  OriginTable* table = TableOf(program_);
  if (!table || outer_first_ == 0) return;
  if (table->records) {
    Walk(program_, [&](Operation op) {
      if (HasOrigin(op) && table->Of(op) == OriginTable::kNone)
        table->Set(op, table->AddRewrite({}, table->scope_rule));
    });
  }
  table->scope_rule = outer_rule_;
  table->scope_first = outer_first_;
}

void OriginRecorder::Begin() {
  erased_.clear();
  made_.clear();
  TableOf(program_)->held = true;
}

void OriginRecorder::Abandon() { TableOf(program_)->held = false; }

void OriginRecorder::Commit(std::string_view rule) {
  OriginTable& table = *TableOf(program_);
  table.held = false;
  std::erase_if(made_, [](Operation op) { return !op.IsAlive(); });
  const Name name(rule);
  const auto made_has = [&](Opcode opcode) {
    return std::any_of(made_.begin(), made_.end(),
                       [&](Operation op) { return op.opcode() == opcode; });
  };
  const auto erased_has = [&](Opcode opcode) {
    return std::any_of(erased_.begin(), erased_.end(),
                       [&](const Erased& e) { return e.opcode == opcode; });
  };
  for (const Operation op : made_) {
    const bool has_like = erased_has(op.opcode());
    std::vector<uint32_t> inputs;
    for (const Erased& e : erased_)
      if (!has_like || e.opcode == op.opcode() || !made_has(e.opcode)) inputs.push_back(e.origin);
    table.Set(op, table.AddRewrite(std::move(inputs), name));
  }
}

void OriginRecorder::OnInserted(Operation op) {
  made_.push_back(op);
  next_->OnInserted(op);
}

void OriginRecorder::OnErased(Operation op) {
  const uint32_t origin = TableOf(program_)->Of(op);
  if (origin != OriginTable::kNone) erased_.push_back({op.opcode(), origin});
  next_->OnErased(op);
}

}  // namespace weft::ir
