// The 'bench' dialect, written by hand the way ODS would generate it. Part of mlirbench.cpp alone: it
// defines what it declares.
#pragma once

#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "llvm/Support/raw_ostream.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/PDL/IR/PDL.h"
#include "mlir/Dialect/PDLInterp/IR/PDLInterp.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

#include "BenchDialect.h.inc"
#define GET_OP_CLASSES
#include "BenchDialect.cpp.inc"
#include "BenchOps.h.inc"
#define GET_OP_CLASSES
#include "BenchOps.cpp.inc"

namespace bench {
LogicalResult TransposeOp::verify() {
  auto in = llvm::cast<RankedTensorType>(getInput().getType());
  auto out = llvm::cast<RankedTensorType>(getResult().getType());
  ArrayRef<int64_t> p = getPerm();
  if ((int64_t)p.size() != in.getRank() || in.getRank() != out.getRank())
    return emitOpError("rank mismatch");
  uint64_t seen = 0;
  for (size_t i = 0; i < p.size(); ++i) {
    if (p[i] < 0 || p[i] >= (int64_t)p.size() || (seen >> p[i] & 1))
      return emitOpError("not a permutation");
    seen |= 1ull << p[i];
    if (out.getDimSize(i) != in.getDimSize(p[i])) return emitOpError("result shape mismatch");
  }
  return success();
}

static LogicalResult verifyTensors(Operation* op) {
  for (Value v : op->getOperands())
    if (!llvm::isa<RankedTensorType>(v.getType()))
      return op->emitOpError("operand must be a ranked tensor");
  for (Type t : op->getResultTypes())
    if (!llvm::isa<RankedTensorType>(t)) return op->emitOpError("result must be a ranked tensor");
  return success();
}

// 100 unary op classes: bench.k0..k39 (pattern roots), bench.m0..m59 (inner).
static std::string unaryNames[100];
template <int I>
class UnaryOp
    : public Op<UnaryOp<I>, OpTrait::ZeroRegions, OpTrait::OneResult, OpTrait::ZeroSuccessors,
                OpTrait::OneOperand, OpTrait::OpInvariants, MemoryEffectOpInterface::Trait> {
 public:
  using Base = Op<UnaryOp<I>, OpTrait::ZeroRegions, OpTrait::OneResult, OpTrait::ZeroSuccessors,
                  OpTrait::OneOperand, OpTrait::OpInvariants, MemoryEffectOpInterface::Trait>;
  using Base::Base;
  static StringRef getOperationName() {
    std::string& s = unaryNames[I];
    if (s.empty()) s = I < 40 ? "bench.k" + std::to_string(I) : "bench.m" + std::to_string(I - 40);
    return s;
  }
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
  void getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>&) {}
  LogicalResult verifyInvariantsImpl() { return verifyTensors(*this); }
};

void BenchDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "BenchOps.cpp.inc"
      >();
  addUnaryOps();
}
template <int... Is>
static void addUnary(auto add, std::integer_sequence<int, Is...>) {
  add.template operator()<UnaryOp<Is>...>();
}
void BenchDialect::addUnaryOps() {
  addUnary([this]<typename... Ts>() { this->addOperations<Ts...>(); },
           std::make_integer_sequence<int, 100>());
}
}  // namespace bench
using namespace bench;
