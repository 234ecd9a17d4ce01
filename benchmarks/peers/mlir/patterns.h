// The patterns, in C++ and in PDL. Part of mlirbench.cpp alone.
#pragma once

#include "workloads.h"

static int64_t gRewrites = 0, gVisits = 0;

struct CountVisits : public RewritePattern {
  explicit CountVisits(MLIRContext* ctx) : RewritePattern(MatchAnyOpTypeTag(), 1000, ctx) {}
  LogicalResult matchAndRewrite(Operation*, PatternRewriter&) const override {
    ++gVisits;
    return failure();
  }
};
static DenseI64ArrayAttr composePerm(Builder& b, ArrayRef<int64_t> inner, ArrayRef<int64_t> outer) {
  SmallVector<int64_t, 6> r(outer.size());
  for (size_t i = 0; i < outer.size(); ++i) r[i] = inner[outer[i]];
  return b.getDenseI64ArrayAttr(r);
}
struct ComposeTransposes : public OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter& rw) const override {
    auto inner = op.getInput().getDefiningOp<TransposeOp>();
    if (!inner) return failure();
    ++gRewrites;
    rw.replaceOpWithNewOp<TransposeOp>(op, op->getResult(0).getType(), inner.getInput(),
                                       composePerm(rw, inner.getPerm(), op.getPerm()));
    return success();
  }
};
struct FuseMatmulAddRelu : public OpRewritePattern<ReluOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReluOp op, PatternRewriter& rw) const override {
    auto add = op.getOperand().getDefiningOp<AddOp>();
    if (!add) return failure();
    auto mm = add->getOperand(0).getDefiningOp<MatMulOp>();
    if (!mm) return failure();
    ++gRewrites;
    Value ops[3] = {mm->getOperand(0), mm->getOperand(1), add->getOperand(1)};
    rw.replaceOpWithNewOp<FusedMAROp>(op, op->getResult(0).getType(), ValueRange(ops));
    return success();
  }
};
struct ManyPattern : public RewritePattern {
  OperationName s;
  std::optional<OperationName> t;
  int id;
  ManyPattern(MLIRContext* ctx, OperationName r, OperationName s, std::optional<OperationName> t,
              int id)
      : RewritePattern(r.getStringRef(), 1, ctx), s(s), t(t), id(id) {}
  LogicalResult matchAndRewrite(Operation* op, PatternRewriter& rw) const override {
    Operation* in = op->getOperand(0).getDefiningOp();
    if (!in || in->getName() != s) return failure();
    if (t) {
      in = in->getOperand(0).getDefiningOp();
      if (!in || in->getName() != *t) return failure();
    }
    ++gRewrites;
    rw.replaceOpWithNewOp<FusedKOp>(op, op->getResult(0).getType(), in->getOperand(0),
                                    rw.getI64IntegerAttr(id));
    return success();
  }
};

