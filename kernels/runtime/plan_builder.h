// How a Plan is made; see kernels/runtime/plan.h. Tensors that share memory (a view and what it views, an
// in-place result and its operand) belong to one root; roots get an address, tensors take theirs. The root of a
// tensor that is written into a wider one is a part of that one's.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ir/analysis/inplace.h"
#include "kernels/runtime/plan.h"

namespace weft::kernels {

class PlanBuilder {
 public:
  PlanBuilder(std::unique_ptr<ir::Program> program, const PlanResources& resources,
              std::span<const BoundPorts> bound);
  absl::StatusOr<std::unique_ptr<Plan>> Build();

 private:
  enum class Home { kArena, kConstant, kInput, kOutput };
  struct Root {
    Home home = Home::kArena;
    size_t port = 0;                  // of kInput, kOutput
    ir::Attribute constant{};         // of kConstant
    const std::byte* data = nullptr;  // its contents, once a kernel reads them
    size_t bytes = 0;
    int first = 0, last = 0;  // steps; -1 is before the first
    bool overread = false;    // by a kernel that ReadsPastEnd
    bool is_staged = false;   // of kInput: copied into the arena before the first step
    int merged_into = -1;     // another root, whose memory it shares
    int part_of = -1;         // another root, at `offset` bytes of which its memory begins
    size_t offset = 0;
    int arena_buffer = -1;
    ir::DataType dtype = ir::DataType::kNull;
  };
  struct Tensor {
    ir::Type type;
    int root = -1;
  };
  struct StepTensors {
    ir::Operation op;
    std::vector<int> inputs, outputs;  // -1: not given
  };
  struct Read {
    size_t step, operand;
  };

  absl::Status AddInputs();
  absl::Status AddOp(ir::Operation op);
  absl::Status AddStep(ir::Operation op, ChosenKernel chosen, std::string key);
  absl::StatusOr<KernelContext> MakeContext(ir::Operation op) const;
  int AddTensor(ir::Value value, int root);
  int AddRoot(Root root);
  int FindRoot(int root) const;
  // The root whose memory it has a part of; itself where there is none.
  int FindWhole(int root) const;
  int TensorOf(ir::Value value) const;  // -1 for no value
  Plan::Address AddressOfRoot(int index);

  // What reads tensors of the root itself, in order.
  std::vector<Read> ReadsOf(int root) const;

  void FindLifetimes();
  void PlaceOutputs();
  bool GrowsOverInput(size_t step) const;
  void WritePartsInPlace();
  bool MayBePart(int tensor, int whole, bool is_dense) const;
  void UseWholeWith(const Root& part);
  bool AllReadSpaced(int root, const RowSpacing& rows) const;
  void SpaceReaders(int root, const RowSpacing& rows);
  size_t BytesOfResults(int step) const;
  bool MayBeReadInWhole(int result, int whole, const Placement& placement) const;
  void ReadPartsInPlace();
  void ShareInPlace();
  bool MayShare(int step, uint32_t operand) const;
  bool ShareWith(int step, uint32_t operand);
  bool IsBound(size_t output, size_t input) const;
  int OnlyWriter(int root) const;
  bool MayLieInInput(int output, int input) const;
  void BindOutputs();
  void StageInputs();
  absl::Status AllocateArena();
  std::byte* AlignedConstant(Root& root);
  Plan::Address AddressOf(int tensor);
  void FillViews();
  void AddOutputCopies();

  PlanResources resources_;
  std::unique_ptr<Plan> plan_;
  ir::Program* program_;
  const ir::InplaceAnalysis inplace_;
  const std::span<const BoundPorts> bound_;
  std::vector<Tensor> tensors_;
  std::unordered_map<uint32_t, int> tensor_of_value_;  // by value id; looked up, never iterated
  std::vector<Root> roots_;
  std::vector<StepTensors> step_tensors_;
  std::vector<int> input_tensors_, output_tensors_;
  std::vector<int> scratch_buffers_;  // by step; -1 for none
};

}  // namespace weft::kernels
