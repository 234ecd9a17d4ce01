#include "passes/verify/search/model_programs.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "drr/engine/matcher.h"
#include "ir/base/thread_time.h"
#include "ir/text/printer.h"
#include "passes/verify/instance_builder.h"
#include "passes/verify/mutation/mistakes.h"
#include "passes/verify/proof/rule_model.h"

namespace weft::passes {
namespace {

using drr::OpId;
using drr::ValueId;
using ir::Attribute;
using ir::DataType;

// The number after the last `mark`, as questions end that are about an op or a value.
std::optional<size_t> NumberAfter(const std::string& what, std::string_view mark) {
  const size_t at = what.rfind(mark);
  if (at == std::string::npos) return std::nullopt;
  size_t number = 0;
  const char *begin = what.data() + at + mark.size(), *end = what.data() + what.size();
  if (std::from_chars(begin, end, number).ec != std::errc()) return std::nullopt;
  return number;
}

class Making {
 public:
  Making(const drr::Rule& rule, std::span<const Assignment> starts,
         const ModelProgramOptions& options)
      : rule_(rule), starts_(starts), options_(options), draw_(rule.graph, options.seed) {}

  std::vector<std::unique_ptr<ir::Program>> Run() {
    std::vector<std::unique_ptr<ir::Program>> programs;
    std::set<std::string> texts;
    end_ = ir::ThreadSeconds() + options_.seconds;
    constexpr int kMostAttempts = 200, kMostWithoutModel = 8;
    for (int i = 0; i < kMostAttempts && programs.size() < options_.wanted; ++i) {
      if (ir::ThreadSeconds() >= end_ || (models_ == 0 && i >= kMostWithoutModel)) break;
      auto program = Attempt();
      if (program != nullptr &&
          texts.insert(ir::PrintProgram(*program, {.full_weights = true})).second)
        programs.push_back(std::move(program));
    }
    return programs;
  }

 private:
  // How often what a start says is not followed: in one of so many questions.
  static constexpr size_t kFreedoms[] = {1, 3, 8, 20, 1000};

  std::unique_ptr<ir::Program> Attempt() {
    start_ = starts_.empty() || draw_.OneIn(8) ? Assignment(rule_.graph) : draw_.OneOf(starts_);
    freedom_ = draw_.OneOf(kFreedoms);
    size_freedom_ = draw_.OneOf(kFreedoms);
    types_.clear();
    const std::optional<RuleModel> model = FindModel(
        rule_,
        {.broken = options_.broken,
         .with_empty = draw_.OneIn(8),
         .answer = [&](const std::string& what, size_t options) { return Answer(what, options); },
         .size = [&](size_t value, size_t axis,
                     size_t rank) { return WantedSize(value, axis, rank); },
         .below = [&](size_t n) { return draw_.Below(n); },
         .until = end_},
        &state_);
    if (!model) return nullptr;
    ++models_;
    Assignment assignment = start_;
    if (!Decide(*model, &assignment)) return nullptr;
    InstanceBuilder instance(rule_.graph, draw_, assignment);
    if (!instance.Build() || !instance.site()) return nullptr;
    drr::MatchContext match(&rule_);
    if (!drr::Matcher(rule_).Match(instance.site(), &match)) return nullptr;
    drr::MatchContext other(options_.refused_by != nullptr ? options_.refused_by : &rule_);
    if (options_.refused_by != nullptr &&
        drr::Matcher(*options_.refused_by).Match(instance.site(), &other))
      return nullptr;
    return instance.TakeProgram();
  }

  size_t Answer(const std::string& what, size_t options) {
    if (what == "whether an op is skipped") return 0;
    if (what == "sizes of a shape" && draw_.OneIn(2)) return options - 1;
    if (!draw_.OneIn(freedom_))
      if (const auto answer = AnswerOfStart(what); answer && *answer < options) return *answer;
    return draw_.Below(options);
  }
  std::optional<size_t> AnswerOfStart(const std::string& what) const {
    if (what.starts_with("alternative of op ")) {
      const auto op = NumberAfter(what, " ");
      if (op && *op < start_.alternatives.size()) return start_.alternatives[OpId(*op)];
      return std::nullopt;
    }
    const auto value = NumberAfter(what, "@");
    if (!value || *value >= start_.leaves.size()) return std::nullopt;
    const std::optional<Leaf>& leaf = start_.leaves[ValueId(*value)];
    if (what.starts_with("rank of ")) return leaf ? std::optional(leaf->type.rank()) : std::nullopt;
    return start_.choices[ValueId(*value)];
  }
  int64_t WantedSize(size_t value, size_t axis, size_t rank) {
    const std::optional<Leaf>& leaf = start_.leaves[ValueId(value)];
    if (leaf && leaf->type.rank() == rank && !draw_.OneIn(size_freedom_))
      return leaf->type.dims()[axis];
    constexpr int64_t kSizes[] = {1, 2, 3, 4, 5, 6};
    return draw_.OneOf(kSizes);
  }

