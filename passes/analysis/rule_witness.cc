#include "passes/analysis/rule_witness.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "drr/engine/applier.h"
#include "drr/engine/matcher.h"
#include "ir/analysis/verifier.h"
#include "ir/builder.h"
#include "ir/dialects/builtin.h"
#include "ir/rewriter.h"
#include "ir/text/printer.h"
#include "ir/walk.h"

namespace weft::passes {
namespace {

using drr::PatternGraph;
using drr::SourceOp;
using drr::SourceValue;
using ir::Attribute;
using ir::AttrKind;
using ir::DataType;
using ir::Operation;
using ir::Program;
using ir::Shape;
using ir::Value;

// The stock. Sizes differ so that a shape fits by right and not by chance.
const Shape kShapes[] = {{2, 3},       {2, 3, 4},    {4, 5},       {3, 4, 5, 6}, {1, 4, 6, 6},
                         {8, 4, 3, 3}, {4},          {8},          {5},          {},
                         {1},          {2, 1, 3},    {1, 6, 6, 4}, {1, 2, 3, 4}, {4, 1, 3, 3},
                         {2, 3, 4, 4}, {1, 1, 4, 5}, {6, 1, 1},    {4, 4},       {2, 2, 4, 3}};
const ir::Ints kIntLists[] = {{1, 0},       {0, 2, 1}, {0, 2, 3, 1}, {0, 3, 1, 2}, {0, 2, 1, 3},
                              {0, 1, 3, 2}, {0, 1},    {0, 1, 2},    {0, 1, 2, 3}, {1, 0, 2},
                              {2, 0, 1},    {1, 1},    {0, 0, 0, 0}, {2, 2},       {1, 1, 1, 1},
                              {3, 3},       {-1},      {1},          {2},          {0}};
const double kNumbers[] = {
    0, 1, 2, 0.5, 3, 6, -1, 1.0 / 6, 1e-5, 4, 0.1, 0.7071067811865476, 1.4142135623730951};
const ir::Floats kFloatLists[] = {{}, {0, 6}, {-1, 1}, {0.5f}};
constexpr int64_t kInts[] = {0, 1, -1, 2, 3};
const ir::Ints kConstantInts[] = {{2, 3},    {6},       {3, 2},       {-1},        {2, 12},
                                  {0},       {1},       {4, 6},       {24},        {2, 3, 4},
                                  {2, 4, 3}, {1, 2, 3}, {1, 2, 3, 4}, {0, 0, 1, 1}};

// The decisions of one attempt. What is not decided yet is drawn.
class Genes {
 public:
  explicit Genes(uint64_t seed) : random_(seed) {}
  uint32_t Choose(size_t n) {
    if (n <= 1) return 0;
    if (next_ == genes_.size()) genes_.push_back(static_cast<uint32_t>(random_()));
    return static_cast<uint32_t>(genes_[next_++] % n);
  }
  template <class List>
  const auto& Pick(const List& list) {
    return list[Choose(std::size(list))];
  }
  void Rewind() { next_ = 0; }
  void Forget() { genes_.clear(); }
  void Mutate() {
    if (genes_.empty()) return;
    for (uint64_t n = 1 + random_() % 3; n > 0; --n)
      genes_[random_() % genes_.size()] = static_cast<uint32_t>(random_());
  }
  std::vector<uint32_t>& genes() { return genes_; }

 private:
  std::mt19937_64 random_;
  std::vector<uint32_t> genes_;
  size_t next_ = 0;
};

// One attempt: builds what the source pattern says.
class Instance {
 public:
  Instance(ir::IrContext& context, const PatternGraph& graph, Genes& genes)
      : graph_(graph),
        genes_(genes),
        program(std::make_unique<Program>(&context)),
        b_(program.get()),
        values_(graph.values.size()),
        lists_(graph.values.size()),
        done_(graph.values.size(), false),
        ops_(graph.ops.size()),
        attrs_(graph.attrs.size()) {}

