// Names and attributes that the importer and the exporter agree on.
#pragma once

#include <string>
#include <string_view>

namespace weft::onnx {

inline constexpr std::string_view kFusedDomain = "ai.weft.fused";
inline constexpr int64_t kFusedVersion = 1;

// Operators of ai.onnx, known or opaque, have this dialect prefix.
inline constexpr std::string_view kOnnxDialect = "onnx";

// Attributes of the module and of opaque ops that hold what ONNX says beside attributes. No ONNX
// attribute may have a name with this prefix.
inline constexpr std::string_view kReservedPrefix = "onnx.";
inline constexpr char kIrVersion[] = "onnx.ir_version";              // int
inline constexpr char kOpsetImports[] = "onnx.opset_imports";        // strings "domain:version"
inline constexpr char kProducerName[] = "onnx.producer_name";        // string
inline constexpr char kProducerVersion[] = "onnx.producer_version";  // string
inline constexpr char kModelDomain[] = "onnx.domain";                // string
inline constexpr char kModelVersion[] = "onnx.model_version";        // int
inline constexpr char kModelDoc[] = "onnx.doc_string";               // string
inline constexpr char kGraphName[] = "onnx.graph_name";              // string
inline constexpr char kGraphDoc[] = "onnx.graph_doc_string";         // string
inline constexpr char kMetadata[] = "onnx.metadata";                 // strings: key, value, ...
inline constexpr char kGraphMetadata[] = "onnx.graph_metadata";      // strings: key, value, ...
inline constexpr char kValueNotes[] = "onnx.value_notes";            // strings: see proto/notes.h
inline constexpr char kNodeNotes[] = "onnx.node_notes";              // strings: see proto/notes.h
inline constexpr char kNodeDoc[] = "onnx.doc_string";                // string
inline constexpr char kNodeMetadata[] = "onnx.metadata";             // strings: key, value, ...
// Per region: the attribute it was ("name", or "name[]" for an element of a list), and its name.
inline constexpr char kSubgraphs[] = "onnx.subgraphs";
inline constexpr char kSubgraphNames[] = "onnx.subgraph_names";

// "" and "ai.onnx" are the same domain.
inline std::string_view NormalDomain(std::string_view domain) {
  return domain == "ai.onnx" ? std::string_view() : domain;
}

}  // namespace weft::onnx
