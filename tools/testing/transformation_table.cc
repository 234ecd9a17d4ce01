#include "tools/testing/transformation_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ir/walk.h"
#include "passes/transformation.h"
#include "tools/testing/golden.h"

namespace weft::fixtures {
namespace {

using passes::Transformation;

constexpr std::string_view kBegin =
    "<!-- transformations: tools/dev.sh bless -R Transformation -->\n";
constexpr std::string_view kEnd = "<!-- end of transformations -->\n";

using OpCounts = std::map<std::string, int, std::less<>>;  // by name without its dialect

// Constants, terminators and what a fused op holds are no operations to a reader.
absl::StatusOr<OpCounts> CountOps(GoldenFile file, const std::string& program_text) {
  file.program_text = program_text;
  ir::IrContext context;
  WEFT_ASSIGN_OR_RETURN(auto program, ParseGoldenProgram(file, context));
  OpCounts counts;
  ir::Walk(*program, [&](ir::Operation op) {
    const ir::Operation holder = op.ParentOp();
    if (op == program->module() || op.HasTrait(ir::kConstantLike) || op.HasTrait(ir::kTerminator) ||
        holder.HasTrait(ir::kBodyInRegion))
      return;
    const std::string_view name = op.name();
    ++counts[std::string(name.substr(name.find('.') + 1))];
  });
  return counts;
}

int Total(const OpCounts& counts) {
  int total = 0;
  for (const auto& [name, count] : counts) total += count;
  return total;
}

// "4 → 2: -BatchNormalization, -2 Transpose, +Mul"
absl::StatusOr<std::string> Effect(const GoldenFile& file) {
  WEFT_ASSIGN_OR_RETURN(const OpCounts before, CountOps(file, file.program_text));
  WEFT_ASSIGN_OR_RETURN(const OpCounts after, CountOps(file, file.expected));
  OpCounts change = after;
  for (const auto& [name, count] : before) change[name] -= count;
  std::string fewer, more;
  for (const auto& [name, count] : change) {
    if (count == 0) continue;
    const std::string number = std::abs(count) > 1 ? fmt::format("{} ", std::abs(count)) : "";
    absl::StrAppend(count < 0 ? &fewer : &more, count < 0 ? ", -" : ", +", number, name);
  }
  const std::string differences = fewer + more;
  const std::string counts = fmt::format("{} → {}", Total(before), Total(after));
  return differences.empty() ? counts : absl::StrCat(counts, ": ", differences.substr(2));
}

constexpr std::string_view kText = "text";  // the group of rules in text

// Rules in text have their golden files in a folder of their seed.
std::string FolderOf(const Transformation& it) {
  return it.group == kText ? absl::StrCat(std::string(it.seed), "/", it.name) : it.name;
}

absl::StatusOr<std::string> Row(const Transformation& it, const std::string& golden) {
  const std::string folder = golden + "/" + FolderOf(it);
  std::string effect;
  const std::vector<std::string> fires = FiringGoldenFiles(folder);
  const size_t near_misses = NearMissGoldenFiles(folder).size();
  for (const std::string& name : fires) {
    WEFT_ASSIGN_OR_RETURN(const GoldenFile file, ReadGoldenFile(absl::StrCat(folder, "/", name)));
    if (file.seed.empty()) continue;
    if (!effect.empty()) return ir::InvalidArgument(folder + ": two files have a SEED line");
    WEFT_ASSIGN_OR_RETURN(effect, Effect(file));
  }
  if (effect.empty()) return ir::NotFound(folder + ": no file has a SEED line");
  if (near_misses == 0) return ir::NotFound(folder + ": no near miss");
  return fmt::format("| {} | {} | {} | {} | [{} fire, {} not](unittests/passes/golden/{}) | {} |\n",
                     it.seed, it.name, drr::NumericClassName(it.numerics), it.Runs(), fires.size(),
                     near_misses, FolderOf(it), effect);
}

// The rules in text of one seed, whose name is that of the folder.
absl::Status AddRulesOf(const std::filesystem::path& folder, std::vector<Transformation>* all) {
  std::string seed = folder.filename().string();
  std::replace(seed.begin(), seed.end(), '_', '-');
  const auto* known = std::find(std::begin(passes::kSeeds), std::end(passes::kSeeds), seed);
  if (known == std::end(passes::kSeeds)) return absl::OkStatus();
  ir::IrContext context;
  LoadGoldenDialects(context);
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    WEFT_ASSIGN_OR_RETURN(const auto rules, ReadRulesFile(entry.path().string(), context));
    for (const auto& rule : rules) {
      if (rule->name.find('.') != rule->name.npos) continue;  // a variant of the one before it
      all->push_back({.name = rule->name,
                      .seed = *known,
                      .group = kText,
                      .numerics = rule->numerics,
                      .pipelines = {"--rules-file " + entry.path().filename().string()},
                      .what = {}});
    }
  }
  return absl::OkStatus();
}

size_t SeedNumber(const Transformation& it) {
  return std::find(std::begin(passes::kSeeds), std::end(passes::kSeeds), it.seed) -
         std::begin(passes::kSeeds);
}

}  // namespace

absl::StatusOr<std::string> TransformationTable(const std::string& golden,
                                                const std::string& rules) {
  std::vector<Transformation> all = passes::Transformations();
  for (const auto& entry : std::filesystem::directory_iterator(rules))
    if (entry.is_directory()) WEFT_RETURN_IF_ERROR(AddRulesOf(entry.path(), &all));
  std::erase_if(all, [](const Transformation& it) { return it.seed.empty(); });
  std::sort(all.begin(), all.end(), [](const Transformation& a, const Transformation& b) {
    return std::pair(SeedNumber(a), a.name) < std::pair(SeedNumber(b), b.name);
  });
  std::string table =
      "| seed | transformation | numbers | runs | golden programs | operations of the seed's "
      "program |\n"
      "|---|---|---|---|---|---|\n";
  for (const Transformation& it : all) {
    WEFT_ASSIGN_OR_RETURN(const std::string row, Row(it, golden));
    table += row;
  }
  return table;
}

absl::StatusOr<std::string> WithTransformationTable(const std::string& text,
                                                    const std::string& table) {
  const size_t begin = text.find(kBegin), end = text.find(kEnd);
  if (begin == text.npos || end == text.npos || end < begin)
    return ir::NotFound("no lines mark the table of transformations");
  return absl::StrCat(text.substr(0, begin + kBegin.size()), table, text.substr(end));
}

}  // namespace weft::fixtures
