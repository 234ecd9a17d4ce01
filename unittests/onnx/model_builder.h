// Builds small ONNX models for tests and says in a line per op what was imported.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ir/analysis/constant.h"
#include "ir/analysis/verifier.h"
#include "ir/dialects/builtin.h"
#include "ir/program.h"
#include "tools/onnx/export.h"
#include "tools/onnx/import.h"
#include "tools/onnx/proto/proto.h"
#include "unittests/temp_dir.h"

namespace weft::onnx {

class ModelBuilder {
 public:
  explicit ModelBuilder(int64_t opset = 17) {
    model.set_ir_version(8);
    model.mutable_graph()->set_name("test");
    Import("", opset);
  }
  void Import(const std::string& domain, int64_t version) {
    auto* import = model.add_opset_import();
    import->set_domain(domain);
    import->set_version(version);
  }
  pb::GraphProto* graph() { return model.mutable_graph(); }

  using Dims = std::vector<int64_t>;
  static void SetInfo(pb::ValueInfoProto* info, const std::string& name, const Dims& dims,
                      int type = pb::TensorProto::FLOAT) {
    info->set_name(name);
    auto* tensor = info->mutable_type()->mutable_tensor_type();
    tensor->set_elem_type(type);
    tensor->mutable_shape();
    for (int64_t d : dims) {
      auto* dim = tensor->mutable_shape()->add_dim();
      if (d >= 0) dim->set_dim_value(d);
      if (d < -1) dim->set_dim_param(fmt::format("n{}", -d));
    }
  }
  void Input(const std::string& name, const Dims& dims, int type = pb::TensorProto::FLOAT) {
    SetInfo(graph()->add_input(), name, dims, type);
  }
  void Output(const std::string& name, const Dims& dims, int type = pb::TensorProto::FLOAT) {
    SetInfo(graph()->add_output(), name, dims, type);
  }
  // An output of unknown type.
  void Output(const std::string& name) { graph()->add_output()->set_name(name); }

  template <class T>
  static void SetTensor(pb::TensorProto* tensor, const std::string& name, const Dims& dims,
                        const std::vector<T>& values) {
    if (!name.empty()) tensor->set_name(name);
    for (int64_t d : dims) tensor->add_dims(d);
    tensor->set_data_type(std::is_same_v<T, float> ? pb::TensorProto::FLOAT
                                                   : pb::TensorProto::INT64);
    tensor->set_raw_data(values.data(), values.size() * sizeof(T));
  }
  template <class T>
  pb::TensorProto* Initializer(const std::string& name, const Dims& dims,
                               const std::vector<T>& values) {
    SetTensor(graph()->add_initializer(), name, dims, values);
    return graph()->mutable_initializer(graph()->initializer_size() - 1);
  }
  // `indices` of the shape `index_dims`.
  static void SetSparse(pb::SparseTensorProto* sparse, const std::string& name, const Dims& dims,
                        const std::vector<float>& values, const Dims& index_dims,
                        const std::vector<int64_t>& indices) {
    SetTensor(sparse->mutable_values(), name, {static_cast<int64_t>(values.size())}, values);
    SetTensor(sparse->mutable_indices(), "", index_dims, indices);
    for (int64_t d : dims) sparse->add_dims(d);
  }
  static pb::NodeProto* AddNode(google::protobuf::RepeatedPtrField<pb::NodeProto>* nodes,
                                const std::string& op_type, const std::vector<std::string>& inputs,
                                const std::vector<std::string>& outputs) {
    pb::NodeProto* node = nodes->Add();
    const size_t dot = op_type.rfind('.');
    node->set_op_type(dot == std::string::npos ? op_type : op_type.substr(dot + 1));
    if (dot != std::string::npos) node->set_domain(op_type.substr(0, dot));
    for (const auto& name : inputs) node->add_input(name);
    for (const auto& name : outputs) node->add_output(name);
    return node;
  }
  // "Add" or "some.domain.Add".
  pb::NodeProto* Node(const std::string& op_type, const std::vector<std::string>& inputs,
                      const std::vector<std::string>& outputs) {
    return AddNode(graph()->mutable_node(), op_type, inputs, outputs);
  }

  std::string Bytes() const { return model.SerializeAsString(); }
  absl::StatusOr<std::unique_ptr<ir::Program>> Import(ir::IrContext& context) const {
    const std::string bytes = Bytes();
    return ImportOnnxBytes(context, std::as_bytes(std::span(bytes)));
  }

