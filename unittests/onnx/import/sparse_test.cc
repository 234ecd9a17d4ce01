// Sparse tensors, which are read as dense ones.
#include "unittests/onnx/hostile/refusal.h"
#include "unittests/onnx/model_builder.h"

namespace weft::onnx {
namespace {

using Dims = ModelBuilder::Dims;

// y = the sparse tensor; `change` may spoil it.
ModelBuilder ModelOf(const Dims& dims, const std::vector<float>& values, const Dims& index_dims,
                     const std::vector<int64_t>& indices,
                     const std::function<void(pb::SparseTensorProto*)>& change = {}) {
  ModelBuilder m;
  auto* sparse = m.graph()->add_sparse_initializer();
  ModelBuilder::SetSparse(sparse, "w", dims, values, index_dims, indices);
  if (change) change(sparse);
  m.Output("y");
  m.Node("Identity", {"w"}, {"y"});
  return m;
}

TEST(Sparse, IndicesOfTheFlattenedTensor) {
  EXPECT_EQ(ImportAndDescribe(ModelOf({2, 3}, {7, 8, 9}, {3}, {0, 2, 4})),
            "y: f32[2,3] = onnx.Identity(f32[2,3](7,0,8,0,9,0))\n"
            "builtin.return(y)\n");
}

TEST(Sparse, IndicesByAxis) {
  EXPECT_EQ(ImportAndDescribe(ModelOf({2, 3}, {7, 8}, {2, 2}, {0, 1, 1, 2})),
            "y: f32[2,3] = onnx.Identity(f32[2,3](0,7,0,0,0,8))\n"
            "builtin.return(y)\n");
}

TEST(Sparse, WithoutValuesAllIsZero) {
  EXPECT_EQ(ImportAndDescribe(ModelOf({2}, {}, {0}, {})),
            "y: f32[2] = onnx.Identity(f32[2](0,0))\n"
            "builtin.return(y)\n");
}

TEST(Sparse, MayBeTheDefaultOfAnInput) {
  ModelBuilder m = ModelOf({2}, {7}, {1}, {1});
  m.Input("w", {2});
  ir::IrContext context;
  auto program = m.Import(context);
  ASSERT_EQ(program.status().message(), "");
  const auto attrs = (*program)->module().attrs_of<ir::ModuleOp>();
  EXPECT_EQ(attrs.input_names, ir::Strings{"w"});
  const ir::Attribute dense = (*program)->parameter("w");
  ASSERT_TRUE(dense);
  EXPECT_EQ(dense.elements<float>()[1], 7);
}

// Nodes that are in no order are sorted: the branches use their own x, not that of the last node.
TEST(Sparse, OfABranch) {
  ModelBuilder m;
  m.Input("c", {}, pb::TensorProto::BOOL);
  m.Output("z");
  m.Node("Relu", {"x"}, {"z"});
  pb::NodeProto* node = m.Node("If", {"c"}, {"y"});
  for (const char* name : {"then_branch", "else_branch"}) {
    auto* graph = AddAttribute(node, name, pb::AttributeProto::GRAPH)->mutable_g();
    graph->set_name(name);
    ModelBuilder::SetSparse(graph->add_sparse_initializer(), "x", {2}, {3}, {1}, {0});
    ModelBuilder::AddNode(graph->mutable_node(), "Identity", {"x"}, {"b"});
    graph->add_output()->set_name("b");
  }
  m.Node("Neg", {"y"}, {"x"});
  const std::string text = ImportAndDescribe(m);
  EXPECT_NE(text.find("f32[2](3,0)"), std::string::npos) << text;
}

TEST(Sparse, OfOtherElementTypes) {
  const auto text = [](int type, const std::vector<int32_t>& values) {
    return ImportAndDescribe(ModelOf({3}, {}, {static_cast<int64_t>(values.size())}, {},
                                     [&](pb::SparseTensorProto* sparse) {
                                       auto* list = sparse->mutable_values();
                                       list->clear_raw_data();
                                       list->set_data_type(type);
                                       list->set_dims(0, static_cast<int64_t>(values.size()));
                                       for (const int32_t v : values) list->add_int32_data(v);
                                       const std::vector<int64_t> at = {0, 2};
                                       sparse->mutable_indices()->set_raw_data(at.data(), 16);
                                     }));
  };
  EXPECT_TRUE(
      text(pb::TensorProto::INT8, {-1, 5}).starts_with("y: i8[3] = onnx.Identity(i8[3](-1,0,5))"));
  EXPECT_TRUE(text(pb::TensorProto::FLOAT16, {0x3c00, 0x4000})
                  .starts_with("y: f16[3] = onnx.Identity(f16[3](1,0,2))"));
}

TEST(Sparse, RefusesWhatIsNone) {
  TempDir dir;
  const auto refused = [&](const ModelBuilder& m, const std::string& expected) {
    const std::string path = dir.path() + "/m.onnx";
    WriteFile(path, m.Bytes());
    ExpectRefused(path, expected);
  };
  const std::string w = "initializer 'w': sparse: ";
  refused(ModelOf({2, 3}, {7}, {1}, {6}), w + "index [6] is outside of the tensor");
  refused(ModelOf({2, 3}, {7}, {1}, {-1}), w + "index [-1] is outside of the tensor");
  refused(ModelOf({2, 3}, {7}, {1, 2}, {0, 3}), w + "index [0,3] is outside of the tensor");
  refused(ModelOf({2, 3}, {7, 8}, {2}, {4, 4}), w + "index [4] is not after the one before it");
  refused(ModelOf({2, 3}, {7, 8}, {2, 2}, {1, 0, 0, 2}),
          w + "index [0,2] is not after the one before it");
  refused(ModelOf({2, 3}, {7, 8}, {1}, {4}),
          w + "indices of 2 values in 2 dimensions have the shape [1]");
  refused(ModelOf({2, 3}, {7}, {1, 3}, {0, 0, 0}),
          w + "indices of 1 values in 2 dimensions have the shape [1,3]");
  refused(ModelOf({0, 3}, {7}, {1}, {0}), w + "index [0] is outside of the tensor");
  refused(ModelOf({1 << 20, 1 << 20}, {7}, {1}, {0}), w + "more than 1073741824 bytes");
  refused(ModelOf({2}, {7}, {1}, {0},
                  [](pb::SparseTensorProto* sparse) { sparse->mutable_values()->add_dims(1); }),
          w + "its values are no list");
  refused(ModelOf({2}, {7}, {1}, {0},
                  [](pb::SparseTensorProto* sparse) {
                    sparse->mutable_indices()->set_data_type(pb::TensorProto::DOUBLE);
                  }),
          w + "its indices are f64, expected i64");
  refused(ModelOf({2}, {7}, {2}, {0}), w + "its indices: holds 8 bytes but its type needs 16");
  refused(
      ModelOf({2}, {7}, {1}, {0}, [](pb::SparseTensorProto* sparse) { sparse->set_dims(0, -2); }),
      "initializer 'w': has a dimension of size -2");
}

TEST(Sparse, TogetherHaveALimit) {
  ModelBuilder m = ModelOf({4}, {7}, {1}, {0});
  ModelBuilder::SetSparse(m.graph()->add_sparse_initializer(), "v", {4}, {7}, {1}, {0});
  const std::string bytes = m.Bytes();
  const auto import = [&](size_t limit) {
    ImportOptions options;
    options.limits.max_sparse_bytes = limit;
    ir::IrContext context;
    return std::string(
        ImportOnnxBytes(context, std::as_bytes(std::span(bytes)), options).status().message());
  };
  EXPECT_EQ(import(32), "");
  EXPECT_EQ(import(31), "initializer 'v': sparse: more than 31 bytes, all such tensors together");
}

}  // namespace
}  // namespace weft::onnx
