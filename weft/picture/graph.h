// A program as a graph to draw: operations, inputs and outputs as nodes. Constants are no nodes but
// belong to their readers. What regions hold is drawn inside of the operation that has them.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/program.h"

namespace weft::picture {

struct Node {
  enum Kind : uint8_t { kInput, kOperation, kOutput };
  Kind kind = kOperation;
  ir::Operation op;   // an operation; for an output, the end of the block
  ir::Value value;    // of an input or an output
  std::string title;  // "MatMul"; the name of an input or an output
  std::string place;  // where it comes from in the model: "/encoder/layer.0/MatMul"; may be empty
  int holder = -1;    // node of the operation in whose region it is
  int region = 0;     // there
};

struct Edge {
  uint32_t from = 0, to = 0;
  friend bool operator==(const Edge&, const Edge&) = default;
  friend bool operator<(const Edge& a, const Edge& b) {
    return a.from != b.from ? a.from < b.from : a.to < b.to;
  }
};

struct Graph {
  ir::Program* program = nullptr;  // must outlive the graph, unchanged
  std::vector<Node> nodes;         // of a block: inputs, operations in order, outputs
  std::vector<Edge> edges;         // one per pair, sorted
  std::unordered_map<uint32_t, uint32_t> node_of_op;  // by operation id

  // -1 for constants and for what is no operation of the graph.
  int NodeOf(ir::Operation op) const;
  // Of what defines the value; -1 for constants.
  int NodeOf(ir::Value value) const;

  std::unordered_map<uint32_t, uint32_t> node_of_argument;  // by value id
};

Graph MakeGraph(ir::Program& program);

}  // namespace weft::picture
