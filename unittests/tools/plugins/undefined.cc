// Needs what no program of ours has.
#include "weft/plugin.h"

WEFT_PLUGIN();

namespace acme {
int Absent();
extern const int value;
const int value = Absent();
}  // namespace acme
