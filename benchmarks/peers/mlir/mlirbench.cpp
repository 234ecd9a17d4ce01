// The rewriting workloads on MLIR (16, or later), the way an MLIR user writes them: dialect in ODS,
// patterns in C++ (--form cpp) and in PDL (--form pdl). benchmarks/rewriting is the same on Weft; its
// workloads.h says what the programs are, and both print the same CSV.
//
//   mlirbench --wl cascade --form cpp --cfg default --n 100000 --reps 5
//
// Configurations: default = GreedyRewriteConfig(), topdown = + useTopDownTraversal, fast = topdown
// without region simplification. Modes: rewrite, visits, build, pass, freeze.
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
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <cstdio>
#include <cstring>
#include <functional>
#include <malloc.h>
#include <string>
#include <sys/resource.h>
#include <vector>

using namespace mlir;

//===----------------------------------------------------------------------===//
// The 'bench' dialect, written by hand the way ODS would generate it.
//===----------------------------------------------------------------------===//
#include "BenchDialect.h.inc"
#define GET_OP_CLASSES
#include "BenchOps.h.inc"
#include "BenchDialect.cpp.inc"
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
    if (out.getDimSize(i) != in.getDimSize(p[i]))
      return emitOpError("result shape mismatch");
  }
  return success();
}

static LogicalResult verifyTensors(Operation *op) {
  for (Value v : op->getOperands())
    if (!llvm::isa<RankedTensorType>(v.getType()))
      return op->emitOpError("operand must be a ranked tensor");
  for (Type t : op->getResultTypes())
    if (!llvm::isa<RankedTensorType>(t))
      return op->emitOpError("result must be a ranked tensor");
  return success();
}

// 100 unary op classes: bench.k0..k39 (pattern roots), bench.m0..m59 (inner).
static std::string unaryNames[100];
template <int I>
class UnaryOp : public Op<UnaryOp<I>, OpTrait::ZeroRegions, OpTrait::OneResult,
                          OpTrait::ZeroSuccessors, OpTrait::OneOperand,
                          OpTrait::OpInvariants, MemoryEffectOpInterface::Trait> {
public:
  using Base = Op<UnaryOp<I>, OpTrait::ZeroRegions, OpTrait::OneResult,
                  OpTrait::ZeroSuccessors, OpTrait::OneOperand,
                  OpTrait::OpInvariants, MemoryEffectOpInterface::Trait>;
  using Base::Base;
  static StringRef getOperationName() {
    std::string &s = unaryNames[I];
    if (s.empty())
      s = I < 40 ? "bench.k" + std::to_string(I)
                 : "bench.m" + std::to_string(I - 40);
    return s;
  }
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
  void getEffects(
      SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &) {}
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
} // namespace bench
using namespace bench;