  pb::ModelProto model;
};

inline pb::AttributeProto* AddAttribute(pb::NodeProto* node, const std::string& name,
                                        pb::AttributeProto::AttributeType type) {
  pb::AttributeProto* attribute = node->add_attribute();
  attribute->set_name(name);
  attribute->set_type(type);
  return attribute;
}
inline void SetInt(pb::NodeProto* node, const std::string& name, int64_t value) {
  AddAttribute(node, name, pb::AttributeProto::INT)->set_i(value);
}
inline void SetFloat(pb::NodeProto* node, const std::string& name, float value) {
  AddAttribute(node, name, pb::AttributeProto::FLOAT)->set_f(value);
}
inline void SetString(pb::NodeProto* node, const std::string& name, const std::string& value) {
  AddAttribute(node, name, pb::AttributeProto::STRING)->set_s(value);
}
inline void SetInts(pb::NodeProto* node, const std::string& name,
                    const std::vector<int64_t>& values) {
  auto* attribute = AddAttribute(node, name, pb::AttributeProto::INTS);
  for (int64_t v : values) attribute->add_ints(v);
}
inline void SetFloats(pb::NodeProto* node, const std::string& name,
                      const std::vector<float>& values) {
  auto* attribute = AddAttribute(node, name, pb::AttributeProto::FLOATS);
  for (float v : values) attribute->add_floats(v);
}

// --- description ----------------------------------------------------------------------

inline std::string DescribeAttribute(ir::Attribute a) {
  using ir::AttrKind;
  switch (a.kind()) {
    case AttrKind::kBool:
      return a.AsBool() ? "true" : "false";
    case AttrKind::kInt:
      return fmt::format("{}", a.AsInt());
    case AttrKind::kFloat:
      return fmt::format("{}f", a.AsFloat());
    case AttrKind::kString:
      return "'" + a.AsString() + "'";
    case AttrKind::kInts:
      return fmt::format("[{}]", fmt::join(a.AsInts(), ","));
    case AttrKind::kFloats:
      return fmt::format("[{}]f", fmt::join(a.AsFloats(), ","));
    case AttrKind::kStrings:
      return fmt::format("['{}']", fmt::join(a.AsStrings(), "','"));
    case AttrKind::kDataType:
      return std::string(ir::DataTypeName(a.AsDataType()));
    case AttrKind::kDense: {
      const ir::Type type = a.dense_type();
      if (type.NumElements() > 8 || type.dtype() == ir::DataType::kString)
        return fmt::format("dense {}", type.ToString());
      std::vector<double> values;
      for (int64_t i = 0; i < type.NumElements(); ++i) values.push_back(ir::DenseElement(a, i));
      return fmt::format("{}{}{}", ir::DataTypeName(type.dtype()), ir::ToString(type.dims()),
                         fmt::format("({})", fmt::join(values, ",")));
    }
    default:
      return "?";
  }
}

// One line per op: "y: f32[2,3] = onnx.Clip(x, f32[](0), f32[](6)) {attrs}". Small constants stand
// where they are used; values without a name are numbered. Regions are indented.
class Describer {
 public:
  std::string Describe(ir::Block block, const std::string& indent = "") {
    std::string out;
    for (ir::Operation op : block) out += Line(op, indent);
    return out;
  }

 private:
  std::string NameOf(ir::Value v) {
    if (!v) return "-";
    if (!v.name().empty()) return std::string(v.name());
    auto [it, is_new] = numbers_.try_emplace(v.id(), numbers_.size());
    (void)is_new;
    return fmt::format("%{}", it->second);
  }
  std::string Use(ir::Value v) {
    if (v && !v.IsBlockArgument() && v.DefiningOp().Is<ir::ConstantOp>())
      return DescribeAttribute(v.DefiningOp().attr("value"));
    return NameOf(v);
  }
  std::string Line(ir::Operation op, const std::string& indent) {
    if (op.Is<ir::ConstantOp>()) return "";
    std::vector<std::string> results, operands, attrs;
    for (ir::Value v : op.results()) {
      const ir::Type t = v.type();
      std::string type = t.ToString();
      if (t.HasRank())
        type = fmt::format("{}{}", ir::DataTypeName(t.dtype()), ir::ToString(t.dims()));
      results.push_back(NameOf(v) + ": " + type);
    }
    for (ir::Value v : op.operands()) operands.push_back(Use(v));
    for (const ir::NamedAttribute& a : op.attrs())
      attrs.push_back(fmt::format("{}={}", a.name.str(), DescribeAttribute(a.value)));
    std::string out =
        fmt::format("{}{}{}{}({}){}\n", indent, fmt::join(results, ", "),
                    results.empty() ? "" : " = ", op.name(), fmt::join(operands, ", "),
                    attrs.empty() ? "" : fmt::format(" {{{}}}", fmt::join(attrs, ", ")));
    for (uint32_t i = 0; i < op.num_regions(); ++i) {
      std::vector<std::string> arguments;
      for (ir::Value v : op.region(i).front().arguments()) arguments.push_back(NameOf(v));
      out += fmt::format("{} ({}):\n", indent, fmt::join(arguments, ", "));
      out += Describe(op.region(i).front(), indent + "  ");
    }
    return out;
  }
  std::map<uint32_t, size_t> numbers_;
};

inline std::string Describe(ir::Program& program) { return Describer().Describe(program.body()); }

inline std::string ImportAndDescribe(const ModelBuilder& model) {
  ir::IrContext context;
  auto program = model.Import(context);
  if (!program.ok()) return program.status().ToString();
  EXPECT_EQ(ir::Verify(**program).message(), "");
  return Describe(**program);
}

// --- files ------------------------------------------------------------------------------

using fixtures::TempDir;

inline void WriteFile(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}
inline std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// The exported model, its weights in place.
inline pb::ModelProto ExportToProto(ir::Program& program, const ExportOptions& options = {}) {
  TempDir dir;
  const absl::Status status = ExportOnnx(program, dir / "out.onnx", options);
  EXPECT_EQ(status.message(), "");
  pb::ModelProto model;
  EXPECT_TRUE(model.ParseFromString(ReadFile(dir / "out.onnx")));
  return model;
}

// Import, export, import again; expects the same ops, names and types both times.
inline std::string RoundTrip(const ModelBuilder& model) {
  ir::IrContext context;
  auto first = model.Import(context);
  if (!first.ok()) return first.status().ToString();
  const std::string bytes = ExportToProto(**first).SerializeAsString();
  auto second = ImportOnnxBytes(context, std::as_bytes(std::span(bytes)));
  if (!second.ok()) return second.status().ToString();
  EXPECT_EQ(ir::Verify(**second).message(), "");
  EXPECT_EQ(Describe(**first), Describe(**second));
  return Describe(**second);
}

}  // namespace weft::onnx