  bool Build() {
    if (graph_.root_value() >= 0 && !MakeValue(graph_.root_value(), 0)) return false;
    for (int root : graph_.roots())
      if (graph_.values[graph_.root_value()].either.empty() && !MakeOp(root, 0)) return false;
    std::vector<std::pair<std::string, Value>> outputs;
    for (const drr::Replacement& r : graph_.replacements)
      if (const Value v = values_[graph_.Resolve(r.source)]; v && v.DefiningOp())
        outputs.emplace_back("y" + std::to_string(outputs.size()), v);
    if (outputs.empty()) return false;
    b_.Return(std::move(outputs));
    EraseUnused();
    return ir::Verify(*program).ok();
  }
  size_t ops_built() const { return ops_built_; }
  Value root() const { return values_[graph_.Resolve(graph_.root_value())]; }
  const std::string& error() const { return error_; }

 private:
  static constexpr int kMaxDepth = 200;  // of a rule: guards the recursion

  bool MakeValue(int id, int depth) {
    id = graph_.Resolve(id);
    if (done_[id]) return true;
    if (depth > kMaxDepth) return false;
    const SourceValue& v = graph_.values[id];
    if (v.optional && genes_.Choose(2)) {
      done_[id] = true;
      return true;
    }
    if (!v.either.empty() || v.through >= 0) {  // nothing is skipped
      const int choice = graph_.Resolve(v.through >= 0 ? v.through : genes_.Pick(v.either));
      if (!MakeValue(choice, depth + 1)) return false;
      values_[id] = values_[choice];
    } else if (v.producer >= 0) {
      if (!MakeOp(v.producer, depth + 1)) return false;
    } else if (v.list) {
      lists_[id].clear();
      lists_[id].push_back(MakeLeaf());
      for (uint32_t more = genes_.Choose(3); more > 0; --more)
        lists_[id].push_back(
            b_.AddInput("x" + std::to_string(num_inputs_++), lists_[id][0].type()));
    } else {
      values_[id] = MakeLeaf();
    }
    done_[id] = true;
    return true;
  }

  bool MakeOp(int id, int depth) {
    if (ops_[id]) return true;
    const SourceOp& op = graph_.ops[id];
    if (!op.regions.empty()) {
      error_ = std::string(op.Name()) + " has regions, which are not made";
      return false;
    }
    drr::Alternative alternative;
    if (!PickAlternative(op, &alternative)) return false;
    const std::vector<bool> done_before = done_;
    const std::vector<Attribute> attrs_before = attrs_;
    for (int operand : op.operands)
      if (operand != drr::kAbsent && !MakeValue(operand, depth + 1)) return false;
    if (op.times == drr::Times::kEach) return MakeEach(id, alternative);
    Operation made;
    constexpr int kRedraws = 60;
    for (int i = 0; !TryOp(op, alternative, {}, &made); ++i) {
      if (i == kRedraws) return false;
      attrs_ = attrs_before;
      Redraw(op, *alternative.def, done_before);
    }
    if (op.times == drr::Times::kChain)
      for (int i = 1; i < std::max(op.min_times, 2); ++i)
        if (!TryOp(op, alternative, made.result(0), &made)) return false;
    ops_[id] = made;
    ++ops_built_;
    for (size_t i = 0; i < op.results.size(); ++i) {
      const int result = graph_.Resolve(op.results[i]);
      values_[result] = made.result(static_cast<uint32_t>(i));
      done_[result] = true;
    }
    return true;
  }

  bool PickAlternative(const SourceOp& op, drr::Alternative* alternative) {
    if (!op.alternatives.empty()) {
      *alternative = genes_.Pick(op.alternatives);
      return alternative->def != nullptr;
    }
    std::vector<const ir::OpDef*> fit;
    for (const ir::OpDef* def : b_.context()->Ops())
      if ((def->info->traits & op.traits) == op.traits && def->info->num_regions == 0 &&
          (op.opcode.empty() || def->name() == op.opcode))
        fit.push_back(def);
    if (fit.empty()) return false;
    alternative->def = genes_.Pick(fit);
    return true;
  }