static std::string pdlTranspose() {
  return R"(
pdl.pattern @compose : benefit(1) {
  %x = pdl.operand
  %p1 = pdl.attribute
  %p2 = pdl.attribute
  %ty1 = pdl.type
  %ty2 = pdl.type
  %t1 = pdl.operation "bench.transpose"(%x : !pdl.value) {"perm" = %p1} -> (%ty1 : !pdl.type)
  %r1 = pdl.result 0 of %t1
  %root = pdl.operation "bench.transpose"(%r1 : !pdl.value) {"perm" = %p2} -> (%ty2 : !pdl.type)
  pdl.rewrite %root {
    %p = pdl.apply_native_rewrite "ComposePerm"(%p1, %p2 : !pdl.attribute, !pdl.attribute) : !pdl.attribute
    %new = pdl.operation "bench.transpose"(%x : !pdl.value) {"perm" = %p} -> (%ty2 : !pdl.type)
    pdl.replace %root with %new
  }
}
)";
}
static std::string pdlMAR() {
  return R"(
pdl.pattern @mar : benefit(1) {
  %x = pdl.operand
  %w = pdl.operand
  %b = pdl.operand
  %t1 = pdl.type
  %t2 = pdl.type
  %t3 = pdl.type
  %mm = pdl.operation "bench.matmul"(%x, %w : !pdl.value, !pdl.value) -> (%t1 : !pdl.type)
  %mmr = pdl.result 0 of %mm
  %add = pdl.operation "bench.add"(%mmr, %b : !pdl.value, !pdl.value) -> (%t2 : !pdl.type)
  %addr = pdl.result 0 of %add
  %root = pdl.operation "bench.relu"(%addr : !pdl.value) -> (%t3 : !pdl.type)
  pdl.rewrite %root {
    %new = pdl.operation "bench.matmul_add_relu"(%x, %w, %b : !pdl.value, !pdl.value, !pdl.value) -> (%t3 : !pdl.type)
    pdl.replace %root with %new
  }
}
)";
}
static std::string pdlMany(int p) {
  std::string out;
  for (int i = 0; i < p; ++i) {
    std::string I = std::to_string(i);
    std::string r = "bench.k" + std::to_string(Gen::pr(i)),
                s = "bench.m" + std::to_string(Gen::ps(i, p)),
                t = "bench.m" + std::to_string(Gen::pt(i, p));
    out += "pdl.pattern @p" + I +
           " : benefit(1) {\n  %x = pdl.operand\n"
           "  %ty = pdl.type\n  %ty2 = pdl.type\n";
    std::string in = "%x";
    if (i & 1) {
      out += "  %ty1 = pdl.type\n  %o1 = pdl.operation \"" + t +
             "\"(%x : !pdl.value) -> (%ty1 : !pdl.type)\n"
             "  %v1 = pdl.result 0 of %o1\n";
      in = "%v1";
    }
    out += "  %o2 = pdl.operation \"" + s + "\"(" + in +
           " : !pdl.value) -> (%ty2 : !pdl.type)\n"
           "  %v2 = pdl.result 0 of %o2\n"
           "  %root = pdl.operation \"" +
           r +
           "\"(%v2 : !pdl.value) -> (%ty : !pdl.type)\n"
           "  pdl.rewrite %root {\n    %id = pdl.attribute = " +
           I +
           " : i64\n"
           "    %new = pdl.operation \"bench.fused\"(%x : !pdl.value) {\"id\" = %id} -> (%ty : "
           "!pdl.type)\n"
           "    pdl.replace %root with %new\n  }\n}\n";
  }
  return out;
}

static FrozenRewritePatternSet makePatterns(MLIRContext* ctx, const std::string& wl,
                                            const std::string& form, bool count) {
  RewritePatternSet set(ctx);
  if (form == "pdl") {
    std::string src;
    if (wl == "transpose_pairs" || wl == "cascade" || wl == "wide_return")
      src = pdlTranspose();
    else if (wl == "matmul_add_relu")
      src = pdlMAR();
    else if (wl == "no_match")
      src = pdlTranspose() + pdlMAR();
    else if (wl == "many_patterns" || wl == "many_patterns_1000")
      src = pdlMany(Gen::numPatterns(wl));
    OwningOpRef<ModuleOp> m = parseSourceString<ModuleOp>("module {\n" + src + "}\n", ctx);
    if (!m) exit(1);
    PDLPatternModule pdl(std::move(m));
    pdl.registerRewriteFunction(
        "ComposePerm", [](PatternRewriter& rw, PDLResultList& res, ArrayRef<PDLValue> a) {
          ++gRewrites;
          res.push_back(composePerm(rw, llvm::cast<DenseI64ArrayAttr>(a[0].cast<Attribute>()),
                                    llvm::cast<DenseI64ArrayAttr>(a[1].cast<Attribute>())));
          return success();
        });
    set.add(std::move(pdl));
  } else if (form == "cpp") {
    if (wl == "transpose_pairs" || wl == "cascade" || wl == "no_match" || wl == "wide_return")
      set.add<ComposeTransposes>(ctx);
    if (wl == "matmul_add_relu" || wl == "no_match") set.add<FuseMatmulAddRelu>(ctx);
    if (wl == "many_patterns" || wl == "many_patterns_1000") {
      auto names = Gen::getUnaryNames(ctx);
      int p = Gen::numPatterns(wl);
      for (int i = 0; i < p; ++i)
        set.add<ManyPattern>(
            ctx, names[Gen::pr(i)], names[40 + Gen::ps(i, p)],
            (i & 1) ? std::optional<OperationName>(names[40 + Gen::pt(i, p)]) : std::nullopt, i);
    }
  }  // form == "none": empty set
  if (count) set.add<CountVisits>(ctx);
  return FrozenRewritePatternSet(std::move(set));
}
