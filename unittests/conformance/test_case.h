// ONNX's backend tests in a folder:
//
//   DIR/SUITE/test_x/model.onnx, test_data_set_N/{input,output}_N.pb
//   DIR/light_x.onnx, DIR/light_x_output_0.pb       (or in DIR/light; the input is i / size)
#pragma once

#include <string>
#include <vector>

#include "ir/base/status.h"
#include "unittests/conformance/compare.h"

namespace weft::conformance {

struct DataSet {
  std::vector<std::string> inputs, outputs;  // files, in the order of the graph's
};

struct TestCase {
  std::string data;  // the name of the source
  std::string suite, name;
  std::string model;
  std::vector<DataSet> data_sets;
  bool made_inputs = false;  // element i of an input of n elements is i / n, and no file has it
  std::vector<std::string> graph_ops;  // of suite node: see OpsOfModel
  std::string op;                      // of suite node: what the test is about
  Tolerance tolerance;
  bool random = false;    // only shapes and types are to be compared
  bool disputed = false;  // a failure says nothing

  std::string Key() const { return suite + "/" + name; }
};

// Sorted by suite and name. InvalidArgument when the folder holds no test.
absl::StatusOr<std::vector<TestCase>> FindCases(const std::string& data, const std::string& folder);

// What the name of a test says about how it is to be judged.
void JudgeByName(TestCase* test);

// Sets `op` where graph_ops is known: the only op of the graph; of several, the one that the name of
// the test begins with; of the expansion of a function, that of the test of the function.
void NameOps(std::vector<TestCase>* cases);

}  // namespace weft::conformance
