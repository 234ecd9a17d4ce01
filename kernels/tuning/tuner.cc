#include "kernels/tuning/tuner.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "kernels/runtime/registry.h"
#include "kernels/tuning/own_pool.h"

namespace weft::kernels {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kLeastOfWhole = 0.005;  // by which a run as a whole is to be faster
constexpr double kLeastNanoseconds =
    500;  // that a choice is to save in a run, more than the clock is off
constexpr double kNanosecondsIn1Us = 1e3;

// What runs the ops of one key.
struct Runs {
  KernelChoice kernel;
  std::vector<double> times;  // of all of them together, by round, in nanoseconds
};

// A session whose steps are timed.
class Trial {
 public:
  static absl::StatusOr<std::unique_ptr<Trial>> Create(const ir::Program& program,
                                                       SessionOptions options) {
    options.profile = true;
    options.pool = OwnPool(options);
    auto trial = std::make_unique<Trial>();
    WEFT_ASSIGN_OR_RETURN(trial->session_, Session::Create(program, options));
    return trial;
  }

  // The first run makes plans and packs weights; what it takes is not kept.
  absl::Status Run(std::span<const RuntimeValue> inputs, bool keeps) {
    TakeTurn(*session_->pool());
    WEFT_RETURN_IF_ERROR(session_->RunValues(inputs).status());
    std::map<std::string, double> times;
    double all = 0;
    for (const RunPart& part : session_->last_run())
      for (const Step& step : part.steps()) {
        int64_t& before = before_[&step];
        const auto time = static_cast<double>(step.nanoseconds - before);
        before = step.nanoseconds;
        all += time;
        if (step.key.empty()) continue;
        times[step.key] += time;
        Runs& runs = by_key_[step.key];
        runs.kernel = {step.provider, step.isa ? std::string(IsaName(*step.isa)) : ""};
      }
    if (!keeps) return absl::OkStatus();
    for (const auto& [key, time] : times) by_key_[key].times.push_back(time);
    all_.push_back(all);
    return absl::OkStatus();
  }
  // Of all steps together, those without a key too, by round, in nanoseconds.
  const std::vector<double>& all() const { return all_; }
  const std::map<std::string, Runs>& by_key() const { return by_key_; }

 private:
  std::unique_ptr<Session> session_;
  std::map<const Step*, int64_t> before_;
  std::map<std::string, Runs> by_key_;
  std::vector<double> all_;
};

absl::Status CheckStop(const TuneOptions& tune) {
  return tune.stop && tune.stop() ? absl::CancelledError("tuning was stopped") : absl::OkStatus();
}

bool AreEqual(const KernelChoice& a, const KernelChoice& b) {
  return a.provider == b.provider && a.isa == b.isa;
}

// In place of the kernels that are usual.
absl::StatusOr<std::vector<KernelChoice>> Candidates(const SessionOptions& options,
                                                     bool keeps_order) {
  WEFT_ASSIGN_OR_RETURN(std::vector<std::string> providers, ProviderOrder(options.provider));
  providers.erase(std::remove(providers.begin(), providers.end(), "reference"), providers.end());
  std::vector<KernelChoice> candidates;
  for (const std::string& provider : providers)
    if (provider == "native" || !keeps_order) candidates.push_back({provider});
  const Isa used = FindIsa(options.isa).value_or(CurrentIsa());
  const bool has_own = std::find(providers.begin(), providers.end(), "native") != providers.end();
  for (const Isa isa : SupportedIsas())
    if (has_own && isa < used && isa != Isa::kPortable)
      candidates.push_back({"native", std::string(IsaName(isa))});
  return candidates;
}

class Tuner {
 public:
  Tuner(const ir::Program& program, const SessionOptions& options,
        std::span<const RuntimeValue> inputs, const TuneOptions& tune)
      : program_(program), options_(options), inputs_(inputs), tune_(tune) {
    if (options_.packed == nullptr) options_.packed = std::make_shared<PackedWeights>();
  }

  absl::StatusOr<Tuning> Run() {
    const ScopedIsa isa(FindIsa(options_.isa));
    Tuning tuning{.choices = KernelChoices(MachineName(options_.threads))};
    WEFT_RETURN_IF_ERROR(MakeTrials());
    // Trials time their steps; how long they take as a whole is Confirm()'s.
    if (trials_.size() > 1)
      WEFT_RETURN_IF_ERROR(TimeInTurns(trials_.size(), tune_, [&](size_t i) {
                             return trials_[i]->Run(inputs_, /*keeps=*/true);
                           }).status());
    Choose(&tuning);
    if (tuning.choices.size() > 0) WEFT_RETURN_IF_ERROR(Confirm(&tuning));
    return tuning;
  }

 private:
  absl::Status MakeTrials();
  void Choose(Tuning* tuning) const;
  absl::Status Confirm(Tuning* tuning) const;

