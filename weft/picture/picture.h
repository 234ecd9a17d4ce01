// A picture of what passes did to a program, for people: one HTML file that needs nothing else.
//
//   Picture picture(*program);                  // before the passes
//   ... a run with trace.on_rewrite = [&](const auto& r) { picture.Record(r); },
//                  hook = picture.hook()
//   std::string page = picture.Html({.model = "bert.onnx", .pipeline = "fuse"});
//
// The page shows both graphs, folded, and what became what; weft/picture/README.md says how. It depends
// on the program and the info alone: the same gives the same bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/program.h"
#include "weft/picture/lineage.h"

namespace weft::picture {

struct OutputInfo {  // of an output before and after
  std::string name;
  double difference = 0;  // largest, relative to the largest element
  std::string verdict;    // in words
};

// A run of the program as it is after the passes.
struct RunInfo {
  struct Step {
    std::string op, location, kernel;  // as kernels::Step has them
    double milliseconds = 0;           // of one run
    uint64_t arena_bytes = 0;          // in use while it runs
  };
  std::vector<Step> steps;   // in their order
  uint64_t arena_bytes = 0;  // of the whole arena
  std::string conditions;    // "2 threads, avx512"
};

struct PictureInfo {
  std::string model;     // its name
  std::string pipeline;  // or the passes, in words
  std::string numerics;
  std::vector<OutputInfo> outputs = {};  // when they were compared
  std::optional<RunInfo> run = {};
};

class Picture {
 public:
  // Keeps a copy of the program as it is now, which shares the weights. The program must outlive this.
  explicit Picture(ir::Program& program);
  ~Picture();

  void Record(const passes::TracedRewrite& rewrite) { recorder_.Record(rewrite); }
  passes::PassManager::Hook hook() { return recorder_.hook(); }  // around every pass

  // Of the program as it is now.
  std::string Html(const PictureInfo& info);
  // For documents, see weft/picture/drawing.h: what the page shows to begin with; all of it, for Graphviz.
  std::string Svg();
  std::string Dot();

 private:
  struct Graphs;
  Graphs Prepare();

  ir::Program& program_;
  std::unique_ptr<ir::Program> before_;
  RewriteRecorder recorder_;
};

}  // namespace weft::picture