//===----------------------------------------------------------------------===//
// Workload generators
//===----------------------------------------------------------------------===//
static const int64_t kPerms[5][3] = {
    {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

struct Gen {
  MLIRContext *ctx;
  OpBuilder b;
  Location loc;
  OwningOpRef<ModuleOp> module;
  GraphOp graph;
  Block *block = nullptr;
  RankedTensorType x3; // tensor<1x300x256xf32>
  int64_t bodyOps = 0;

  explicit Gen(MLIRContext *ctx)
      : ctx(ctx), b(ctx), loc(UnknownLoc::get(ctx)) {
    module = ModuleOp::create(loc);
    b.setInsertionPointToStart(module->getBody());
    graph = b.create<GraphOp>(loc);
    block = &graph->getRegion(0).emplaceBlock();
    b.setInsertionPointToStart(block);
    x3 = RankedTensorType::get({1, 300, 256}, b.getF32Type());
  }
  Value arg(Type t) { return block->addArgument(t, loc); }
  Value transpose(Value v, int p) {
    auto in = llvm::cast<RankedTensorType>(v.getType());
    int64_t shape[3];
    for (int i = 0; i < 3; ++i)
      shape[i] = in.getDimSize(kPerms[p][i]);
    ++bodyOps;
    return b.create<TransposeOp>(
        loc, RankedTensorType::get(shape, in.getElementType()), v,
        b.getDenseI64ArrayAttr(kPerms[p]));
  }
  template <typename OpT> Value op(Type t, ValueRange operands) {
    ++bodyOps;
    return b.create<OpT>(loc, t, operands);
  }
  void finish(ValueRange vals) { b.create<ReturnOp>(loc, vals); }

  // (a) N/2 independent pairs transpose(transpose(x)).
  void transposePairs(int64_t n) {
    Value args[8];
    for (auto &a : args)
      a = arg(x3);
    SmallVector<Value, 8> pend;
    for (int64_t i = 0; i < n / 2; ++i) {
      Value v = transpose(args[i % 8], i % 5);
      v = transpose(v, (i / 5) % 5);
      pend.push_back(v);
      if (pend.size() == 8 || i + 1 == n / 2) {
        b.create<SinkOp>(loc, pend);
        pend.clear();
      }
    }
    finish({});
  }
  // (f) as (a), but every pair result feeds ONE wide return: driver super-linearity probe.
  void wideReturn(int64_t n) {
    Value args[8];
    for (auto &a : args)
      a = arg(x3);
    SmallVector<Value> pend;
    for (int64_t i = 0; i < n / 2; ++i)
      pend.push_back(transpose(transpose(args[i % 8], i % 5), (i / 5) % 5));
    finish(pend);
  }
  // (e) one chain of N transposes.
  void cascade(int64_t n) {
    Value v = arg(x3);
    for (int64_t i = 0; i < n; ++i)
      v = transpose(v, i % 5);
    finish(v);
  }
  // (b) chain of N/3 matmul->add->relu triples.
  void matmulAddRelu(int64_t n) {
    Value x = arg(x3), w[16], bias[16];
    auto wt = RankedTensorType::get({256, 256}, b.getF32Type());
    auto bt = RankedTensorType::get({256}, b.getF32Type());
    for (auto &a : w)
      a = arg(wt);
    for (auto &a : bias)
      a = arg(bt);
    for (int64_t i = 0; i < n / 3; ++i) {
      Value m = op<MatMulOp>(x3, {x, w[i % 16]});
      Value a = op<AddOp>(x3, {m, bias[i % 16]});
      x = op<ReluOp>(x3, a);
    }
    finish(x);
  }
  // (c) near misses only.
  void noMatch(int64_t n) {
    Value x = arg(x3);
    auto bt = RankedTensorType::get({256}, b.getF32Type());
    Value bias = arg(bt);
    auto xt = RankedTensorType::get({1, 256, 300}, b.getF32Type());
    for (int64_t i = 0; i < n / 6; ++i) {
      Value t = transpose(x, 0);
      Value r = op<ReluOp>(xt, t);
      Value t2 = transpose(r, 0);
      Value s = op<MulOp>(x3, {t2, t2});
      Value a = op<AddOp>(x3, {s, bias});
      x = op<ReluOp>(x3, a);
    }
    finish(x);
  }
  // (d) p = 100 or 1000 patterns.
  static int pr(int i) { return i % 40; }
  static int ps(int i, int p) {
    return p == 100 ? (7 * i + 3) % 60 : (i / 40 + 7 * i) % 60;
  }
  static int pt(int i, int p) { return (ps(i, p) + 11) % 60; }
  static int numPatterns(const std::string &wl) {
    return wl == "many_patterns_1000" ? 1000 : 100;
  }
  Value unary(Value v, int idx, ArrayRef<OperationName> names) {
    OperationState st(loc, names[idx]);
    st.addOperands(v);
    st.addTypes(v.getType());
    ++bodyOps;
    return b.create(st)->getResult(0);
  }
  void manyPatterns(int64_t n, int p) {
    SmallVector<OperationName> names = getUnaryNames(ctx);
    static bool rs[40][60];
    for (int i = 0; i < p; ++i)
      rs[pr(i)][ps(i, p)] = true;
    Value v = arg(x3);
    int lastM = -1; // inner index if the last op is an m op
    for (int64_t j = 0; j < n / 10; ++j) {
      int i = (j * 37) % p;
      int used = 2;
      if (i & 1) {
        v = unary(v, 40 + pt(i, p), names);
        used = 3;
      }
      v = unary(v, 40 + ps(i, p), names);
      v = unary(v, pr(i), names);
      lastM = -1;
      for (int q = 0; q < 10 - used; ++q) {
        if (q % 2 == 0) {
          lastM = (j + q) % 60;
          v = unary(v, 40 + lastM, names);
        } else {
          int r = (j * 3 + q * 7) % 40;
          while (lastM >= 0 && rs[r][lastM])
            r = (r + 1) % 40;
          v = unary(v, r, names);
          lastM = -1;
        }
      }
    }
    finish(v);
  }
  static SmallVector<OperationName> getUnaryNames(MLIRContext *ctx) {
    SmallVector<OperationName> names;
    for (int i = 0; i < 100; ++i)
      names.push_back(OperationName(
          (i < 40 ? "bench.k" + std::to_string(i)
                  : "bench.m" + std::to_string(i - 40)),
          ctx));
    return names;
  }
  // CSE: a=relu(x), b=relu(x), x=add(a,b); N/3 duplicates.
  void cse(int64_t n) {
    Value x = arg(x3);
    for (int64_t i = 0; i < n / 3; ++i) {
      Value a = op<ReluOp>(x3, x);
      Value c = op<ReluOp>(x3, x);
      x = op<AddOp>(x3, {a, c});
    }
    finish(x);
  }
  // DCE: matmulAddRelu chain with nothing returned: all dead.
  void dead(int64_t n) {
    Value x = arg(x3);
    for (int64_t i = 0; i < n; ++i)
      x = op<ReluOp>(x3, x);
    finish({});
  }
};

static Gen makeGraph(MLIRContext *ctx, const std::string &wl, int64_t n) {
  Gen g(ctx);
  if (wl == "transpose_pairs")
    g.transposePairs(n);
  else if (wl == "wide_return")
    g.wideReturn(n);
  else if (wl == "cascade")
    g.cascade(n);
  else if (wl == "matmul_add_relu")
    g.matmulAddRelu(n);
  else if (wl == "no_match")
    g.noMatch(n);
  else if (wl == "many_patterns" || wl == "many_patterns_1000")
    g.manyPatterns(n, Gen::numPatterns(wl));
  else if (wl == "cse")
    g.cse(n);
  else if (wl == "dead")
    g.dead(n);
  else {
    fprintf(stderr, "unknown workload %s\n", wl.c_str());
    exit(1);
  }
  return g;
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//
static int64_t gRewrites = 0, gVisits = 0;

struct CountVisits : public RewritePattern {
  explicit CountVisits(MLIRContext *ctx)
      : RewritePattern(MatchAnyOpTypeTag(), 1000, ctx) {}
  LogicalResult matchAndRewrite(Operation *, PatternRewriter &) const override {
    ++gVisits;
    return failure();
  }
};
static DenseI64ArrayAttr composePerm(Builder &b, ArrayRef<int64_t> inner,
                                     ArrayRef<int64_t> outer) {
  SmallVector<int64_t, 6> r(outer.size());
  for (size_t i = 0; i < outer.size(); ++i)
    r[i] = inner[outer[i]];
  return b.getDenseI64ArrayAttr(r);
}
struct ComposeTransposes : public OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op,
                                PatternRewriter &rw) const override {
    auto inner = op.getInput().getDefiningOp<TransposeOp>();
    if (!inner)
      return failure();
    ++gRewrites;
    rw.replaceOpWithNewOp<TransposeOp>(
        op, op->getResult(0).getType(), inner.getInput(),
        composePerm(rw, inner.getPerm(), op.getPerm()));
    return success();
  }
};
struct FuseMatmulAddRelu : public OpRewritePattern<ReluOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReluOp op, PatternRewriter &rw) const override {
    auto add = op.getOperand().getDefiningOp<AddOp>();
    if (!add)
      return failure();
    auto mm = add->getOperand(0).getDefiningOp<MatMulOp>();
    if (!mm)
      return failure();
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
  ManyPattern(MLIRContext *ctx, OperationName r, OperationName s,
              std::optional<OperationName> t, int id)
      : RewritePattern(r.getStringRef(), 1, ctx), s(s), t(t), id(id) {}
  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rw) const override {
    Operation *in = op->getOperand(0).getDefiningOp();
    if (!in || in->getName() != s)
      return failure();
    if (t) {
      in = in->getOperand(0).getDefiningOp();
      if (!in || in->getName() != *t)
        return failure();
    }
    ++gRewrites;
    rw.replaceOpWithNewOp<FusedKOp>(op, op->getResult(0).getType(),
                                    in->getOperand(0),
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
    out += "pdl.pattern @p" + I + " : benefit(1) {\n  %x = pdl.operand\n"
           "  %ty = pdl.type\n  %ty2 = pdl.type\n";
    std::string in = "%x";
    if (i & 1) {
      out += "  %ty1 = pdl.type\n  %o1 = pdl.operation \"" + t + "\"(%x : !pdl.value) -> (%ty1 : !pdl.type)\n"
             "  %v1 = pdl.result 0 of %o1\n";
      in = "%v1";
    }
    out += "  %o2 = pdl.operation \"" + s + "\"(" + in + " : !pdl.value) -> (%ty2 : !pdl.type)\n"
           "  %v2 = pdl.result 0 of %o2\n"
           "  %root = pdl.operation \"" + r + "\"(%v2 : !pdl.value) -> (%ty : !pdl.type)\n"
           "  pdl.rewrite %root {\n    %id = pdl.attribute = " + I + " : i64\n"
           "    %new = pdl.operation \"bench.fused\"(%x : !pdl.value) {\"id\" = %id} -> (%ty : !pdl.type)\n"
           "    pdl.replace %root with %new\n  }\n}\n";
  }
  return out;
}

