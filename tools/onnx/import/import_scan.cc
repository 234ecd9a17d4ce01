// Scan of opset 8, whose tensors had a batch dimension before the scanned one, and whose sequences
// could have different lengths.
//
//   Scan8(lengths, states..., sequences...) =>
//     Scan over dimension 0 of all of them, whose body is, with the length n of one sequence,
//       Scan(states..., sequences[:n]...), its scan outputs padded with zeros
//
// ONNX leaves the padding undefined. A sequence that is scanned backward starts at its own end.
#include <fmt/format.h>

#include <algorithm>

#include "ir/analysis/shape_inference.h"
#include "ir/dialects/builtin.h"
#include "ir/dialects/onnx.h"
#include "tools/onnx/import/importer_impl.h"
#include "tools/onnx/proto/names.h"

namespace weft::onnx {
namespace {

using ir::Rewriter;
using ir::Type;
using ir::Value;

// Checks the operands, and gives the number of scanned ones.
absl::StatusOr<size_t> ScannedOperands(const NodeDraft& draft) {
  const ir::Attribute count = draft.attribute("num_scan_inputs");
  const auto given = std::max<int64_t>(static_cast<int64_t>(draft.operands.size()) - 1, 0);
  if (!count.Is(ir::AttrKind::kInt))
    return ir::InvalidArgument("attribute num_scan_inputs is required but not given");
  if (count.AsInt() < 1 || count.AsInt() > given)
    return ir::InvalidArgument(fmt::format(
        "num_scan_inputs is {} but there are {} states and scan inputs", count.AsInt(), given));
  const auto scanned = static_cast<size_t>(count.AsInt());
  for (size_t i = 0; i < draft.operands.size(); ++i) {
    const Value operand = draft.operands[i];
    if (!operand && i == 0) continue;
    if (!operand)
      return ir::InvalidArgument(fmt::format("operand {} is required but not given", i));
    const Type type = operand.type();
    if (!type) continue;  // nobody said
    if (!type.IsTensor()) return ir::InvalidArgument(fmt::format("operand {} is no tensor", i));
    if (i == 0 && type.dtype() != ir::DataType::kI64)
      return ir::InvalidArgument("sequence_lens must be i64 numbers");
    const size_t least = i + scanned < draft.operands.size() ? 1 : 2;
    if (type.HasRank() && type.rank() < least)
      return ir::InvalidArgument(
          fmt::format("operand {} has rank {}, expected at least {}", i, type.rank(), least));
  }
  return scanned;
}

// The type of one entry of a batch.
Type EntryType(ir::IrContext* context, Type type) {
  if (!type || !type.HasRank()) return type;
  const std::span<const int64_t> dims = type.dims();
  return context->TensorType(type.dtype(), dims.subspan(1));
}

// The first so many slices of each sequence. A length below 0 is none, one above their number is all.
absl::Status Shorten(ir::Builder& b, Value length, std::span<Value> sequences) {
  const Value zero = b.ConstantInts({0});
  WEFT_ASSIGN_OR_RETURN(Value end, TryMake<ir::ops::Reshape>(b, {length, b.ConstantInts({1})}));
  WEFT_ASSIGN_OR_RETURN(end, TryMake<ir::ops::Max>(b, {end, zero}));
  for (Value& sequence : sequences) {
    WEFT_ASSIGN_OR_RETURN(sequence, TryMake<ir::ops::Slice>(b, {sequence, zero, end, zero}));
  }
  return absl::OkStatus();
}

// Behind what there is, zeros up to the length of `sequence`.
absl::StatusOr<Value> PadToLength(Rewriter& b, Value output, Value sequence) {
  const Value zero = b.ConstantInts({0});
  const auto length = [&](Value v) { return TryMake<ir::ops::Shape>(b, {v}, {.end = int64_t{1}}); };
  WEFT_ASSIGN_OR_RETURN(const Value from, length(output));
  WEFT_ASSIGN_OR_RETURN(const Value to, length(sequence));
  WEFT_ASSIGN_OR_RETURN(const Value missing, TryMake<ir::ops::Sub>(b, {to, from}));
  WEFT_ASSIGN_OR_RETURN(const Value pads,
                        TryMake<ir::ops::Concat>(b, {zero, missing}, {.axis = 0}));
  WEFT_ASSIGN_OR_RETURN(const Value padded,
                        TryMake<ir::ops::Pad>(b, {output, pads, Value(), zero}));
  const Type type = output.type(), whole = sequence.type();
  if (type.HasRank() && type.rank() > 0 && whole.HasRank()) {
    ir::Shape dims = type.shape();
    dims[0] = whole.dims()[0];
    b.SetType(padded, b.context()->TensorType(type.dtype(), dims));
  }
  return padded;
}

}  // namespace

// The body of the scan over the batch, in `block`.
absl::Status Importer::ScanOneEntry(const pb::NodeProto& node, NodeDraft draft, bool has_lengths,
                                    size_t scanned, const std::vector<Subgraph>& subgraphs,
                                    ir::Block block, const Scope& outer, const Frame& frame) {
  if (++graph_depth_ > limits_.max_graph_depth)
    return ir::InvalidArgument(
        fmt::format("graphs are nested deeper than {}", limits_.max_graph_depth));
  Rewriter builder(program_.get());
  builder.SetInsertionPointToEnd(block);
  builder.set_location(ir::Name(PrefixedName(frame, node.name())));
  const size_t states = draft.operands.size() - scanned;
  const Value whole = draft.operands[states];
  if (has_lengths)
    WEFT_RETURN_IF_ERROR(
        Shorten(builder, block.argument(0), std::span(draft.operands).subspan(states)));
  pb::NodeProto inner;  // of which only the names of outputs are read
  for (size_t i = 0; i < draft.num_results; ++i) inner.add_output(fmt::format("entry{}", i));
  Scope scope{.outer = &outer};
  WEFT_RETURN_IF_ERROR(ImportKnown(*context_->FindOp(ir::kOpcodeOf<ir::ops::Scan>), inner, draft,
                                   subgraphs, builder, &scope, frame));
  std::vector<Value> results;
  for (size_t i = 0; i < draft.num_results; ++i) {
    WEFT_ASSIGN_OR_RETURN(Value result, Find(scope, inner.output(static_cast<int>(i))));
    if (has_lengths && i >= states) {
      WEFT_ASSIGN_OR_RETURN(result, PadToLength(builder, result, whole));
    }
    results.push_back(result);
  }
  builder.Create({.opcode = ir::kOpcodeOf<ir::ReturnOp>, .operands = std::move(results)});
  --graph_depth_;
  return absl::OkStatus();
}

absl::Status Importer::ImportBatchedScan(const pb::NodeProto& node, NodeDraft draft,
                                         const std::vector<Subgraph>& subgraphs, Rewriter& builder,
                                         Scope* scope, const Frame& frame) {
  WEFT_ASSIGN_OR_RETURN(const size_t scanned, ScannedOperands(draft));
  WEFT_ASSIGN_OR_RETURN(const ir::Attribute directions,
                        TakeAttribute(&draft, "directions", ir::AttrKind::kInts));
  draft.SetAttribute("scan_input_directions", directions);
  const bool has_lengths = static_cast<bool>(draft.operands[0]);
  std::vector<Value> operands(draft.operands.begin() + (has_lengths ? 0 : 1), draft.operands.end());
  const auto count = static_cast<int64_t>(operands.size());
  ir::OperationState state{
      .opcode = ir::kOpcodeOf<ir::ops::Scan>,
      .operands = operands,
      .attrs = ir::MakeAttrs<ir::ops::Scan>(*context_, {.num_scan_inputs = count}),
      .result_types = std::vector<Type>(draft.num_results, Type()),
      .num_regions = 1};
  std::string error;
  std::vector<Type> types;
  if (!ir::InferResultTypes(context_, state, draft.num_results, &types, &error))
    return ir::InvalidArgument(error);
  state.result_types = std::move(types);
  const ir::Operation op = builder.Create(std::move(state));
  const ir::Block block = builder.AppendBlock(op.region(0));
  for (const Value operand : operands)
    builder.AddArgument(block, EntryType(context_, operand.type()));
  draft.operands.clear();
  for (size_t i = has_lengths ? 1 : 0; i < operands.size(); ++i)
    draft.operands.push_back(block.argument(static_cast<uint32_t>(i)));
  WEFT_RETURN_IF_ERROR(
      ScanOneEntry(node, std::move(draft), has_lengths, scanned, subgraphs, block, *scope, frame));
  builder.SetAttr(op, kSubgraphNames, context_->StringsAttr(ir::Strings{"batch"}));
  if (!op.def()->verify(op, &error))
    return ir::InvalidArgument(fmt::format("{}: {}", op.name(), error));
  WEFT_RETURN_IF_ERROR(ir::RefineResultTypes(op, builder));
  const std::vector<Value> results = op.results().vec();
  for (size_t i = 0; i < results.size(); ++i) {
    WEFT_ASSIGN_OR_RETURN(const Type type, ResultType(node, i, results[i].type(), *scope));
    builder.SetType(results[i], type);
  }
  return DefineResults(node, results, scope, frame);
}

}  // namespace weft::onnx
