// What is fuzzed: the readers of outside input. A target takes any bytes, reads them, and checks what
// must hold of whatever was read; it aborts where that does not hold.
//
//   FindFuzzTarget("onnx")->run(bytes);
//
// libFuzzer calls them (libfuzzer_main.cc), and so does the test that replays the committed corpus
// (corpus_test.cc).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace weft::fuzz {

// Programs as text: what parses prints to a text that parses to the same.
void FuzzProgramText(std::span<const uint8_t> bytes);
// Files of rules, text as well as mapping dicts: messages have one line, what is read prints to a
// text that is read to the same, and rules that were read keep a small program valid.
void FuzzRules(std::span<const uint8_t> bytes);
// Models: what is imported verifies, and what of it can be exported is imported again.
void FuzzOnnx(std::span<const uint8_t> bytes);
// Files of tensors: .npy where the bytes begin as one, else a TensorProto, a SequenceProto or an
// OptionalProto. What is read is the same when it has been written and read again.
void FuzzTensors(std::span<const uint8_t> bytes);
// One argument a line: --dim, --input-shape, --overwrite-input-shape, --dim-range, --fail-if. A
// program whose shapes were fixed verifies.
void FuzzFlags(std::span<const uint8_t> bytes);

struct FuzzTarget {
  std::string_view name;  // of the corpus too: unittests/fuzz/corpus/<name>
  void (*run)(std::span<const uint8_t> bytes);
};

std::span<const FuzzTarget> FuzzTargets();
const FuzzTarget* FindFuzzTarget(std::string_view name);  // null: there is none

}  // namespace weft::fuzz