  const ir::Program& program_;
  SessionOptions options_;
  const std::span<const RuntimeValue> inputs_;
  const TuneOptions& tune_;
  std::vector<std::unique_ptr<Trial>> trials_;  // the first one as usual
};

absl::Status Tuner::MakeTrials() {
  WEFT_ASSIGN_OR_RETURN(const std::vector<KernelChoice> candidates,
                        Candidates(options_, tune_.keeps_order));
  std::vector<std::shared_ptr<const KernelChoices>> all = {nullptr};
  for (const KernelChoice& candidate : candidates)
    all.push_back(std::make_shared<KernelChoices>(KernelChoices::Everywhere(candidate)));
  for (const auto& choices : all) {
    SessionOptions options = options_;
    options.choices = choices;
    WEFT_ASSIGN_OR_RETURN(auto trial, Trial::Create(program_, options));
    WEFT_RETURN_IF_ERROR(trial->Run(inputs_, /*keeps=*/false));
    WEFT_RETURN_IF_ERROR(CheckStop(tune_));
    const bool differs =
        std::any_of(trial->by_key().begin(), trial->by_key().end(), [&](const auto& entry) {
          const auto usual =
              trials_.empty() ? trial->by_key().end() : trials_[0]->by_key().find(entry.first);
          return !trials_.empty() && usual != trials_[0]->by_key().end() &&
                 !AreEqual(usual->second.kernel, entry.second.kernel);
        });
    if (trials_.empty() || differs) trials_.push_back(std::move(trial));
  }
  return absl::OkStatus();
}

void Tuner::Choose(Tuning* tuning) const {
  tuning->microseconds = Median(trials_[0]->all()) / kNanosecondsIn1Us;
  for (const auto& [key, usual] : trials_[0]->by_key()) {
    ++tuning->keys;
    const double before = Median(usual.times);
    MeasuredOps ops{key, {usual.kernel, before / kNanosecondsIn1Us}};
    MeasuredChoice best;
    for (size_t i = 1; i < trials_.size(); ++i) {
      const auto found = trials_[i]->by_key().find(key);
      if (found == trials_[i]->by_key().end()) continue;
      const Runs& other = found->second;
      if (AreEqual(other.kernel, usual.kernel)) continue;
      const double after = std::max(Median(other.times), 1.0);
      ops.others.push_back({other.kernel, after / kNanosecondsIn1Us});
      if (before - after >= kLeastNanoseconds && before / after > best.speedup &&
          IsFasterBeyondNoise(usual.times, other.times))
        best = {other.kernel, before / after};
    }
    if (best.speedup > 1) tuning->choices.Set(key, best);
    if (!ops.others.empty()) tuning->several.push_back(std::move(ops));
  }
  std::stable_sort(tuning->several.begin(), tuning->several.end(),
                   [](const MeasuredOps& a, const MeasuredOps& b) {
                     return a.usual.microseconds > b.usual.microseconds;
                   });
}

// What is faster alone may make what comes after it slower.
absl::Status Tuner::Confirm(Tuning* tuning) const {
  std::unique_ptr<Session> sessions[2];  // the usual one first
  for (const size_t i : {0, 1}) {
    SessionOptions options = options_;
    if (i == 1) options.choices = std::make_shared<KernelChoices>(tuning->choices);
    options.pool = OwnPool(options);
    WEFT_ASSIGN_OR_RETURN(sessions[i], Session::Create(program_, options));
  }
  const auto run = [&](size_t i) { return sessions[i]->RunValues(inputs_).status(); };
  for (const size_t i : {0, 1}) WEFT_RETURN_IF_ERROR(run(i));  // makes plans
  WEFT_ASSIGN_OR_RETURN(const auto times, TimeInTurns(2, tune_, run, [&](size_t i) {
                          TakeTurn(*sessions[i]->pool());
                        }));
  tuning->usual_ms = Median(times[0]);
  tuning->tuned_ms = Median(times[1]);
  if (IsFasterBeyondNoise(times[0], times[1], kLeastOfWhole)) return absl::OkStatus();
  tuning->choices = KernelChoices(tuning->choices.machine());
  tuning->tuned_ms = tuning->usual_ms;
  return absl::OkStatus();
}

// Whether so many rounds since then do.
bool IsEnough(const TuneOptions& tune, size_t rounds, Clock::time_point start) {
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return rounds >= tune.rounds && (seconds >= tune.seconds || rounds >= tune.most_rounds);
}

}  // namespace

absl::StatusOr<std::vector<std::vector<double>>> TimeInTurns(
    size_t count, const TuneOptions& tune, const std::function<absl::Status(size_t)>& run,
    const std::function<void(size_t)>& prepare) {
  std::vector<std::vector<double>> times(count);
  const Clock::time_point start = Clock::now();
  for (size_t round = 0; !IsEnough(tune, round, start); ++round)
    for (size_t i = 0; i < count; ++i) {
      WEFT_RETURN_IF_ERROR(CheckStop(tune));
      const size_t contender = (round + i) % count;
      if (prepare) prepare(contender);
      const Clock::time_point begin = Clock::now();
      WEFT_RETURN_IF_ERROR(run(contender));
      times[contender].push_back(
          std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
    }
  return times;
}

double Median(std::span<const double> times) {
  if (times.empty()) return 0;
  std::vector<double> sorted(times.begin(), times.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

bool IsFasterBeyondNoise(std::span<const double> usual, std::span<const double> other,
                         double least) {
  if (usual.empty() || usual.size() != other.size()) return false;
  size_t wins = 0;
  for (size_t i = 0; i < usual.size(); ++i) wins += other[i] < usual[i];
  return Median(other) <= Median(usual) * (1 - least) && wins * 5 >= usual.size() * 4;
}

absl::StatusOr<Tuning> Tune(const ir::Program& program, const SessionOptions& options,
                            std::span<const RuntimeValue> inputs, const TuneOptions& tune) {
  return Tuner(program, options, inputs, tune).Run();
}

}  // namespace weft::kernels
