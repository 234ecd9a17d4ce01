// The rewriting workloads on MLIR (16 to 22), the way an MLIR user writes them: dialect in ODS,
// patterns in C++ (--form cpp) and in PDL (--form pdl). benchmarks/rewriting is the same on Weft; its
// workloads.h says what the programs are, and both print the same CSV.
//
//   mlirbench --wl cascade --form cpp --cfg default --n 100000 --reps 5
//
// Configurations: default = GreedyRewriteConfig(), topdown = + useTopDownTraversal, fast = topdown
// without region simplification, nofold (from MLIR 21 on) = fast without folding and without one constant
// for equal ones, neither of which these programs have. Modes: rewrite, visits, build, pass, freeze, and
// configurations, which names those that there are.
#include "patterns.h"

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

  std::vector<std::string> configurations = {"default", "topdown", "fast"};
#if LLVM_VERSION_MAJOR >= 21
  configurations.push_back("nofold");
#endif
  if (mode == "configurations") {
    printf("%d", LLVM_VERSION_MAJOR);
    for (const std::string &name : configurations) printf(" %s", name.c_str());
    puts("");
    return 0;
  }
  if (std::find(configurations.begin(), configurations.end(), cfg) == configurations.end()) {
    fprintf(stderr, "no configuration %s\n", cfg.c_str());
    return 1;
  }
  GreedyRewriteConfig config;
  // Without a limit to iterations, which cascade would hit.
#if LLVM_VERSION_MAJOR >= 21
  config.setMaxIterations(10);
  if (cfg != "default") config.setUseTopDownTraversal();
  if (cfg == "fast" || cfg == "nofold")
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  if (cfg == "nofold") config.enableFolding(false).enableConstantCSE(false);
#else
  config.maxIterations = 10;
  config.useTopDownTraversal = cfg != "default";
  if (cfg == "fast")
#if LLVM_VERSION_MAJOR >= 18
    config.enableRegionSimplification = GreedySimplifyRegionLevel::Disabled;
#else
    config.enableRegionSimplification = false;
#endif
#endif

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
#if LLVM_VERSION_MAJOR >= 20
      bool ok = succeeded(applyPatternsGreedily(g.graph.getOperation(), p, config));
#else
      bool ok = succeeded(
          applyPatternsAndFoldGreedily(g.graph.getOperation(), p, config));
#endif
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