  // One op for every element of the list it reads.
  bool MakeEach(int id, const drr::Alternative& alternative) {
    const SourceOp& op = graph_.ops[id];
    const int result = graph_.Resolve(op.results[0]);
    lists_[result].clear();
    for (Value element : std::vector<Value>(lists_[graph_.Resolve(op.operands[0])])) {
      if (!TryOp(op, alternative, element, &ops_[id])) return false;
      lists_[result].push_back(ops_[id].result(0));
    }
    done_[result] = true;
    ++ops_built_;
    return !lists_[result].empty();
  }

  // `first`, if given, in place of the first operand.
  bool TryOp(const SourceOp& op, const drr::Alternative& alternative, Value first,
             Operation* made) {
    const ir::OpDef& def = *alternative.def;
    if (def.info->num_regions != 0) return false;  // what would be in them?
    ir::OperationState state;
    state.opcode = def.opcode;
    state.attrs = MakeAttrs(alternative);
    for (int operand : op.operands) {
      const int value = operand == drr::kAbsent ? operand : graph_.Resolve(operand);
      if (first && state.operands.empty()) {
        state.operands.push_back(first);
      } else if (value != drr::kAbsent && graph_.values[value].list) {
        state.operands.insert(state.operands.end(), lists_[value].begin(), lists_[value].end());
      } else {
        state.operands.push_back(value == drr::kAbsent ? Value() : values_[value]);
      }
    }
    while (!state.operands.empty() && !state.operands.back()) state.operands.pop_back();
    size_t num_results = 0;
    for (const ir::OperandDef& r : def.info->results) num_results += r.arity == ir::Arity::kOne;
    return b_.TryCreate(std::move(state), std::max(num_results, op.results.size()), made, &error_);
  }

  // New leaves in place of those which the op's complaint names; if it names none, of any one. Of
  // those alone that were made for this op.
  void Redraw(const SourceOp& op, const ir::OpDef& def, const std::vector<bool>& done_before) {
    std::vector<int> fresh, named;
    const auto& defs = def.info->operands;
    for (size_t i = 0; i < op.operands.size(); ++i) {
      if (op.operands[i] == drr::kAbsent) continue;
      const int id = graph_.Resolve(op.operands[i]);
      const SourceValue& v = graph_.values[id];
      if (done_before[id] || v.producer >= 0 || !v.either.empty() || v.through >= 0) continue;
      fresh.push_back(id);
      const std::string name(defs[std::min(i, defs.size() - 1)].name);
      if ((error_ + " ").find(" " + name + " ") != std::string::npos) named.push_back(id);
    }
    if (fresh.empty()) return;
    if (named.empty()) named.push_back(genes_.Pick(fresh));
    const int id = genes_.Pick(named);
    values_[id] = Value();
    done_[id] = false;
    MakeValue(id, 0);
  }

  ir::AttrDict MakeAttrs(const drr::Alternative& alternative) {
    std::vector<ir::NamedAttribute> entries;
    for (const ir::FieldDef& field : alternative.def->fields)
      if (const Attribute value = MakeAttr(alternative, field); value)
        entries.push_back({field.name, value});
    return b_.context()->Dict(std::move(entries));
  }

  Attribute MakeAttr(const drr::Alternative& alternative, const ir::FieldDef& field) {
    for (const drr::AttrPattern& pattern : alternative.attrs) {
      if (!(pattern.name == field.name) || pattern.kind == drr::AttrPattern::kAny) continue;
      if (pattern.kind == drr::AttrPattern::kIsOneOf) return genes_.Pick(pattern.values);
      Attribute& variable = attrs_[pattern.variable];
      if (!variable) variable = AnyAttr(field);
      return variable;
    }
    return AnyAttr(field);
  }