static FrozenRewritePatternSet makePatterns(MLIRContext *ctx,
                                            const std::string &wl,
                                            const std::string &form,
                                            bool count) {
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
    OwningOpRef<ModuleOp> m =
        parseSourceString<ModuleOp>("module {\n" + src + "}\n", ctx);
    if (!m)
      exit(1);
    PDLPatternModule pdl(std::move(m));
    pdl.registerRewriteFunction(
        "ComposePerm",
        [](PatternRewriter &rw, PDLResultList &res, ArrayRef<PDLValue> a) {
          ++gRewrites;
          res.push_back(composePerm(
              rw, llvm::cast<DenseI64ArrayAttr>(a[0].cast<Attribute>()),
              llvm::cast<DenseI64ArrayAttr>(a[1].cast<Attribute>())));
          return success();
        });
    set.add(std::move(pdl));
  } else if (form == "cpp") {
    if (wl == "transpose_pairs" || wl == "cascade" || wl == "no_match" || wl == "wide_return")
      set.add<ComposeTransposes>(ctx);
    if (wl == "matmul_add_relu" || wl == "no_match")
      set.add<FuseMatmulAddRelu>(ctx);
    if (wl == "many_patterns" || wl == "many_patterns_1000") {
      auto names = Gen::getUnaryNames(ctx);
      int p = Gen::numPatterns(wl);
      for (int i = 0; i < p; ++i)
        set.add<ManyPattern>(
            ctx, names[Gen::pr(i)], names[40 + Gen::ps(i, p)],
            (i & 1) ? std::optional<OperationName>(names[40 + Gen::pt(i, p)])
                    : std::nullopt,
            i);
    }
  } // form == "none": empty set
  if (count)
    set.add<CountVisits>(ctx);
  return FrozenRewritePatternSet(std::move(set));
}

