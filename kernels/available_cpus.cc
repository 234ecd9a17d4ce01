#include "kernels/available_cpus.h"

#ifdef __linux__
#include <sched.h>
#endif

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>
#include <thread>
#include <vector>

namespace weft::kernels {
namespace {

// A hierarchy of control groups that has the CPU controller, as /proc/self/mountinfo describes it.
struct Hierarchy {
  bool v2 = false;
  std::string mounted_root;  // the group that is seen at `mount_point`
  std::string mount_point;
};

bool ListHas(const std::string& commas, const std::string& name) {
  return ("," + commas + ",").find("," + name + ",") != std::string::npos;
}

// Spaces and the like stand in mountinfo as a backslash and three octal digits.
std::string Unescaped(const std::string& text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '\\' && i + 3 < text.size() &&
                        text.find_first_not_of("01234567", i + 1) >= i + 4;
    if (!escape) {
      result += text[i];
      continue;
    }
    result += static_cast<char>(std::stoi(text.substr(i + 1, 3), nullptr, 8));
    i += 3;
  }
  return result;
}

// "36 35 98:0 / /sys/fs/cgroup/cpu rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct"
std::optional<Hierarchy> ParseMount(const std::string& line) {
  std::istringstream words(line);
  std::string word, mounted_root, mount_point, type, source, options;
  words >> word >> word >> word >> mounted_root >> mount_point;
  while (words >> word && word != "-") continue;
  if (!(words >> type >> source >> options)) return std::nullopt;
  const bool v2 = type == "cgroup2";
  if (!v2 && (type != "cgroup" || !ListHas(options, "cpu"))) return std::nullopt;
  return Hierarchy{v2, Unescaped(mounted_root), Unescaped(mount_point)};
}

// The process's group in a hierarchy, from lines "0::/group" (v2) and "4:cpu,cpuacct:/group" (v1).
std::optional<std::string> GroupIn(const Hierarchy& hierarchy, std::istream& lines) {
  for (std::string line; std::getline(lines, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (hierarchy.v2 ? controllers.empty() : ListHas(controllers, "cpu"))
      return line.substr(second + 1);
  }
  return std::nullopt;
}

// Where `group` lies below the mount point; "" for the mount point itself, which is also all that a
// process sees of a group outside of what is mounted.
std::string PathBelowMount(const Hierarchy& hierarchy, std::string group) {
  const std::string& root = hierarchy.mounted_root;
  if (root != "/") {
    const bool below =
        group.starts_with(root) && (group.size() == root.size() || group[root.size()] == '/');
    if (!below) return "";
    group.erase(0, root.size());
  }
  const bool outside = (group + "/").find("/../") != std::string::npos;
  return outside || !group.starts_with("/") || group == "/" ? "" : group;
}

// CPUs that the group in this folder may use; infinite without a quota.
double QuotaIn(const std::string& folder, bool v2) {
  double quota = -1, period = 0;
  if (v2) {
    std::ifstream(folder + "/cpu.max") >> quota >> period;  // no number but "max": no quota
  } else {
    std::ifstream(folder + "/cpu.cfs_quota_us") >> quota;  // -1: no quota
    std::ifstream(folder + "/cpu.cfs_period_us") >> period;
  }
  return quota > 0 && period > 0 ? quota / period : std::numeric_limits<double>::infinity();
}

int CpusInAffinityMask() {
#ifdef __linux__
  // A mask shorter than the kernel's is refused.
  for (size_t words = 1; words <= 1024; words *= 2) {
    std::vector<cpu_set_t> mask(words);
    const size_t bytes = words * sizeof(cpu_set_t);
    if (sched_getaffinity(0, bytes, mask.data()) == 0) return CPU_COUNT_S(bytes, mask.data());
    if (errno != EINVAL) break;
  }
#endif
  return static_cast<int>(std::thread::hardware_concurrency());
}

}  // namespace

std::optional<int> CgroupCpuLimit(const std::string& root) {
  double limit = std::numeric_limits<double>::infinity();
  std::ifstream mounts(root + "/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    const std::optional<Hierarchy> hierarchy = ParseMount(line);
    if (!hierarchy) continue;
    std::ifstream groups(root + "/proc/self/cgroup");
    const std::optional<std::string> group = GroupIn(*hierarchy, groups);
    if (!group) continue;
    // A group gets no more than those above it.
    for (std::string path = PathBelowMount(*hierarchy, *group);; path.erase(path.rfind('/'))) {
      limit = std::min(limit, QuotaIn(std::string(root).append(hierarchy->mount_point).append(path),
                                      hierarchy->v2));
      if (path.empty()) break;
    }
  }
  if (limit > std::numeric_limits<int>::max()) return std::nullopt;
  return std::max(1, static_cast<int>(std::ceil(limit)));
}

int AvailableCpus() {
  const int cpus = CpusInAffinityMask();
  return std::max(1, std::min(cpus, CgroupCpuLimit("").value_or(cpus)));
}

}  // namespace weft::kernels