  // Its default as often as not.
  Attribute AnyAttr(const ir::FieldDef& field) {
    ir::IrContext& c = *b_.context();
    if (field.make_default && genes_.Choose(2)) return field.make_default(c);
    if (field.optional && genes_.Choose(2)) return {};
    if (!field.enumerators.empty())
      return c.StringAttr(field.enumerators[genes_.Choose(field.enumerators.size())]);
    switch (field.kind) {
      case AttrKind::kBool:
        return c.BoolAttr(genes_.Choose(2) != 0);
      case AttrKind::kInt:
        return c.IntAttr(genes_.Pick(kInts));
      case AttrKind::kFloat:
        return c.FloatAttr(static_cast<float>(genes_.Pick(kNumbers)));
      case AttrKind::kDouble:
        return c.DoubleAttr(genes_.Pick(kNumbers));
      case AttrKind::kInts:
        return c.IntsAttr(genes_.Pick(kIntLists));
      case AttrKind::kFloats:
        return c.FloatsAttr(genes_.Pick(kFloatLists));
      case AttrKind::kStrings:
        return c.StringsAttr({});
      case AttrKind::kString:
        return c.StringAttr("");
      case AttrKind::kDataType:
        return c.DataTypeAttr(PickType());
      case AttrKind::kDense:
        return MakeConstant();
      default:
        return field.make_default ? field.make_default(c) : Attribute();
    }
  }

  // Mostly that of a value which is there already.
  DataType PickType() {
    std::vector<Value> there;
    for (Value v : values_)
      if (v && v.type().IsTensor()) there.push_back(v);
    if (!there.empty() && genes_.Choose(4)) return genes_.Pick(there).type().dtype();
    constexpr DataType kTypes[] = {DataType::kF32, DataType::kF32, DataType::kF32, DataType::kI64,
                                   DataType::kF16, DataType::kI32, DataType::kBool};
    return genes_.Pick(kTypes);
  }

  // That of a value which is there already (whole, its last or its second dimension), or of the
  // stock.
  Shape PickShape() {
    std::vector<Value> there;
    for (Value v : values_)
      if (v && v.type().IsStatic()) there.push_back(v);
    if (there.empty() || genes_.Choose(2)) return genes_.Pick(kShapes);
    Shape shape = genes_.Pick(there).type().shape();
    switch (genes_.Choose(4)) {
      case 0:
        return {};
      case 1:
        return shape.empty() ? shape : Shape{shape.back()};
      case 2:
        return shape.size() < 2 ? shape : Shape{shape[1]};
      default:
        return shape;
    }
  }

  Attribute MakeConstant() {
    ir::IrContext& c = *b_.context();
    if (genes_.Choose(4) == 0) {
      const ir::Ints& list = genes_.Pick(kConstantInts);
      return c.DenseAttrOf(c.TensorType(DataType::kI64, {static_cast<int64_t>(list.size())}),
                           std::span<const int64_t>(list));
    }
    const Shape shape = PickShape();
    const ir::Type type = c.TensorType(DataType::kF32, shape);
    std::vector<float> values(static_cast<size_t>(type.NumElements()));
    if (genes_.Choose(2)) {
      std::fill(values.begin(), values.end(), static_cast<float>(genes_.Pick(kNumbers)));
    } else {
      for (size_t i = 0; i < values.size(); ++i)
        values[i] = 0.25f + 0.125f * static_cast<float>(i % 13);
    }
    return c.DenseAttrOf(type, std::span<const float>(values));
  }

  Value MakeLeaf() {
    if (genes_.Choose(2)) return b_.Constant(MakeConstant());
    const Shape shape = PickShape();
    return b_.AddInput("x" + std::to_string(num_inputs_++),
                       b_.context()->TensorType(PickType(), shape));
  }

  // Leaves that were drawn anew.
  void EraseUnused() {
    ir::Rewriter rewriter(program.get());
    ir::Walk(*program, [&](Operation op) {
      if (op.HasTrait(ir::kConstantLike) && op.IsUnused()) rewriter.Erase(op);
    });
    const ir::Block body = program->body();
    ir::Strings names =
        program->module().attrs_of<ir::ModuleOp>().input_names.value_or(ir::Strings());
    for (uint32_t i = body.num_arguments(); i > 0; --i) {
      if (!body.argument(i - 1).IsUnused()) continue;
      rewriter.EraseArgument(body, i - 1);
      if (i - 1 < names.size()) names.erase(names.begin() + (i - 1));
    }
    if (program->module().attr("input_names"))
      rewriter.SetAttr(program->module(), "input_names", b_.context()->StringsAttr(names));
  }

  const PatternGraph& graph_;
  Genes& genes_;

 public:
  std::unique_ptr<Program> program;

