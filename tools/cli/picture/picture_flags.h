// --html, --svg and --dot: pictures of what passes did (weft/picture/picture.h).
#pragma once

#include <memory>
#include <string>

#include "ir/base/status.h"
#include "ir/program.h"
#include "tools/cli/cli_fwd.h"
#include "tools/cli/pass_flags.h"
#include "weft/picture/picture.h"

namespace weft::tools {

struct PictureFlags {
  std::string html, svg, dot;  // files
  bool wanted() const { return !html.empty() || !svg.empty() || !dot.empty(); }
};

// On the line of the option added before them.
void AddPictureFlags(CLI::App& app, PictureFlags* flags);
// The files can be written and are none of `others`, among which are the model and what goes with it.
absl::Status CheckPictureFlags(const PictureFlags& flags, const std::vector<std::string>& others);

// A picture that follows the rewrites of a run with these flags, besides what they did before; null when
// none is wanted. It must outlive the run, as must the program. The run's hook has to call the picture's.
std::unique_ptr<picture::Picture> MakePicture(const PictureFlags& flags, ir::Program& program,
                                              PassFlags* passes);
absl::Status WritePicture(const PictureFlags& flags, const picture::PictureInfo& info,
                          picture::Picture& picture);

// Of a model by that name, optimised with these flags.
picture::PictureInfo PictureInfoOf(const std::string& model, const PassFlags& passes);

}  // namespace weft::tools
