// The mapping dict of Intel's Neural Engine: which chains of nodes become which. Reading checks
// everything that needs no op definitions; lowering turns a mapping into rules.
//
//   {'patterns': {'in': [[(0, 'MatMul'), (1, 'Add')]], 'out': [[(0, 'fused.linear')]]},
//    'search_mode': 'op_type',
//    'node_names': {0: 1},
//    'input_tensors': {0: [[{0: [0]}, {0: [1]}, {1: [0, 1]}], [[0, 1, 2], 3]]},
//    'output_tensors': {0: [[{1: [0]}], [[0], 1]]},
//    'returns': []}
//
// Keys of ours, all optional:
//   'name': 'my-rule'   'numerics': 'exact'   'benefit': 3
//   'single_use': False            intermediate values may have external uses
//   'operands': {1: {0: 1}}        node 1 reads node 0 as its input 1
//   'checks': {1: {'attrs': {'axis': -1}, 'inputs': {1: 2.0}}}    attributes of a node; inputs that
//                                  are a constant, given as a number, 'constant' or 'positive'
//   'attrs': {0: {'axis': -1, 'epsilon': [0, 'epsilon'], 'alpha': {'return': 0, 'input': 1}}}
//                                  of new nodes: a literal, an attribute of returns[0], the number
//                                  that an input of returns[0] holds
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "drr/rule/rule.h"
#include "drr/text/literal.h"

namespace weft::drr::text {

struct Mapping {
  struct InNode {
    Position at;
    std::vector<std::string> types;  // or one name of a node
  };
  struct Edge {
    int from = 0, to = 0;
    Position at;
  };
  // A tensor of an in-node, or of a node outside of the pattern.
  struct Tensor {
    Position at;
    int node = -1;
    std::string outside;
    std::vector<int> indices;  // one; two where either may be it
  };
  struct AttrValue {
    Position at;
    std::string name;
    const Literal* literal = nullptr;  // or
    int node = -1;                     // of an in-node:
    std::string attribute;             // this attribute, or
    int input = -1;                    // the number that this input holds
  };
  struct InputCheck {
    Position at;
    int input = 0;
    std::string word;  // constant, positive, or
    double number = 0;
  };
  struct Check {
    Position at;
    int node = 0;
    std::vector<AttrValue> attrs;  // literals
    std::vector<InputCheck> inputs;
  };
  struct OutNode {
    Position at;
    std::string type;
    bool linked = false;  // reads the node before it in the chain
    int name_of = -1;     // in-node
    std::string name;
    Position inputs_at, outputs_at;
    std::vector<Tensor> inputs, outputs;
    std::vector<int> input_positions, output_positions;
    int num_inputs = 1, num_outputs = 1;
    std::optional<std::vector<AttrValue>> attrs;
  };

  Position at;
  std::string name;
  bool by_name = false;
  std::vector<InNode> in;
  std::vector<Edge> edges;
  int tail = 0;
  std::vector<OutNode> out;
  std::vector<int> returns;
  std::optional<NumericClass> numerics;
  int benefit = 0;
  bool single_use = true;
  std::map<std::pair<int, int>, int> operand_of;  // (consumer, producer) -> operand
  std::vector<Check> checks;
};

// Every mistake in `dict` that needs no op definitions goes to *mistakes; then *mapping holds what
// could be read. The mapping refers to `dict`.
void ReadMapping(const Literal& dict, const std::string& name, Diagnostics* mistakes,
                 Mapping* mapping);

// Every type of a node that is no op, or none that a mapping can speak of, goes to *mistakes.
void CheckOps(const Mapping& mapping, const ir::IrContext& context, Diagnostics* mistakes);

// One rule, or several where types of another arity are alternatives; of a mapping without
// mistakes. `program` (may be null) is where names of nodes are looked up.
void LowerMapping(const Mapping& mapping, ir::IrContext* context, ir::Program* program,
                  Diagnostics* mistakes, std::vector<std::unique_ptr<Rule>>* rules);

// "LayerNorm" -> "layer-norm".
std::string KebabCase(std::string_view name);

}  // namespace weft::drr::text
