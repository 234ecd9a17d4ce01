// Reverse-mode differentiation of the body of a program: the gradients of one scalar with respect to
// the parameters and inputs that it depends on. The gradients of ops are those of passes/autodiff/.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ir/builder.h"
#include "passes/autodiff/vjp.h"

namespace weft::passes {

class GradientGraph {
 public:
  // `builder` stands where gradients go, behind all of the program.
  GradientGraph(ir::Program& program, ir::Builder& builder)
      : program_(program), builder_(builder) {}

  // Creates the gradient ops, from the scalar `loss` on. Fails where an op on the way has no
  // gradient; the program then holds the half of them.
  //
  // Gradients are asked of every builtin.get_parameter, and of every pd.feed with the attribute
  // stop_gradient:false. stop_gradient:true (or array[0,1], by result) on any op makes its results
  // constants. Integers are constants.
  absl::Status Build(ir::Value loss);

  // A parameter or input and its gradient; several operations may name one parameter.
  struct Gradient {
    std::string name;
    bool is_input = false;
    ir::Value value;
  };
  // In the order of the program; none where the loss does not depend on it.
  const std::vector<Gradient>& gradients() const { return gradients_; }

 private:
  // Finds the values that depend on what gradients are asked of.
  absl::Status FindVarying();
  bool Varies(ir::Value value) const { return value && varying_.count(value.id()) != 0; }
  bool ReadsVarying(ir::Operation op) const;
  absl::Status Differentiate(ir::Operation op);
  // Null for zero.
  ir::Value TakeGradient(ir::Value of);
  ir::Value Add(ir::Value x, ir::Value y);  // may set status_
  void AddGradient(ir::Operation source, ir::Value value);
  absl::Status CheckGradients() const;

  ir::Program& program_;
  ir::Builder& builder_;
  std::vector<ir::Operation> ops_;  // of the body, before gradients are added
  std::unordered_set<uint32_t> varying_;
  std::unordered_map<uint32_t, std::vector<ir::Value>> pending_;  // summands, by value
  std::vector<Gradient> gradients_;
  std::map<std::pair<bool, std::string>, size_t> gradient_of_;  // its place, by is_input and name
  std::map<std::string, ir::Operation> constant_for_;  // by parameter: an op that takes it for one
  absl::Status status_;
};

}  // namespace weft::passes
