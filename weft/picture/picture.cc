#include "weft/picture/picture.h"

#include <algorithm>
#include <map>

#include "weft/picture/drawing.h"
#include "weft/picture/escape.h"
#include "weft/picture/levels.h"
#include "weft/picture/near_misses.h"
#include "weft/picture/page.h"
#include "weft/picture/page_data.h"

namespace weft::picture {
namespace {

// Each mark of the template once, by what it stands for; what that holds is not looked at.
std::string FillTemplate(std::string_view page,
                         const std::map<std::string_view, std::string_view>& parts) {
  std::string filled;
  for (size_t at = 0;;) {
    const size_t begin = page.find("{{", at);
    filled += page.substr(at, begin - at);
    if (begin == std::string_view::npos) return filled;
    const size_t end = page.find("}}", begin);
    filled += parts.at(page.substr(begin + 2, end - begin - 2));
    at = end + 2;
  }
}

// Opens in either graph what is open in the other.
void OpenTogether(GroupTree* a, GroupTree* b) {
  std::map<std::string, std::vector<Group*>> groups_of_path;
  for (GroupTree* tree : {a, b})
    for (Group& group : tree->groups) groups_of_path[group.path].push_back(&group);
  for (const auto& [path, groups] : groups_of_path) {
    const bool open =
        std::any_of(groups.begin(), groups.end(), [](const Group* group) { return group->open; });
    for (Group* group : groups) group->open = open;
  }
}

}  // namespace

Picture::Picture(ir::Program& program)
    : program_(program), before_(program.Clone()), recorder_(program) {}

Picture::~Picture() = default;

struct Picture::Graphs {
  FoldedGraph before, after;
  Lineage lineage;

  std::vector<Side> Sides() const {
    return {{"before", before, lineage.before}, {"after", after, lineage.after}};
  }
};

Picture::Graphs Picture::Prepare() {
  Graphs graphs{Fold(MakeGraph(*before_)), Fold(MakeGraph(program_)), {}};
  OpenTogether(&graphs.before.tree, &graphs.after.tree);
  graphs.lineage = recorder_.Finish(graphs.before.graph, graphs.after.graph);
  return graphs;
}

std::string Picture::Html(const PictureInfo& info) {
  const Graphs graphs = Prepare();
  const std::vector<NearMiss> misses = FindNearMisses(recorder_.rules(), program_);
  const std::string title = EscapeXml(info.model);
  const std::string data =
      PageData({info, graphs.before, graphs.after, graphs.lineage, recorder_.rules(), misses});
  return FillTemplate(
      PageTemplate(),
      {{"title", title}, {"style", PageStyle()}, {"script", PageScript()}, {"data", data}});
}

std::string Picture::Svg() {
  const Graphs graphs = Prepare();
  return DrawSvg(graphs.Sides(), graphs.lineage);
}

std::string Picture::Dot() {
  const Graphs graphs = Prepare();
  return DrawDot(graphs.Sides(), graphs.lineage);
}

}  // namespace weft::picture