 private:
  ir::Builder b_;
  std::vector<Value> values_;
  std::vector<std::vector<Value>> lists_;
  std::vector<bool> done_;
  std::vector<Operation> ops_;
  std::vector<Attribute> attrs_;
  size_t ops_built_ = 0;
  int num_inputs_ = 0;
  std::string error_;
};

// Whether the rule applies to a copy of the program at the op where it matches in the original.
bool Applies(const drr::Rule& rule, Program& program, Operation site, std::string* reason) {
  const std::unique_ptr<Program> copy = program.Clone();
  std::vector<Operation> ops, copies;
  ir::Walk(program, [&](Operation op) { ops.push_back(op); });
  ir::Walk(*copy, [&](Operation op) { copies.push_back(op); });
  for (size_t i = 0; i < ops.size(); ++i) {
    if (!(ops[i] == site)) continue;
    drr::MatchContext match(&rule);
    ir::Rewriter rewriter(copy.get());
    return drr::Matcher(rule).Match(copies[i], &match) && drr::Apply(match, rewriter, reason) &&
           ir::Verify(*copy).ok();
  }
  return false;
}

// How far an attempt came: ops built, then the progress of the match, then constraints that hold.
class Search {
 public:
  Search(ir::IrContext& context, const drr::Rule& rule, const WitnessOptions& options)
      : context_(context), rule_(rule), options_(options), genes_(options.seed) {}

  std::vector<Witness> Run(std::string* why) {
    constexpr int kPatience = 150;  // attempts without progress before starting anew
    uint64_t best = 0;
    int idle = 0;
    std::vector<uint32_t> best_genes;
    for (int i = 0; i < options_.attempts && found_.size() < size_t(options_.wanted); ++i) {
      genes_.Rewind();
      const size_t found = found_.size();
      const uint64_t fitness = Attempt();
      if (found_.size() > found || idle > kPatience) {
        best = 0;
        idle = 0;
        genes_.Forget();
        continue;
      }
      if (fitness >= best) {
        idle = fitness > best ? 0 : idle + 1;
        best = fitness;
        best_genes = genes_.genes();
      } else {
        ++idle;
        genes_.genes() = best_genes;
      }
      genes_.Mutate();
    }
    if (why) *why = why_;
    return std::move(found_);
  }

 private:
  uint64_t Attempt() {
    const PatternGraph& graph = rule_.graph;
    Instance instance(context_, graph, genes_);
    if (!instance.Build()) return Note(instance.ops_built(), instance.error());
    const uint64_t built = graph.ops.size() + 1;
    const Operation site = instance.root() ? instance.root().DefiningOp() : Operation();
    if (!site) return built;
    drr::MatchContext match(&rule_);
    drr::MatchFailure failure;
    std::string reason;
    if (!drr::Matcher(rule_).Match(site, &match, &failure)) {
      const size_t steps = graph.constraints.size() + 1;
      size_t held = 0;
      while (held < graph.constraints.size() && graph.constraints[held].reason != failure.expected)
        ++held;
      if (held == graph.constraints.size()) held = 0;
      return Note(built + failure.progress * steps + held, failure.reason);
    }
    if (!Applies(rule_, *instance.program, site, &reason)) return Note(UINT64_MAX, reason);
    if (texts_.insert(ir::PrintProgram(*instance.program)).second)
      found_.push_back({std::move(instance.program), site});
    return UINT64_MAX;
  }

  // Remembers why the furthest attempt failed.
  uint64_t Note(uint64_t fitness, const std::string& reason) {
    if (fitness >= furthest_) {
      furthest_ = fitness;
      if (!reason.empty()) why_ = reason;
    }
    return fitness;
  }

  ir::IrContext& context_;
  const drr::Rule& rule_;
  const WitnessOptions& options_;
  Genes genes_;
  std::vector<Witness> found_;
  std::set<std::string> texts_;
  uint64_t furthest_ = 0;
  std::string why_;
};

}  // namespace

std::vector<Witness> MakeWitnesses(ir::IrContext& context, const drr::Rule& rule,
                                   const WitnessOptions& options, std::string* why) {
  return Search(context, rule, options).Run(why);
}

}  // namespace weft::passes
