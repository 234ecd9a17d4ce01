// The shipped models: imported, verified, exported, imported again; and broken in every way that
// changing single bytes can break one.
#include "unittests/onnx/model_builder.h"
#include "unittests/test_paths.h"

namespace weft::onnx {
namespace {

std::string ModelPath(const std::string& name) {
  return fixtures::TestData("/models/") + name + ".onnx";
}

std::map<std::string, int> CountOps(ir::Program& program) {
  std::map<std::string, int> counts;
  for (ir::Operation op : program.body()) ++counts[std::string(op.name())];
  return counts;
}

class Models : public testing::TestWithParam<const char*> {};

TEST_P(Models, ComeBackAsTheyWere) {
  ir::IrContext context;
  auto first = ImportOnnx(context, ModelPath(GetParam()));
  ASSERT_EQ(first.status().message(), "");
  EXPECT_EQ(ir::Verify(**first).message(), "");
  TempDir dir;
  ASSERT_EQ(ExportOnnx(**first, dir / "out.onnx").message(), "");
  auto second = ImportOnnx(context, dir / "out.onnx");
  ASSERT_EQ(second.status().message(), "");
  EXPECT_EQ(Describe(**first), Describe(**second));
  EXPECT_EQ((*first)->module().attrs().Get("input_names"),
            (*second)->module().attrs().Get("input_names"));

  // Written again, the file is the same byte for byte.
  ASSERT_EQ(ExportOnnx(**second, dir / "again.onnx").message(), "");
  EXPECT_TRUE(ReadFile(dir / "out.onnx") == ReadFile(dir / "again.onnx"));
}

TEST_P(Models, KeepTheirWeightsBitForBit) {
  pb::ModelProto given, written;
  ASSERT_TRUE(given.ParseFromString(ReadFile(ModelPath(GetParam()))));
  ir::IrContext context;
  auto program = ImportOnnx(context, ModelPath(GetParam()));
  ASSERT_EQ(program.status().message(), "");
  written = ExportToProto(**program);
  std::map<std::string, const pb::TensorProto*> tensors;
  for (const auto& tensor : written.graph().initializer()) tensors[tensor.name()] = &tensor;
  for (const auto& tensor : given.graph().initializer()) {
    ASSERT_EQ(tensors.count(tensor.name()), 1u) << tensor.name();
    EXPECT_TRUE(tensors[tensor.name()]->raw_data() == tensor.raw_data()) << tensor.name();
  }
}

INSTANTIATE_TEST_SUITE_P(Shipped, Models,
                         testing::Values("bert_tiny", "gemma_decode", "gemma_prefill",
                                         "paddle_attn"));

TEST(BertTiny, HasTheNodesOfTheFile) {
  ir::IrContext context;
  auto program = ImportOnnx(context, ModelPath("bert_tiny"));
  ASSERT_EQ(program.status().message(), "");
  const std::map<std::string, int> counts = CountOps(**program);
  EXPECT_EQ(counts.at("onnx.Add"), 30);
  EXPECT_EQ(counts.at("onnx.MatMul"), 16);
  EXPECT_EQ(counts.at("onnx.ReduceMean"), 10);
  EXPECT_EQ(counts.at("onnx.Erf"), 2);
  EXPECT_EQ(counts.count("onnx.Constant"), 0u);
}

// A small linear congruential generator: the same bytes on every machine.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  size_t Below(size_t bound) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<size_t>(state_ >> 33) % bound;
  }

 private:
  uint64_t state_;
};

// Reads the bytes; whatever comes of it, it is a program that verifies or a one-line error.
void ExpectNoHarm(const std::string& bytes) {
  ir::IrContext context;
  auto program = ImportOnnxBytes(context, std::as_bytes(std::span(bytes)));
  if (program.ok()) {
    EXPECT_EQ(ir::Verify(**program).message(), "");
    return;
  }
  const std::string_view message = ir::Message(program.status());
  EXPECT_FALSE(message.empty());
  EXPECT_EQ(message.find('\n'), std::string_view::npos);
  EXPECT_TRUE(program.status().code() == absl::StatusCode::kInvalidArgument ||
              program.status().code() == absl::StatusCode::kUnimplemented)
      << program.status().ToString();
}

// bert_tiny with its weights cut down to their first rows would not be bert_tiny: instead the bytes
// to change are chosen where the graph is, for its weights say nothing that could be wrong.
std::vector<size_t> GraphBytes(const std::string& bytes) {
  pb::ModelProto model;
  EXPECT_TRUE(model.ParseFromString(bytes));
  std::vector<bool> is_weight(bytes.size());
  for (const auto& tensor : model.graph().initializer()) {
    if (tensor.raw_data().size() < 64) continue;
    const size_t at = bytes.find(tensor.raw_data());
    std::fill_n(is_weight.begin() + static_cast<ptrdiff_t>(at), tensor.raw_data().size(), true);
  }
  std::vector<size_t> positions;
  for (size_t i = 0; i < bytes.size(); ++i)
    if (!is_weight[i]) positions.push_back(i);
  return positions;
}

TEST(Mutation, ChangedBytesDoNoHarm) {
  const std::string original = ReadFile(ModelPath("bert_tiny"));
  const std::vector<size_t> positions = GraphBytes(original);
  ASSERT_LT(positions.size(), original.size() / 10);
  Random random(1);
  for (int i = 0; i < 300; ++i) {
    std::string bytes = original;
    const size_t changes = 1 + random.Below(3);
    for (size_t j = 0; j < changes; ++j)
      bytes[positions[random.Below(positions.size())]] = static_cast<char>(random.Below(256));
    SCOPED_TRACE(i);
    ExpectNoHarm(bytes);
  }
}

TEST(Mutation, EveryByteOfASmallModelMayBeAnyOfAFew) {
  const std::string original = ReadFile(ModelPath("gemma_decode"));
  for (size_t i = 0; i < original.size(); i += 3) {
    for (const char value : {'\0', '\x7f', '\xff', static_cast<char>(original[i] ^ 1)}) {
      std::string bytes = original;
      bytes[i] = value;
      SCOPED_TRACE(i);
      ExpectNoHarm(bytes);
    }
  }
}

TEST(Mutation, MissingAndRepeatedPiecesDoNoHarm) {
  const std::string original = ReadFile(ModelPath("gemma_decode"));
  Random random(2);
  for (int i = 0; i < 300; ++i) {
    const size_t from = random.Below(original.size()), length = 1 + random.Below(64);
    std::string bytes = original;
    if (random.Below(2) == 0) {
      bytes.erase(from, length);
    } else {
      bytes.insert(from, original.substr(random.Below(original.size()), length));
    }
    SCOPED_TRACE(i);
    ExpectNoHarm(bytes);
  }
}

}  // namespace
}  // namespace weft::onnx
