// The one door to libonnx's protobuf classes.
#pragma once

#include "onnx/onnx_pb.h"

namespace weft::onnx {

namespace pb = ::onnx;

}  // namespace weft::onnx
