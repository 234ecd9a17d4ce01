// Ops that have no ONNX operator but a reference body (Decompose) as ONNX local functions: one per
// variant, its attributes baked into the body, in the domain ai.weft.fused.
//
// The function's doc_string says which op and attributes it stands for; its inputs are named as the
// op's operands. Reading one back trusts nothing of this: the op is recognised only when the very
// same function would be written for it again. Otherwise the body counts, as for any function.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "ir/base/status.h"
#include "ir/rewriter.h"
#include "tools/onnx/proto/proto.h"
#include "tools/onnx/proto/proto_tensor.h"

namespace weft::onnx {

// The function for an op with operands of these types (null: not given), without a name, in opset
// `target`.
// Unsupported when the op has no body in ONNX for these operands.
absl::StatusOr<pb::FunctionProto> MakeFunction(ir::IrContext* context, const ir::OpDef& def,
                                               ir::AttrDict attrs,
                                               std::span<const ir::Type> operands,
                                               size_t num_results, int64_t target);

// While exporting: the functions that the model's fused ops call.
class FusedFunctionTable {
 public:
  // Of a program that may hold calls of others in that domain, whose names it does not take.
  FusedFunctionTable(ir::Program& program, int64_t target);
  // The name of the function to call for op.
  absl::StatusOr<std::string> FunctionFor(ir::Operation op);
  // In order of first use.
  const std::vector<pb::FunctionProto>& functions() const { return functions_; }

 private:
  using Variant = std::tuple<uint16_t, uint32_t, std::vector<uint32_t>, uint32_t>;
  int64_t target_;
  std::map<Variant, std::string> by_variant_;      // op, attributes, operand types, results
  std::map<std::string, std::string> by_content_;  // serialised function without name -> name
  std::set<std::string> names_;
  std::vector<pb::FunctionProto> functions_;
};

// While importing: the ops that calls of such functions stand for.
class FusedFunctionReader {
 public:
  FusedFunctionReader(ir::IrContext* context, const TensorReader* tensors)
      : context_(context), tensors_(tensors) {}
  // Creates the op; an invalid one when the function is not one of ours.
  ir::Operation Recognise(const pb::FunctionProto& function, const std::vector<ir::Value>& operands,
                          ir::Rewriter& builder);

 private:
  struct Claim {  // what the doc_string says
    const ir::OpDef* def = nullptr;
    ir::AttrDict attrs;
    std::vector<size_t> positions;  // operand number of each function input
  };
  bool ReadClaim(const pb::FunctionProto& function, Claim* claim) const;
  bool IsTrue(const pb::FunctionProto& function, const Claim& claim,
              std::span<const ir::Type> operands) const;

  ir::IrContext* context_;
  const TensorReader* tensors_;  // whose payloads were cut out of the functions
  std::map<const pb::FunctionProto*, Claim> claims_;
  std::map<std::pair<const pb::FunctionProto*, std::vector<uint32_t>>, bool> verdicts_;
};

// Replaces every op that ONNX has no operator for by its reference body, in regions too.
absl::Status ExpandFusedOps(ir::Program* program);
// The same for ops whose body is their region: it may be another for each, so it makes no function.
bool HasBodyInRegion(ir::Program& program);
absl::Status ExpandBodiesInRegions(ir::Program* program);
// The same for operators that came after opset `target` and are made of others.
absl::Status ExpandNewOperators(ir::Program* program, int64_t target);

}  // namespace weft::onnx
