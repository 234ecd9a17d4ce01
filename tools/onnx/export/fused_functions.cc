#include "tools/onnx/export/fused_functions.h"

#include <absl/strings/escaping.h>
#include <absl/strings/numbers.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "ir/analysis/reference_body.h"
#include "ir/analysis/verifier.h"
#include "ir/infer.h"
#include "ir/walk.h"
#include "tools/onnx/export/graph_writer.h"
#include "tools/onnx/export/lowering.h"
#include "tools/onnx/import/adapters.h"
#include "tools/onnx/proto/names.h"
#include "tools/onnx/proto/proto_attribute.h"

namespace weft::onnx {
namespace {

using ir::Attribute;
using ir::AttrKind;
using ir::Operation;
using ir::Type;
using ir::Value;

constexpr int kMaxExpansions = 16;         // bodies in bodies
constexpr size_t kMaxConstant = 64 << 10;  // bytes; bodies of ours hold scalars and axes
constexpr std::string_view kDocMarker = "weft op ";

bool NeedsFunction(Operation op) {
  const ir::OpDef* def = op.def();
  return def && def->info->onnx.empty() && ir::HasReferenceBody(op);
}

bool IsBodyInRegion(Operation op) { return op.HasTrait(ir::kBodyInRegion); }

// Replaces op by its body. Bodies may hold ops of the same kind of their own.
absl::Status Expand(ir::Rewriter& rewriter, Operation op) {
  const std::vector<Value> operands = op.operands().vec();
  rewriter.SetInsertionPoint(op);
  rewriter.set_location(op.location());
  const std::vector<Value> results = ir::BuildReferenceBody(rewriter, op, operands);
  if (results.size() != op.num_results())
    return ir::Unsupported(fmt::format("{}: no body in ONNX for these operands", op.name()));
  for (uint32_t i = 0; i < op.num_results(); ++i) {
    const Value from = op.result(i), to = results[i];
    if (!to) return ir::Unsupported(fmt::format("{}: no body in ONNX", op.name()));
    if (!ir::Compatible(from.type(), to.type()))
      return ir::InvalidArgument(fmt::format("{}: its body gives {}, expected {}", op.name(),
                                             to.type().ToString(), from.type().ToString()));
  }
  rewriter.Replace(op, results);
  return absl::OkStatus();
}

template <class Wanted>
absl::Status ExpandAll(ir::Program* program, const Wanted& wanted) {
  ir::Rewriter rewriter(program);
  for (int round = 0; round < kMaxExpansions; ++round) {
    bool expands = false;
    absl::Status status;
    ir::Walk(*program,
             [&](Operation op) {  // not into an op that is expanded: that is another round
               if (!status.ok() || !wanted(op)) return;
               expands = true;
               status = Expand(rewriter, op);
             });
    if (!expands || !status.ok()) return status;
  }
  return ir::Internal("reference bodies are made of each other without end");
}

// --- the doc_string -----------------------------------------------------------------

std::optional<std::string> AttributeText(Attribute value) {
  switch (value.kind()) {
    case AttrKind::kBool:
      return fmt::format("bool {}", value.AsInt());
    case AttrKind::kInt:
      return fmt::format("int {}", value.AsInt());
    case AttrKind::kFloat:
      return fmt::format("float {}", value.AsFloat());
    case AttrKind::kString:
      return "string " + absl::CEscape(value.AsString());
    case AttrKind::kInts:
      return fmt::format("ints {}", fmt::join(value.AsInts(), " "));
    case AttrKind::kFloats:
      return fmt::format("floats {}", fmt::join(value.AsFloats(), " "));
    default:
      return std::nullopt;
  }
}

std::vector<std::string_view> SplitAt(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    if (end > 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

absl::string_view Abseil(std::string_view text) { return {text.data(), text.size()}; }

template <class T>
bool ParseNumbers(std::string_view text, std::vector<T>* numbers) {
  for (std::string_view part : SplitAt(text, ' ')) {
    T number{};
    if constexpr (std::is_same_v<T, float>) {
      if (!absl::SimpleAtof(Abseil(part), &number)) return false;
    } else {
      if (!absl::SimpleAtoi(Abseil(part), &number)) return false;
    }
    numbers->push_back(number);
  }
  return true;
}

// The inverse of AttributeText; null when it is malformed.
Attribute ParseAttribute(ir::IrContext* context, std::string_view kind, std::string_view text) {
  ir::Ints ints;
  ir::Floats floats;
  std::string string;
  if (kind == "string")
    return absl::CUnescape(Abseil(text), &string) ? context->StringAttr(string) : Attribute();
  if (kind == "floats" || kind == "float") {
    if (!ParseNumbers(text, &floats)) return {};
    if (kind == "floats") return context->FloatsAttr(floats);
    return floats.size() == 1 ? context->FloatAttr(floats[0]) : Attribute();
  }
  if (!ParseNumbers(text, &ints)) return {};
  if (kind == "ints") return context->IntsAttr(ints);
  if (ints.size() != 1) return {};
  if (kind == "int") return context->IntAttr(ints[0]);
  return kind == "bool" ? context->BoolAttr(ints[0] != 0) : Attribute();
}

// "weft op fused.linear", then a line per attribute. Empty when an attribute has no text.
std::string DocString(const ir::OpDef& def, ir::AttrDict attrs) {
  std::string doc = fmt::format("{}{}", kDocMarker, def.name());
  for (const ir::NamedAttribute& entry : attrs) {
    const std::optional<std::string> text = AttributeText(entry.value);
    if (!text) return "";
    doc += fmt::format("\n{} {}", entry.name.str(), *text);
  }
  return doc;
}

// --- names ----------------------------------------------------------------------------

// linear_bias_gelu: the op, the optional operands given, and what it says beside its defaults as
// far as words tell it.
std::string VariantName(Operation op) {
  const ir::OpDef& def = *op.def();
  std::string name(def.name().substr(def.name().rfind('.') + 1));
  for (uint32_t i = 0; i < op.num_operands(); ++i)
    if (op.operand(i) && def.info->operands[i].arity == ir::Arity::kOptional)
      name += fmt::format("_{}", def.info->operands[i].name);
  for (const ir::FieldDef& field : def.fields) {
    const Attribute value = op.attr(field.name.str());
    const bool is_default =
        !value || (field.make_default && field.make_default(*op.context()) == value);
    if (is_default) continue;
    if (value.Is(AttrKind::kString)) name += "_" + value.AsString();
    if (value.Is(AttrKind::kBool)) name += fmt::format("_{}", field.name.str());
  }
  return name;
}

}  // namespace

absl::StatusOr<pb::FunctionProto> MakeFunction(ir::IrContext* context, const ir::OpDef& def,
                                               ir::AttrDict attrs, std::span<const Type> operands,
                                               size_t num_results, int64_t target) {
  const auto& names = def.info->operands;
  if (!def.decompose || operands.size() > names.size() || num_results > def.info->results.size())
    return ir::Unsupported(fmt::format("{}: no body in ONNX", def.name()));
  ir::Program scratch(context);
  ir::Rewriter builder(&scratch);
  ir::OperationState state{.opcode = def.opcode, .attrs = attrs};
  ir::Strings inputs, outputs;
  for (size_t i = 0; i < operands.size(); ++i) {
    state.operands.emplace_back();
    if (!operands[i]) continue;
    inputs.emplace_back(names[i].name);
    state.operands[i] = builder.AddArgument(scratch.body(), operands[i]);
  }
  Operation op;
  std::string error;
  if (!builder.TryCreate(std::move(state), num_results, &op, &error))
    return ir::InvalidArgument(error);
  WEFT_RETURN_IF_ERROR(ir::VerifyOperation(op));  // a body may rely on what the op states
  std::vector<std::pair<std::string, Value>> returned;
  for (uint32_t i = 0; i < num_results; ++i) {
    outputs.emplace_back(def.info->results[i].name);
    returned.emplace_back(outputs.back(), op.result(i));
  }
  builder.Return(std::move(returned));
  WEFT_RETURN_IF_ERROR(ExpandFusedOps(&scratch));
  WEFT_RETURN_IF_ERROR(ExpandNewOperators(&scratch, target));

  pb::GraphProto graph;
  GraphWriter writer(GraphWriter::Constants::kNodes, target, nullptr);
  WEFT_RETURN_IF_ERROR(writer.Write(scratch.body(), inputs, outputs, &graph));
  pb::FunctionProto function;
  function.set_domain(std::string(kFusedDomain));
  for (const std::string& name : inputs) function.add_input(name);
  for (const std::string& name : outputs) function.add_output(name);
  function.mutable_node()->Swap(graph.mutable_node());
  auto* opset = function.add_opset_import();
  opset->set_domain("");
  opset->set_version(target);
  function.set_doc_string(DocString(def, attrs));
  return function;
}

FusedFunctionTable::FusedFunctionTable(ir::Program& program, int64_t target) : target_(target) {
  ir::Walk(program, [&](Operation op) {
    std::string_view name = op.name();
    if (!name.starts_with(kFusedDomain)) return;
    name.remove_prefix(kFusedDomain.size());
    if (name.starts_with('.')) names_.emplace(name.substr(1));
  });
}

absl::StatusOr<std::string> FusedFunctionTable::FunctionFor(Operation op) {
  std::vector<uint32_t> type_ids;
  std::vector<Type> types;
  for (Value value : op.operands()) {
    types.push_back(value ? value.type() : Type());
    type_ids.push_back(types.back().id());
  }
  while (!types.empty() && !types.back()) {
    types.pop_back();
    type_ids.pop_back();
  }
  const Variant variant(op.opcode().id(), op.attrs().id(), type_ids, op.num_results());
  if (const auto it = by_variant_.find(variant); it != by_variant_.end()) return it->second;
  WEFT_ASSIGN_OR_RETURN(
      pb::FunctionProto function,
      MakeFunction(op.context(), *op.def(), op.attrs(), types, op.num_results(), target_));
  std::string& name = by_content_[function.SerializeAsString()];
  if (name.empty()) {
    const std::string stem = VariantName(op);
    name = stem;
    for (int i = 2; !names_.insert(name).second; ++i) name = fmt::format("{}_{}", stem, i);
    function.set_name(name);
    functions_.push_back(std::move(function));
  }
  return by_variant_[variant] = name;
}

bool FusedFunctionReader::ReadClaim(const pb::FunctionProto& function, Claim* claim) const {
  const std::vector<std::string_view> lines = SplitAt(function.doc_string(), '\n');
  if (lines.empty() || !lines[0].starts_with(kDocMarker)) return false;
  const std::string_view op_name = lines[0].substr(kDocMarker.size());
  const std::vector<const ir::OpDef*> ops = context_->Ops();  // looking it up would intern it
  const auto it =
      std::find_if(ops.begin(), ops.end(), [&](const auto* def) { return def->name() == op_name; });
  if (it == ops.end() || !(*it)->info->onnx.empty() || !(*it)->decompose) return false;
  claim->def = *it;
  std::vector<ir::NamedAttribute> attributes;
  for (size_t i = 1; i < lines.size(); ++i) {
    const size_t first = lines[i].find(' ');
    if (first == std::string_view::npos) return false;
    const size_t second = std::min(lines[i].find(' ', first + 1), lines[i].size());
    const std::string_view kind = lines[i].substr(first + 1, second - first - 1);
    const std::string_view text = lines[i].substr(std::min(second + 1, lines[i].size()));
    const Attribute value = ParseAttribute(context_, kind, text);
    if (!value) return false;
    attributes.push_back({ir::Name(lines[i].substr(0, first)), value});
  }
  const absl::StatusOr<ir::AttrDict> attrs = FitToFields(context_, *claim->def, attributes);
  if (!attrs.ok()) return false;
  claim->attrs = *attrs;
  const auto& operands = claim->def->info->operands;
  for (const std::string& input : function.input()) {
    const size_t previous = claim->positions.empty() ? 0 : claim->positions.back() + 1;
    size_t i = previous;
    while (i < operands.size() && operands[i].name != input) ++i;
    if (i == operands.size()) return false;
    claim->positions.push_back(i);
  }
  return true;
}

bool FusedFunctionReader::IsTrue(const pb::FunctionProto& function, const Claim& claim,
                                 std::span<const Type> operands) const {
  if (function.opset_import_size() != 1) return false;
  const int64_t target = function.opset_import(0).version();
  if (target < kOldestTargetOpset || target > kOpset) return false;
  absl::StatusOr<pb::FunctionProto> expected =
      MakeFunction(context_, *claim.def, claim.attrs, operands,
                   static_cast<size_t>(function.output_size()), target);
  if (!expected.ok()) return false;
  expected->set_name(function.name());
  pb::FunctionProto actual = function;
  for (pb::NodeProto& node : *actual.mutable_node())
    for (pb::AttributeProto& attribute : *node.mutable_attribute())
      if (attribute.has_t() && !tensors_->RestorePayload(attribute.mutable_t(), kMaxConstant).ok())
        return false;
  return expected->SerializeAsString() == actual.SerializeAsString();
}

Operation FusedFunctionReader::Recognise(const pb::FunctionProto& function,
                                         const std::vector<Value>& operands,
                                         ir::Rewriter& builder) {
  auto it = claims_.find(&function);
  if (it == claims_.end()) {
    Claim claim;
    if (!ReadClaim(function, &claim)) claim.def = nullptr;
    it = claims_.emplace(&function, std::move(claim)).first;
  }
  const Claim& claim = it->second;
  if (!claim.def || operands.size() != claim.positions.size()) return {};
  ir::OperationState state{.opcode = claim.def->opcode, .attrs = claim.attrs};
  std::vector<Type> types;
  std::vector<uint32_t> type_ids;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!operands[i]) return {};
    state.operands.resize(claim.positions[i] + 1);
    state.operands.back() = operands[i];
  }
  for (Value value : state.operands) {
    types.push_back(value ? value.type() : Type());
    type_ids.push_back(types.back().id());
  }
  const auto [verdict, is_new] = verdicts_.try_emplace(std::pair(&function, type_ids), false);
  if (is_new) verdict->second = IsTrue(function, claim, types);
  if (!verdict->second) return {};
  Operation op;
  std::string error;
  const auto num_results = static_cast<size_t>(function.output_size());
  if (!builder.TryCreate(std::move(state), num_results, &op, &error)) return {};
  return op;
}

absl::Status ExpandFusedOps(ir::Program* program) { return ExpandAll(program, &NeedsFunction); }

bool HasBodyInRegion(ir::Program& program) {
  bool found = false;
  ir::Walk(program, [&](Operation op) { found |= IsBodyInRegion(op); });
  return found;
}

absl::Status ExpandBodiesInRegions(ir::Program* program) {
  return ExpandAll(program, &IsBodyInRegion);
}

absl::Status ExpandNewOperators(ir::Program* program, int64_t target) {
  return ExpandAll(program, [&](Operation op) { return IsExpandedFor(op, target); });
}

}  // namespace weft::onnx