  // False where a leaf cannot be made.
  bool Decide(const RuleModel& model, Assignment* assignment) {
    for (size_t i = 0; i < model.choices.size(); ++i)
      if (model.choices[i]) assignment->choices[ValueId(i)] = model.choices[i];
    for (size_t i = 0; i < model.alternatives.size(); ++i)
      if (model.alternatives[i]) assignment->alternatives[OpId(i)] = model.alternatives[i];
    for (size_t i = 0; i < model.variables.size(); ++i)
      if (model.variables[i]) assignment->variables[drr::AttrId(i)] = model.variables[i];
    for (const OpId op : rule_.graph.ops.ids())
      for (const drr::Alternative& alternative : rule_.graph.ops[op].alternatives)
        for (const ir::FieldDef& field : alternative.def->fields)
          if (const auto at = model.fields.find({op.index(), std::string(field.name.str())});
              at != model.fields.end())
            assignment->fields[{op.index(), field.name.str()}] = at->second;
    if (options_.refused_by != nullptr) ForgetLooserAttributes(model, assignment);
    for (const auto& [value, modelled] : model.values) {
      const ValueId id(value);
      if (rule_.graph.values[id].through) assignment->choices[id] = 0;
      if (!modelled.is_absent && !DecideLeaf(id, modelled, assignment)) return false;
    }
    for (const ValueId id : rule_.graph.values.ids())  // the model has it without a skipped op
      if (rule_.graph.values[id].through) assignment->choices[id] = 0;
    return true;
  }

  // What only the other rule asks for is something else.
  void ForgetLooserAttributes(const RuleModel& model, Assignment* assignment) {
    for (const OpId op : rule_.graph.ops.ids()) {
      const auto &own = rule_.graph.ops[op].alternatives,
                 &others = options_.refused_by->graph.ops[op].alternatives;
      for (size_t i = 0; i < std::min(own.size(), others.size()); ++i)
        for (size_t k = 0; k < std::min(own[i].attrs.size(), others[i].attrs.size()); ++k) {
          const drr::AttrPattern &pattern = own[i].attrs[k], &wanted = others[i].attrs[k];
          const auto key = std::make_pair(op.index(), pattern.name.str());
          if (pattern.kind != drr::AttrPattern::kAny || wanted.kind == drr::AttrPattern::kAny ||
              model.fields.count({op.index(), std::string(pattern.name.str())}) > 0)
            continue;
          std::vector<Attribute> values;
          if (const Attribute value = wanted.values.empty() ? Attribute() : wanted.values[0])
            values =
                OtherValues(*rule_.graph.context(), value, own[i].def->FindField(pattern.name));
          std::optional<Attribute>& field = assignment->fields[key];
          field.reset();
          if (!values.empty() && !draw_.OneIn(3)) field = draw_.OneOf(values);
        }
    }
  }

  bool DecideLeaf(ValueId id, const ModelledValue& modelled, Assignment* assignment) {
    const std::optional<Leaf> old = start_.leaves[id];
    const auto dtype = TypeFor(modelled, old);
    if (!dtype) return false;
    const ir::Type type = rule_.graph.context()->TensorType(*dtype, modelled.shape);
    if (type.NumElements() > kMaxElements) return false;
    Leaf leaf{type, {}};
    const Attribute before = old ? old->constant : Attribute();
    const bool is_lost = IsBroken(id);
    if (modelled.list && static_cast<int64_t>(modelled.list->size()) == type.NumElements()) {
      const std::vector<double> numbers(modelled.list->begin(), modelled.list->end());
      leaf.constant = draw_.Dense(type, numbers);
    } else if (modelled.number) {
      leaf.constant = draw_.Dense(type, {&*modelled.number, 1});
    } else if (before && before.dense_type() == type && !is_lost) {
      leaf.constant = before;
    } else if (before || (!old && !ir::IsFloat(*dtype))) {
      const std::optional<double> number = before && !is_lost ? UniformOf(before) : std::nullopt;
      leaf.constant = number ? draw_.Dense(type, {&*number, 1}) : draw_.DrawContents(type);
    }
    assignment->leaves[id] = leaf;
    return true;
  }
  // Whether the constraint to break is about what this value holds, and may not be of its type alone.
  bool IsBroken(ValueId id) const {
    if (options_.broken == nullptr) return false;
    const auto& arguments = options_.broken->arguments;
    return std::any_of(arguments.begin(), arguments.end(), [&](const auto& argument) {
      return argument.kind == drr::Formula::Argument::kValue &&
             rule_.graph.Resolve(argument.value) == id;
    });
  }
  static std::optional<double> UniformOf(Attribute dense) {
    if (dense.IsElided() || dense.dense_type().NumElements() == 0) return std::nullopt;
    const double first = ir::DenseElement(dense, 0);
    for (int64_t i = 1; i < dense.dense_type().NumElements(); ++i)
      if (ir::DenseElement(dense, i) != first) return std::nullopt;
    return first;
  }
  // One for all values of a class.
  std::optional<DataType> TypeFor(const ModelledValue& modelled, const std::optional<Leaf>& old) {
    const auto known = types_.find(modelled.type_class);
    if (known != types_.end()) return known->second;
    constexpr DataType kUsual[] = {DataType::kF32, DataType::kI64, DataType::kBool, DataType::kF64,
                                   DataType::kI32, DataType::kF16, DataType::kI8,   DataType::kU8};
    std::vector<DataType> wanted(std::begin(kUsual), std::end(kUsual));
    if (old) wanted.insert(wanted.begin(), old->type.dtype());
    for (const DataType type : wanted)
      if ((modelled.types & TypeBit(type)) != 0) return types_[modelled.type_class] = type;
    return std::nullopt;
  }

  const drr::Rule& rule_;
  const std::span<const Assignment> starts_;
  const ModelProgramOptions& options_;
  Draw draw_;
  Assignment start_;
  size_t freedom_ = 1, size_freedom_ = 1;
  int models_ = 0;
  double end_ = 0;  // of ir::ThreadSeconds()
  std::map<TypeClass, DataType> types_;
  ProofState state_{kMillisecondsOfModel};
};

}  // namespace

std::vector<std::unique_ptr<ir::Program>> ModelPrograms(const drr::Rule& rule,
                                                        std::span<const Assignment> starts,
                                                        const ModelProgramOptions& options) {
  return Making(rule, starts, options).Run();
}

}  // namespace weft::passes
