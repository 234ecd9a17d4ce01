// The one door to the protobuf classes of model.proto, namespace weft::onnx::pb.
#pragma once

#include "tools/onnx/proto/model.pb.h"
