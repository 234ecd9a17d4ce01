#include "tools/cli/picture/picture_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "tools/cli/output_path.h"
#include "tools/cli/program_main.h"
#include "weft/base/files.h"

namespace weft::tools {

void AddPictureFlags(CLI::App& app, PictureFlags* flags) {
  app.add_option("--html", flags->html)->type_name("F")->group(kSameLine);
  app.add_option("--svg", flags->svg)->type_name("F")->group(kSameLine);
  app.add_option("--dot", flags->dot)->type_name("F")->group(kSameLine);
}

absl::Status CheckPictureFlags(const PictureFlags& flags, const std::vector<std::string>& others) {
  std::vector<std::string> taken = others;
  const std::pair<const char*, std::string> files[] = {
      {"--html", flags.html}, {"--svg", flags.svg}, {"--dot", flags.dot}};
  for (const auto& [flag, path] : files) {
    if (path.empty()) continue;
    WEFT_RETURN_IF_ERROR(CheckOutputPath(flag, path, taken));
    taken.push_back(path);
  }
  return absl::OkStatus();
}

std::unique_ptr<picture::Picture> MakePicture(const PictureFlags& flags, ir::Program& program,
                                              PassFlags* passes) {
  if (!flags.wanted()) return nullptr;
  auto picture = std::make_unique<picture::Picture>(program);
  passes->rewrites.on_rewrite = [recording = picture.get(), also = passes->rewrites.on_rewrite](
                                    const passes::TracedRewrite& rewrite) {
    recording->Record(rewrite);
    if (also) also(rewrite);
  };
  return picture;
}

absl::Status WritePicture(const PictureFlags& flags, const picture::PictureInfo& info,
                          picture::Picture& picture) {
  if (!flags.html.empty()) WEFT_RETURN_IF_ERROR(WriteText(flags.html, picture.Html(info)));
  if (!flags.svg.empty()) WEFT_RETURN_IF_ERROR(WriteText(flags.svg, picture.Svg()));
  if (!flags.dot.empty()) WEFT_RETURN_IF_ERROR(WriteText(flags.dot, picture.Dot()));
  return absl::OkStatus();
}

picture::PictureInfo PictureInfoOf(const std::string& model, const PassFlags& passes) {
  return {.model = std::filesystem::path(model).filename().string(),
          .pipeline = passes.passes.empty() ? passes.pipeline
                                            : fmt::format("{}", fmt::join(passes.passes, ", ")),
          .numerics = passes.numerics};
}

}  // namespace weft::tools
