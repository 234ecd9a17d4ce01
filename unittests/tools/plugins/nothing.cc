#include "weft/plugin.h"

WEFT_PLUGIN();
