// How many CPUs this process may use: the one answer for default thread counts.
//
// std::thread::hardware_concurrency() says how many the machine has. In a container or under
// taskset a process may use fewer, and threads beyond those make every parallel loop wait for a
// thread that is not running.
#pragma once

#include <optional>
#include <string>

namespace weft::kernels {

// The CPUs in the calling thread's affinity mask, but no more than its control groups pay for, and
// at least 1. Asks the system every time.
int AvailableCpus();

// The least CPU quota of the process's control groups and those above them, in CPUs rounded up;
// none when no group limits them. Reads cgroup v1 (cpu.cfs_quota_us, cpu.cfs_period_us) and v2
// (cpu.max), side by side too. `root` stands before every path that is read: "" but for tests.
std::optional<int> CgroupCpuLimit(const std::string& root);

}  // namespace weft::kernels
