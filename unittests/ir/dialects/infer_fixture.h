// For tests of Infer: operands of chosen types, and the inferred types or the mistake as text.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ir/analysis/verifier.h"
#include "ir/builder.h"
#include "ir/dialects/ascend.h"
#include "ir/dialects/builtin.h"
#include "ir/dialects/fused.h"
#include "ir/dialects/litert.h"
#include "ir/dialects/microsoft.h"
#include "ir/dialects/onnx.h"
#include "ir/dialects/pd.h"
#include "ir/infer.h"

namespace weft::ir {

class InferTest : public testing::Test {
 protected:
  InferTest() : program(&context), b(&program) {
    LoadFusedDialect(context);
    LoadAscendDialect(context);
    LoadLitertDialect(context);
    LoadMicrosoftDialect(context);
    LoadPdDialect(context);
  }

  Value X(const Shape& dims, DataType dtype = DataType::kF32) {
    return b.AddInput("x" + std::to_string(count_++), context.TensorType(dtype, dims));
  }
  Value Unranked(DataType dtype = DataType::kF32) {
    return b.AddInput("x" + std::to_string(count_++), context.UnrankedTensorType(dtype));
  }
  Value OfType(Type type) { return b.AddInput("x" + std::to_string(count_++), type); }
  Value I(std::initializer_list<int64_t> values) { return b.ConstantInts(values); }
  Value Scalar(double value, DataType dtype = DataType::kF32) {
    return b.ConstantScalar(dtype, value);
  }

  // The result types as text, "a, b" for several; or the error; unknown dims are -1. What is
  // inferred must verify.
  template <class O>
  std::string Run(std::vector<Value> operands,
                  const typename O::template Attrs<BuilderSlot>& attrs = {},
                  size_t num_results = 1) {
    Operation op;
    std::string error;
    OperationState state{.opcode = kOpcodeOf<O>,
                         .operands = std::move(operands),
                         .attrs = MakeAttrs<O>(context, attrs)};
    if (!b.TryCreate(std::move(state), num_results, &op, &error)) return error;
    EXPECT_EQ(VerifyOperation(op).message(), "");
    std::string text;
    for (Value result : op.results()) text += (text.empty() ? "" : ", ") + result.type().ToString();
    std::erase(text, '"');  // around the names of symbols
    return text;
  }

  IrContext context;
  Program program;
  Builder b;
  const int64_t n = SymbolicDim("N"), m = SymbolicDim("M");

 private:
  int count_ = 0;
};

}  // namespace weft::ir
