// Ops of the programs beside the tests with operands that are not quite those: what Infer accepts the
// body must be able to take, or to decline.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "ir/analysis/constant.h"
#include "ir/analysis/reference_body.h"
#include "ir/text/parser.h"
#include "ir/walk.h"
#include "unittests/ir/dialects/infer_fixture.h"
#include "unittests/test_paths.h"

namespace weft::ir {
namespace {

class AlteredOperands : public InferTest {
 protected:
  template <class T>
  T OneOf(std::initializer_list<T> values) {
    return values.begin()[random_() % values.size()];
  }

  Type Altered(Type type) {
    if (!type.IsTensor()) return context.TensorType(DataType::kF32, {1});
    if (random_() % 4 == 0) {
      const auto dtype = OneOf({DataType::kF32, DataType::kF16, DataType::kI64, DataType::kI32,
                                DataType::kU8, DataType::kI8, DataType::kBool, DataType::kString});
      return type.HasRank() ? context.TensorType(dtype, type.dims())
                            : context.UnrankedTensorType(dtype);
    }
    if (random_() % 8 == 0 && type.HasRank() && type.rank() < 4) {
      Shape ones(type.rank(), 1);
      ones.insert(ones.end(), type.dims().begin(), type.dims().end());
      return context.TensorType(type.dtype(), random_() % 2 ? ones : Shape(2, 1));
    }
    if (!type.HasRank() || random_() % 8 == 0) return context.UnrankedTensorType(type.dtype());
    Shape dims(type.dims().begin(), type.dims().end());
    const size_t at = dims.empty() ? 0 : random_() % dims.size();
    switch (dims.empty() ? 1 : random_() % 4) {
      case 0:
        dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(at));
        break;
      case 1:
        dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(at),
                    OneOf<int64_t>({1, 1, 2, n, kUnknownDim}));
        break;
      default:
        dims[at] = OneOf<int64_t>({0, 1, dims[at] + 1, n, kUnknownDim, kUnknownDim});
    }
    return context.TensorType(type.dtype(), dims);
  }

  AttrDict Altered(AttrDict attrs, const OpDef& def) {
    if (def.fields.empty()) return attrs;
    const FieldDef& field = def.fields[random_() % def.fields.size()];
    const auto number = [&] { return OneOf<int64_t>({0, 1, 2, 3, -1, -2, INT64_MAX, INT64_MIN}); };
    Attribute value;
    switch (field.kind) {
      case AttrKind::kInt:
        value = context.IntAttr(number());
        break;
      case AttrKind::kBool:
        value = context.BoolAttr(random_() % 2 == 0);
        break;
      case AttrKind::kFloat:
        value = context.FloatAttr(static_cast<float>(number()));
        break;
      case AttrKind::kInts: {
        Ints ints;
        if (const Attribute old = attrs.Get(field.name)) ints = old.AsInts();
        if (!ints.empty()) ints[random_() % ints.size()] = number();
        if (random_() % 4 == 0) ints.push_back(1);
        value = context.IntsAttr(ints);
        break;
      }
      case AttrKind::kString:
        if (field.enumerators.empty()) return attrs;
        value = context.StringAttr(field.enumerators[random_() % field.enumerators.size()]);
        break;
      default:
        return attrs;
    }
    return context.With(attrs, field.name, value);
  }

  // Whether there is a body for op with some of it altered.
  bool BuildsBody(Operation op) {
    Program altered(&context);
    Builder builder(&altered);
    OperationState state{.opcode = op.opcode(), .attrs = op.attrs()};
    const size_t changed = random_() % (op.num_operands() + 2);
    const size_t also_changed = random_() % (op.num_operands() + 2);
    for (uint32_t i = 0; i < op.num_operands(); ++i) {
      const Value v = op.operand(i);
      const Attribute dense = v ? ConstantValue(v) : Attribute();
      const bool alters = i == changed || i == also_changed;
      if (!v || (alters && random_() % 8 == 0)) {
        state.operands.emplace_back();
      } else if (dense && !alters) {
        state.operands.push_back(builder.Constant(dense));
      } else {
        state.operands.push_back(builder.AddInput("x", alters ? Altered(v.type()) : v.type()));
      }
    }
    if (changed == op.num_operands()) state.attrs = Altered(state.attrs, *op.def());
    Operation copy;
    std::string error;
    const std::vector<Value> operands = state.operands;
    if (!builder.TryCreate(std::move(state), op.num_results(), &copy, &error)) return false;
    return VerifyOperation(copy).ok() && !BuildReferenceBody(builder, copy, operands).empty();
  }

  std::mt19937 random_{11};
};

// The text of the programs in a file: of a golden test's the one before and the one after.
std::vector<std::string> ProgramsIn(const std::filesystem::path& file) {
  std::ifstream in(file);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  std::vector<std::string> programs;
  for (size_t at = text.find("\nmodule "), next; at != std::string::npos; at = next) {
    next = text.find("\nmodule ", at + 1);
    programs.push_back(text.substr(at, next - at));
  }
  return programs;
}

TEST_F(AlteredOperands, BodiesSurviveWhatTheirOpsAccept) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(fixtures::TestData("")))
    if (entry.path().extension() == ".ir") files.push_back(entry.path());
  std::sort(files.begin(), files.end());  // the same order everywhere
  std::set<std::string> seen;             // ops by what they are and read
  size_t bodies = 0;
  for (const auto& file : files) {
    for (const std::string& text : ProgramsIn(file)) {
      auto program = ParseProgram(context, text);
      if (!program.ok()) continue;  // as its test expects
      Walk(**program, [&](Operation op) {
        if (!op.def() || !op.def()->decompose || op.num_regions() > 0) return;
        std::string key = fmt::format("{} {} ", op.name(), op.attrs().id());
        for (const Value v : op.operands()) key += v ? v.type().ToString() : "none";
        if (!seen.insert(key).second) return;
        SCOPED_TRACE(file.string() + ": " + std::string(op.name()));
        for (int i = 0; i < 200; ++i) bodies += BuildsBody(op);
      });
    }
  }
  EXPECT_GT(bodies, 50000u);
}

}  // namespace
}  // namespace weft::ir
