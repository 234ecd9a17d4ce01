// How much of an untrusted model the bridge is willing to read. Everything is checked before
// memory is taken or another file is opened; a model beyond a limit is an InvalidArgument error.
#pragma once

#include <cstddef>

namespace weft::onnx {

struct ImportLimits {
  size_t max_file_bytes = size_t{256} << 30;
  size_t max_graph_bytes = size_t{1} << 30;   // of the file without the contents of its tensors
  size_t max_nodes = size_t{1} << 21;         // also after functions were inlined
  size_t max_messages = size_t{1} << 24;      // parts of any kind: attributes, values, tensors...
  size_t max_sparse_bytes = size_t{1} << 30;  // of all sparse tensors, as dense ones
  int max_graph_depth = 64;                   // graphs in graphs
  int max_call_depth = 64;                    // functions that call functions
  int max_rank = 64;
  size_t max_external_files = 10000;
  bool allow_hard_links = false;  // external data in files that have other names, maybe elsewhere
};

}  // namespace weft::onnx
