// What a plugin of ir-opt and ir-run says once, in one of its sources:
//
//   #include <weft/plugin.h>
//   WEFT_PLUGIN();
//
// A plugin is a shared object with rules, passes, operators and kernels that register themselves
// (WEFT_RULE, WEFT_REGISTER_PASS, WEFT_REGISTER_OPS, RegisterReference), for ir-opt --load. It links
// weft::plugin and none of the libraries: the program that loads it has them. The version of Weft that
// it was built for is an ELF note, so that it can be read before any code of the plugin runs.
#pragma once

#include "weft/version.h"

// Owner and type of the note. Its content is the version, which ends with a zero.
#define WEFT_PLUGIN_NOTE_OWNER "Weft"
#define WEFT_PLUGIN_NOTE_TYPE 1

#define WEFT_PLUGIN()                           \
  __asm__(                                      \
      ".pushsection .note.weft, \"a\", %note\n" \
      ".balign 4\n"                             \
      ".4byte 2f - 1f, 4f - 3f, 1\n"            \
      "1: .asciz \"" WEFT_PLUGIN_NOTE_OWNER     \
      "\"\n2:\n.balign 4\n"                     \
      "3: .asciz \"" WEFT_VERSION_STRING        \
      "\"\n4:\n.balign 4\n"                     \
      ".popsection\n");                         \
  static_assert(WEFT_PLUGIN_NOTE_TYPE == 1, "as in the note")
