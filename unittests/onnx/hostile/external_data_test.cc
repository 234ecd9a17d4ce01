// External data that leads elsewhere.
#include <sys/stat.h>

#include <filesystem>

#include "unittests/onnx/hostile/refusal.h"

namespace weft::onnx {
namespace {

using Tensor = pb::TensorProto;

class HostileExternalData : public testing::Test {
 protected:
  HostileExternalData() {
    WriteFile(dir / "secret.bin", std::string(64, 's'));
    std::filesystem::create_directory(dir / "model");
    std::filesystem::create_directory(dir / "model/folder");
    WriteFile(dir / "model/w.bin", std::string(64, 'w'));
    std::filesystem::create_symlink(dir / "secret.bin", dir / "model/link.bin");
    std::filesystem::create_symlink(dir / "model", dir / "model/loop");
    std::filesystem::create_symlink("/dev/zero", dir / "model/zero");
    EXPECT_EQ(mkfifo((dir / "model/pipe").c_str(), 0600), 0);
  }

  void Expect(const std::vector<std::pair<std::string, std::string>>& entries,
              const std::string& expected, const std::vector<int64_t>& dims = {4}) {
    ModelBuilder m = Small();
    Tensor* tensor = m.graph()->add_initializer();
    tensor->set_name("w");
    for (int64_t d : dims) tensor->add_dims(d);
    tensor->set_data_type(Tensor::FLOAT);
    tensor->set_data_location(Tensor::EXTERNAL);
    for (const auto& [key, value] : entries) {
      auto* entry = tensor->add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    }
    WriteFile(dir / "model/m.onnx", m.Bytes());
    ExpectRefused(dir / "model/m.onnx", expected);
  }

  TempDir dir;
};

TEST_F(HostileExternalData, PathsThatLeaveTheFolder) {
  Expect({{"location", "../secret.bin"}}, "leaves the folder of the model");
  Expect({{"location", "folder/../../secret.bin"}}, "leaves the folder of the model");
  Expect({{"location", "folder/.."}}, "names no file");
  Expect({{"location", dir / "secret.bin"}}, "is absolute");
  Expect({{"location", "/etc/passwd"}}, "is absolute");
  Expect({{"location", ""}}, "is empty");
  Expect({}, "is empty");
  Expect({{"location", "./."}}, "names no file");
  Expect({{"location", std::string("w.bin\0x", 7)}}, "holds a zero byte");
  std::string deep = "w.bin";
  for (int i = 0; i < 100; ++i) deep = "folder/" + deep;
  Expect({{"location", deep}}, "is too deep");
}

TEST_F(HostileExternalData, ThatIsNoRegularFile) {
  Expect({{"location", "link.bin"}}, "symbolic link");
  Expect({{"location", "loop/w.bin"}}, "symbolic link");
  Expect({{"location", "zero"}}, "symbolic link");
  Expect({{"location", "w.bin/x"}}, "a file that is no folder");
  Expect({{"location", "folder"}}, "is not a regular file");
  Expect({{"location", "pipe"}}, "is not a regular file");
  Expect({{"location", "missing"}}, "No such file or directory");
}

TEST_F(HostileExternalData, ThatHasOtherNames) {
  std::filesystem::create_hard_link(dir / "secret.bin", dir / "model/hard.bin");
  Expect({{"location", "hard.bin"}}, "has 2 names");
  ir::IrContext context;
  ImportOptions options;
  options.limits.allow_hard_links = true;
  EXPECT_EQ(ImportOnnx(context, dir / "model/m.onnx", options).status().message(), "");
}

TEST_F(HostileExternalData, RangesBeyondTheFile) {
  const std::string location = "w.bin";
  Expect({{"location", location}, {"offset", "49"}}, "which has 64 bytes");
  Expect({{"location", location}, {"offset", "9223372036854775807"}}, "which has 64 bytes");
  Expect({{"location", location}, {"offset", "-1"}}, "expected a number");
  Expect({{"location", location}, {"offset", "99999999999999999999"}}, "expected a number");
  Expect({{"location", location}, {"length", "15"}}, "holds 15 bytes but its type needs 16");
  Expect({{"location", location}, {"length", "a lot"}}, "expected a number");
  Expect({{"location", location}}, "which has 64 bytes", {int64_t{1} << 40});
}

}  // namespace
}  // namespace weft::onnx
