// The programs that are rewritten. Part of mlirbench.cpp alone.
#pragma once

#include "bench_dialect.h"

template <typename OpT, typename... Args>
static OpT make(OpBuilder& b, Location loc, Args&&... args) {
#if LLVM_VERSION_MAJOR >= 22
  return OpT::create(b, loc, std::forward<Args>(args)...);
#else
  return b.create<OpT>(loc, std::forward<Args>(args)...);
#endif
}

static const int64_t kPerms[5][3] = {{0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

struct Gen {
  MLIRContext* ctx;
  OpBuilder b;
  Location loc;
  OwningOpRef<ModuleOp> module;
  GraphOp graph;
  Block* block = nullptr;
  RankedTensorType x3;  // tensor<1x300x256xf32>
  int64_t bodyOps = 0;

  explicit Gen(MLIRContext* ctx) : ctx(ctx), b(ctx), loc(UnknownLoc::get(ctx)) {
    module = ModuleOp::create(loc);
    b.setInsertionPointToStart(module->getBody());
    graph = make<GraphOp>(b, loc);
    block = &graph->getRegion(0).emplaceBlock();
    b.setInsertionPointToStart(block);
    x3 = RankedTensorType::get({1, 300, 256}, b.getF32Type());
  }
  Value arg(Type t) { return block->addArgument(t, loc); }
  Value transpose(Value v, int p) {
    auto in = llvm::cast<RankedTensorType>(v.getType());
    int64_t shape[3];
    for (int i = 0; i < 3; ++i) shape[i] = in.getDimSize(kPerms[p][i]);
    ++bodyOps;
    return make<TransposeOp>(b, loc, RankedTensorType::get(shape, in.getElementType()), v,
                             b.getDenseI64ArrayAttr(kPerms[p]));
  }
  template <typename OpT>
  Value op(Type t, ValueRange operands) {
    ++bodyOps;
    return make<OpT>(b, loc, t, operands);
  }
  void finish(ValueRange vals) { make<ReturnOp>(b, loc, vals); }

  // (a) N/2 independent pairs transpose(transpose(x)).
  void transposePairs(int64_t n) {
    Value args[8];
    for (auto& a : args) a = arg(x3);
    SmallVector<Value, 8> pend;
    for (int64_t i = 0; i < n / 2; ++i) {
      Value v = transpose(args[i % 8], i % 5);
      v = transpose(v, (i / 5) % 5);
      pend.push_back(v);
      if (pend.size() == 8 || i + 1 == n / 2) {
        make<SinkOp>(b, loc, pend);
        pend.clear();
      }
    }
    finish({});
  }
  // (f) as (a), but every pair result feeds ONE wide return: driver super-linearity probe.
  void wideReturn(int64_t n) {
    Value args[8];
    for (auto& a : args) a = arg(x3);
    SmallVector<Value> pend;
    for (int64_t i = 0; i < n / 2; ++i)
      pend.push_back(transpose(transpose(args[i % 8], i % 5), (i / 5) % 5));
    finish(pend);
  }
  // (e) one chain of N transposes.
  void cascade(int64_t n) {
    Value v = arg(x3);
    for (int64_t i = 0; i < n; ++i) v = transpose(v, i % 5);
    finish(v);
  }
  // (b) chain of N/3 matmul->add->relu triples.
  void matmulAddRelu(int64_t n) {
    Value x = arg(x3), w[16], bias[16];
    auto wt = RankedTensorType::get({256, 256}, b.getF32Type());
    auto bt = RankedTensorType::get({256}, b.getF32Type());
    for (auto& a : w) a = arg(wt);
    for (auto& a : bias) a = arg(bt);
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
  static int ps(int i, int p) { return p == 100 ? (7 * i + 3) % 60 : (i / 40 + 7 * i) % 60; }
  static int pt(int i, int p) { return (ps(i, p) + 11) % 60; }
  static int numPatterns(const std::string& wl) { return wl == "many_patterns_1000" ? 1000 : 100; }
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
    for (int i = 0; i < p; ++i) rs[pr(i)][ps(i, p)] = true;
    Value v = arg(x3);
    int lastM = -1;  // inner index if the last op is an m op
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
          while (lastM >= 0 && rs[r][lastM]) r = (r + 1) % 40;
          v = unary(v, r, names);
          lastM = -1;
        }
      }
    }
    finish(v);
  }
  static SmallVector<OperationName> getUnaryNames(MLIRContext* ctx) {
    SmallVector<OperationName> names;
    for (int i = 0; i < 100; ++i)
      names.push_back(OperationName(
          (i < 40 ? "bench.k" + std::to_string(i) : "bench.m" + std::to_string(i - 40)), ctx));
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
    for (int64_t i = 0; i < n; ++i) x = op<ReluOp>(x3, x);
    finish({});
  }
};

static Gen makeGraph(MLIRContext* ctx, const std::string& wl, int64_t n) {
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
