// The data of the page, as JSON. README.md has the names of its parts.
#pragma once

#include <string>

#include "weft/picture/levels.h"
#include "weft/picture/lineage.h"
#include "weft/picture/near_misses.h"
#include "weft/picture/picture.h"

namespace weft::picture {

struct PageContents {
  const PictureInfo& info;
  const FoldedGraph& before;
  const FoldedGraph& after;
  const Lineage& lineage;
  const std::vector<std::shared_ptr<drr::Rule>>& rules;  // that ran
  const std::vector<NearMiss>& misses;
};

// ASCII, and safe between the tags of an HTML element: without "<", ">" and "&". Text that is no UTF-8
// has replacement characters.
std::string PageData(const PageContents& contents);

}  // namespace weft::picture