//===----------------------------------------------------------------------===//
// Harness
//===----------------------------------------------------------------------===//
// CPU time of this thread: the machine is shared, so wall time would also count
// the time slices given to other processes. (One thread does all the work.)
static bool gWall = false;
static double now() {
  struct timespec ts;
  clock_gettime(gWall ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &ts);
  return ts.tv_sec + ts.tv_nsec * 1e-9;
}
static double med(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  size_t n = v.size();
  return n % 2 ? v[n / 2] : 0.5 * (v[n / 2 - 1] + v[n / 2]);
}
static double mn(const std::vector<double> &v) {
  return *std::min_element(v.begin(), v.end());
}
static size_t heapBytes() {
  struct mallinfo2 mi = mallinfo2();
  return mi.uordblks + mi.hblkhd;
}
static long peakKB() {
  struct rusage ru;
  getrusage(RUSAGE_SELF, &ru);
  return ru.ru_maxrss;
}
static int64_t countOps(Operation *op) {
  int64_t n = 0;
  op->walk([&](Operation *) { ++n; });
  return n;
}

int main(int argc, char **argv) {
  std::string wl = "transpose_pairs", form = "cpp", cfg = "default", mode = "rewrite";
  int64_t n = 1000;
  int reps = 9;
  bool threads = false;
  for (int i = 1; i < argc; ++i) {
    auto val = [&] { return std::string(argv[++i]); };
    std::string a = argv[i];
    if (a == "--wl") wl = val();
    else if (a == "--form") form = val();
    else if (a == "--cfg") cfg = val();
    else if (a == "--mode") mode = val();
    else if (a == "--n") n = std::stoll(val());
    else if (a == "--reps") reps = std::stoi(val());
    else if (a == "--threads") threads = gWall = true;
    else if (a == "--wall") gWall = true;
    else { fprintf(stderr, "bad arg %s\n", a.c_str()); return 1; }
  }
  DialectRegistry registry;
  registry.insert<BenchDialect, pdl::PDLDialect, pdl_interp::PDLInterpDialect>();
  MLIRContext ctx(registry, MLIRContext::Threading::DISABLED);
  if (threads)
    ctx.enableMultithreading();
  ctx.loadDialect<BenchDialect>();
  ctx.loadDialect<pdl::PDLDialect>();
  ctx.loadDialect<pdl_interp::PDLInterpDialect>();

  GreedyRewriteConfig config;
  if (cfg == "topdown" || cfg == "fast")
    config.useTopDownTraversal = true;
  if (cfg == "fast")
#if LLVM_VERSION_MAJOR >= 18
    config.enableRegionSimplification = GreedySimplifyRegionLevel::Disabled;
#else
    config.enableRegionSimplification = false;
#endif
  // Upstream default before the 10-iteration limit would matter for cascade:
  config.maxIterations = 10;

  auto line = [&](const char *metric, double secMed, double secMin, double ops,
                  double rewrites, const std::string &extra) {
    printf("%s,%s,%s,%s,%lld,%s,%.9f,%.9f,%.2f,%.2f,%lld,%lld,%ld,%s\n",
           mode.c_str(), wl.c_str(), form.c_str(), cfg.c_str(), (long long)n,
           metric, secMed, secMin, ops ? secMed / ops * 1e9 : 0.0,
           rewrites ? secMed / rewrites * 1e9 : 0.0, (long long)ops,
           (long long)rewrites, peakKB(), extra.c_str());
    fflush(stdout);
  };

  if (mode == "build") { // build, walk, verify, print, parse, bytecode, destroy
    std::vector<double> tb, tw, tv, tp, tparse, tbw, tbr, td, tm;
    double heapPerOp = 0;
    size_t textBytes = 0, bcBytes = 0;
    int64_t body = 0;
    long peakAfterBuild = 0;
    for (int r = 0; r < reps; ++r) {
      size_t h0 = heapBytes();
      double t0 = now();
      Gen g = makeGraph(&ctx, wl, n);
      double t1 = now();
      tb.push_back(t1 - t0);
      heapPerOp = double(heapBytes() - h0) / double(g.bodyOps);
      if (r == 0) peakAfterBuild = peakKB();
      body = g.bodyOps;
      t0 = now();
      int64_t cnt = 0;
      uint64_t h = 0;
      g.module->walk([&](Operation *op) {
        ++cnt;
        for (Value v : op->getOperands())
          h += (uintptr_t)v.getDefiningOp();
      });
      t1 = now();
      if (h == 42) puts("!");
      tw.push_back(t1 - t0);
      t0 = now();
      if (failed(verify(*g.module))) return 1;
      t1 = now();
      tv.push_back(t1 - t0);
      std::string text;
      t0 = now();
      {
        llvm::raw_string_ostream os(text);
        g.module->print(os, OpPrintingFlags().printGenericOpForm());
      }
      t1 = now();
      tp.push_back(t1 - t0);
      textBytes = text.size();
      if (getenv("BENCH_DUMP") && r == 0) { puts(text.c_str()); }
      std::string bc;
      t0 = now();
      {
        llvm::raw_string_ostream os(bc);
        (void)writeBytecodeToFile(*g.module, os);
      }
      t1 = now();
      tbw.push_back(t1 - t0);
      bcBytes = bc.size();
      t0 = now();
      g.module = nullptr;
      t1 = now();
      td.push_back(t1 - t0);
      {
        t0 = now();
        ParserConfig pc(&ctx, /*verifyAfterParse=*/false);
        auto m = parseSourceString<ModuleOp>(text, pc);
        t1 = now();
        if (!m) return 1;
        tparse.push_back(t1 - t0);
      }
      {
        t0 = now();
        ParserConfig pc(&ctx, /*verifyAfterParse=*/false);
        auto m = parseSourceString<ModuleOp>(bc, pc);
        t1 = now();
        if (!m) return 1;
        tbr.push_back(t1 - t0);
      }
    }
    char ex[256];
    snprintf(ex, sizeof ex, "heapB/op=%.1f peakKB=%ld", heapPerOp, peakAfterBuild);
    line("build", med(tb), mn(tb), body, 0, ex);
    line("walk", med(tw), mn(tw), body, 0, "");
    line("verify", med(tv), mn(tv), body, 0, "");
    snprintf(ex, sizeof ex, "MB/s=%.1f bytes=%zu B/op=%.1f", textBytes / med(tp) / 1e6, textBytes, double(textBytes) / body);
    line("print_generic", med(tp), mn(tp), body, 0, ex);
    snprintf(ex, sizeof ex, "MB/s=%.1f bytes=%zu", textBytes / med(tparse) / 1e6, textBytes);
    line("parse_text", med(tparse), mn(tparse), body, 0, ex);
    snprintf(ex, sizeof ex, "MB/s=%.1f bytes=%zu B/op=%.1f", bcBytes / med(tbw) / 1e6, bcBytes, double(bcBytes) / body);
    line("bytecode_write", med(tbw), mn(tbw), body, 0, ex);
    snprintf(ex, sizeof ex, "MB/s=%.1f bytes=%zu", bcBytes / med(tbr) / 1e6, bcBytes);
    line("bytecode_read", med(tbr), mn(tbr), body, 0, ex);
    line("destroy", med(td), mn(td), body, 0, "");
    return 0;
  }
  if (mode == "freeze") {
    std::vector<double> t;
    for (int r = 0; r < reps; ++r) {
      double t0 = now();
      FrozenRewritePatternSet p = makePatterns(&ctx, wl, form, false);
      t.push_back(now() - t0);
    }
    line("freeze_patterns", med(t), mn(t), 0, 0, "");
    return 0;
  }
  if (mode == "rewrite" || mode == "visits") {
    FrozenRewritePatternSet p = makePatterns(&ctx, wl, form, mode == "visits");
    std::vector<double> t;
    int64_t body = 0, after = 0;
    for (int r = 0; r < reps; ++r) {
      Gen g = makeGraph(&ctx, wl, n);
      body = g.bodyOps;
      gRewrites = gVisits = 0;
      double t0 = now();
      bool ok = succeeded(
          applyPatternsAndFoldGreedily(g.graph.getOperation(), p, config));
      t.push_back(now() - t0);
      if (!ok)
        fprintf(stderr, "did not converge\n");
      if (r == 0) {
        if (failed(verify(*g.module))) return 1;
        after = countOps(*g.module) - 2;
      }
    }
    int64_t rewrites = gRewrites;
    if (form == "pdl") { // declarative rewrites are not counted by native code
      if (wl == "matmul_add_relu") rewrites = n / 3;
      if (wl == "many_patterns" || wl == "many_patterns_1000") rewrites = n / 10;
    }
    char ex[256];
    snprintf(ex, sizeof ex, "opsAfter=%lld visits=%lld", (long long)after,
             (long long)gVisits);
    line("greedy", med(t), mn(t), body, rewrites, ex);
    return 0;
  }
  if (mode == "pass") {
    for (std::string pass : {"cse", "canonicalize", "sccp"}) {
      std::vector<double> t;
      int64_t body = 0, after = 0;
      for (int r = 0; r < reps; ++r) {
        Gen g = makeGraph(&ctx, wl, n);
        body = g.bodyOps;
        PassManager pm(&ctx);
        pm.enableVerifier(false);
        if (pass == "cse") pm.addPass(createCSEPass());
        else if (pass == "canonicalize") pm.addPass(createCanonicalizerPass());
        else pm.addPass(createSCCPPass());
        double t0 = now();
        if (failed(pm.run(*g.module))) return 1;
        t.push_back(now() - t0);
        if (r == 0) after = countOps(*g.module) - 2;
      }
      line(pass.c_str(), med(t), mn(t), body, 0, "opsAfter=" + std::to_string(after));
    }
    return 0;
  }
  return 1;
}
