// What every file here starts from: it states one rule's body in a function, with one fault in it.
// The fault must not compile, and the compiler must say what the file's first line expects.
#pragma once

#include "drr/drr.h"
#include "ir/dialects/onnx.h"
#include "ir/dialects/pd.h"

namespace ops = weft::ir::ops;
namespace pd = weft::ir::pd;
using namespace weft::drr;  // NOLINT: the rules read as a rule file does
