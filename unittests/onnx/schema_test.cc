// The onnx dialect against the signatures of ONNX's own operators: names, versions, operands, results, attributes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "ir/dialects/onnx.h"
#include "ir/dialects/onnx/control.h"
#include "tools/onnx/export/lowering.h"
#include "unittests/test_paths.h"

namespace weft::onnx {
namespace {

using ir::Arity;
using ir::Attribute;
using ir::AttrKind;

constexpr int64_t kDialectOpset = 27;

// A line of standard/operators.tsv, which operators.py describes.
struct Standard {
  int64_t since = 0;
  std::string mark;                               // "deprecated" or "function" or nothing
  std::string inputs, outputs;                    // a character for each, see Arities
  std::map<std::string, std::string> attributes;  // name -> "int=1", "ints?", "float!"
};

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

std::string Arities(const std::string& parameters) {
  std::string text;
  for (const std::string& name : Split(parameters, ' '))
    text += name.back() == '?' || name.back() == '*' ? name.back() : '1';
  return text;
}

// Of each operator the version that the dialect's opset has.
std::map<std::string, Standard> ReadStandard() {
  std::map<std::string, Standard> standard;
  std::ifstream file(fixtures::TestData("/onnx/standard/operators.tsv"));
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string> cells = Split(line, '\t');
    cells.resize(6);
    Standard row{std::stoll(cells[1]), cells[2], Arities(cells[3]), Arities(cells[4]), {}};
    for (const std::string& attribute : Split(cells[5], ' ')) {
      const size_t colon = attribute.find(':');
      row.attributes[attribute.substr(0, colon)] = attribute.substr(colon + 1);
    }
    Standard& newest = standard[cells[0]];
    if (row.since <= kDialectOpset && row.since > newest.since) newest = row;
  }
  return standard;
}

template <class Defs>
std::string Arities(const Defs& defs) {
  std::string text;
  for (const ir::OperandDef& d : defs)
    text += d.arity == Arity::kOptional ? '?' : d.arity == Arity::kVariadic ? '*' : '1';
  return text;
}

std::string KindName(AttrKind kind) {
  switch (kind) {
    case AttrKind::kFloat:
      return "float";
    case AttrKind::kInt:
    case AttrKind::kDataType:  // Cast's `to`
      return "int";
    case AttrKind::kString:
      return "string";
    case AttrKind::kInts:
      return "ints";
    case AttrKind::kFloats:
      return "floats";
    case AttrKind::kStrings:
      return "strings";
    case AttrKind::kDense:
      return "tensor";
    case AttrKind::kType:
      return "type_proto";
    default:
      return "another kind";
  }
}

// The kind, then ! when it is required, ? when it may be missing, or = and the default.
std::string AttributeText(ir::IrContext& context, const ir::FieldDef& field) {
  const std::string kind = KindName(field.kind);
  if (field.optional) return kind + "?";
  if (!field.make_default) return kind + "!";
  const Attribute value = field.make_default(context);
  switch (value.kind()) {
    case AttrKind::kFloat:
      return fmt::format("{}={:.6g}", kind, value.AsFloat());  // as the standard prints it
    case AttrKind::kInt:
      return fmt::format("{}={}", kind, value.AsInt());
    case AttrKind::kDataType:  // numbered as the standard does
      return fmt::format("{}={}", kind, static_cast<int>(value.AsDataType()));
    case AttrKind::kInts:
      return fmt::format("{}=['{}']", kind, fmt::join(value.AsInts(), "','"));
    case AttrKind::kString:
      return fmt::format("{}={}", kind, value.AsString());
    default:
      return kind + "=another kind";
  }
}

// Where the dialect differs on purpose.
void ApplyDeviations(const std::string& type, std::map<std::string, std::string>* attributes) {
  // Axes that are known are an attribute: ir/dialects/onnx/reduce.h.
  if (type.starts_with("Reduce")) attributes->emplace("axes", "ints?");
  // They speak of 8-bit floats only and are dropped for others: tools/onnx/import/adapters.cc.
  // One for each direction, of which there may be one only: Tanh is implied.
  if (type == "RNN") attributes->insert_or_assign("activations", "strings?");
  if (type == "Cast") {
    (*attributes)["saturate"] = "int?";
    (*attributes)["round_mode"] = "string?";
  }
}

TEST(OnnxSchema, EveryOpOfTheDialectIsAsTheStandardHasItInOpset27) {
  const std::map<std::string, Standard> standard = ReadStandard();
  ir::IrContext context;
  LoadOnnxDialect(context);
  size_t ops = 0;
  for (const ir::OpDef* def : context.Ops()) {
    const std::string type(def->info->onnx);
    if (type.empty() || !def->info->onnx_domain.empty()) continue;
    SCOPED_TRACE(type);
    ++ops;
    const auto it = standard.find(type);
    ASSERT_NE(it, standard.end());
    EXPECT_EQ(def->info->since, it->second.since);
    EXPECT_NE(it->second.mark, "deprecated");
    EXPECT_EQ(Arities(def->info->operands), it->second.inputs);
    EXPECT_EQ(Arities(def->info->results), it->second.outputs);
    std::map<std::string, std::string> expected = it->second.attributes, attributes;
    ApplyDeviations(type, &expected);
    for (const ir::FieldDef& field : def->fields)
      attributes[std::string(field.name.str())] = AttributeText(context, field);
    for (const std::string_view name : ir::ops::RegionNames(def->opcode))
      attributes[std::string(name)] = "graph!";
    EXPECT_EQ(attributes, expected);
  }
  EXPECT_GE(ops, 60u);
}

// Which ops have reference bodies though the standard defines them by themselves, or the other way
// round: a body is made of ops without regions and sequences.
const std::map<std::string, bool> kBodyDeviations = {
    {"InstanceNormalization", true},
    {"LinearAttention", false},  // a recurrence over tokens
    {"SequenceMap", false},
    {"TensorScatter", true},  // for files of older opsets, which lack it
};

TEST(OnnxSchema, FunctionsOfTheStandardHaveReferenceBodies) {
  const std::map<std::string, Standard> standard = ReadStandard();
  ir::IrContext context;
  LoadOnnxDialect(context);
  size_t bodies = 0;
  for (const ir::OpDef* def : context.Ops()) {
    const std::string type(def->info->onnx);
    if (type.empty() || !def->info->onnx_domain.empty()) continue;
    bool expected = standard.at(type).mark == "function";
    if (const auto it = kBodyDeviations.find(type); it != kBodyDeviations.end()) {
      EXPECT_NE(expected, it->second) << type << " deviates no more";
      expected = it->second;
    }
    EXPECT_EQ(def->decompose != nullptr, expected) << type;
    bodies += def->decompose != nullptr;
  }
  EXPECT_GE(bodies, 40u);
}

// What the exporter knows of operators that came after the oldest opset that it writes.
TEST(OnnxSchema, IntroducedInIsWhatTheStandardSays) {
  std::map<std::string, int64_t> first;
  std::ifstream file(fixtures::TestData("/onnx/standard/operators.tsv"));
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> cells = Split(line, '\t');
    const int64_t version = std::stoll(cells[1]);
    const auto [it, is_new] = first.emplace(cells[0], version);
    if (!is_new) it->second = std::min(it->second, version);
  }
  ASSERT_GT(first.size(), 190u);
  first["GroupNormalization"] = 21;  // what opset 18 called so is another operator
  for (const auto& [type, version] : first)
    EXPECT_EQ(IntroducedIn(type), std::max(version, kOldestTargetOpset)) << type;
}

}  // namespace
}  // namespace weft::onnx
