#include "ir/text/internal/origin_text.h"

#include <string_view>
#include <vector>

#include "ir/origin/origin.h"
#include "ir/text/internal/literals.h"

namespace weft::ir::text {
namespace {

void AppendNames(std::string* out, std::string_view word, const std::vector<Name>& names) {
  if (names.empty()) return;
  if (out->back() != ' ') *out += ' ';
  *out += word;
  std::string_view before = "(";
  for (const Name name : names) {
    *out += before;
    AppendQuoted(out, name.str());
    before = ", ";
  }
  *out += ')';
}

bool ParseNames(Scanner* s, std::string_view word, std::vector<Name>* names) {
  if (!s->ConsumeWord(word)) return true;
  if (!s->Expect('(', "before the names of an origin")) return false;
  do {
    std::string_view name;
    if (!s->String(&name)) return false;
    names->emplace_back(name);
  } while (s->Consume(','));
  return s->Expect(')', "after the names of an origin");
}

}  // namespace

void AppendOrigin(std::string* out, Operation op) {
  if (!IsRewritten(op)) return;
  const Origin origin = OriginOf(op);
  AppendNames(out, "from", origin.sources);
  AppendNames(out, "by", origin.rules);
  AppendNames(out, "doc", origin.docs);
}

bool AtTail(Scanner* s) {
  const char* at = s->position();
  const char c = s->Peek();
  if (c != 'l' && c != 'f' && c != 'b' && c != 'd') return false;  // most types are none of these
  const bool found = s->ConsumeWord("loc") || s->ConsumeWord("from") || s->ConsumeWord("by") ||
                     s->ConsumeWord("doc");
  s->set_position(at);
  return found;
}

bool ParseOrigin(Scanner* s, Operation op) {
  if (!IsWordStart(s->Peek())) return true;
  Origin origin;
  if (!ParseNames(s, "from", &origin.sources) || !ParseNames(s, "by", &origin.rules) ||
      !ParseNames(s, "doc", &origin.docs))
    return false;
  SetOrigin(op, origin);
  return true;
}

}  // namespace weft::ir::text
