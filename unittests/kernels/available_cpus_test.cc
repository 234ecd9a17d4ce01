// Affinity masks, and quotas of control groups in trees like those of the kernel.
#include "kernels/available_cpus.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "unittests/kernels/one_cpu.h"
#include "unittests/temp_dir.h"

namespace weft::kernels {
namespace {

class CgroupCpuLimitTest : public testing::Test {
 protected:
  void Write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  void Mounts(const std::string& lines) { Write("proc/self/mountinfo", lines); }
  void Groups(const std::string& lines) { Write("proc/self/cgroup", lines); }
  void QuotaV1(const std::string& folder, int64_t quota, int64_t period) {
    Write(folder + "/cpu.cfs_quota_us", std::to_string(quota) + "\n");
    Write(folder + "/cpu.cfs_period_us", std::to_string(period) + "\n");
  }
  std::optional<int> Limit() const { return CgroupCpuLimit(root_.string()); }

  static constexpr const char* kV2 =
      "22 1 0:20 / /proc rw - proc proc rw\n"
      "31 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
  static constexpr const char* kV1 =
      "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
      "33 31 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
      "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n";

 private:
  const fixtures::TempDir dir_;
  const std::filesystem::path root_ = dir_.path();
};

TEST_F(CgroupCpuLimitTest, IsNoneWithoutControlGroups) {
  EXPECT_EQ(Limit(), std::nullopt);
  Mounts("22 1 0:20 / /proc rw - proc proc rw\n\ngarbage\n");
  Groups("garbage\n");
  EXPECT_EQ(Limit(), std::nullopt);
}

TEST_F(CgroupCpuLimitTest, OfV2IsTheQuotaInWholeCpusRoundedUp) {
  Mounts(kV2);
  Groups("0::/box\n");
  for (const auto& [text, cpus] : {std::pair("200000 100000\n", 2),
                                   {"150000 100000\n", 2},
                                   {"10000 100000\n", 1},
                                   {"1 1000000\n", 1},
                                   {"50000 10000", 5}}) {
    Write("sys/fs/cgroup/box/cpu.max", text);
    EXPECT_EQ(Limit(), cpus) << text;
  }
}

TEST_F(CgroupCpuLimitTest, OfV2WithoutAQuotaIsNone) {
  Mounts(kV2);
  Groups("0::/box\n");
  EXPECT_EQ(Limit(), std::nullopt);  // no file: the controller is off
  for (const char* text : {"max 100000\n", "", "0 100000\n", "100000 0\n", "many 7\n"}) {
    Write("sys/fs/cgroup/box/cpu.max", text);
    EXPECT_EQ(Limit(), std::nullopt) << text;
  }
}

TEST_F(CgroupCpuLimitTest, IsTheLeastOfTheGroupAndThoseAboveIt) {
  Mounts(kV2);
  Groups("0::/pod/box/part\n");
  Write("sys/fs/cgroup/pod/cpu.max", "300000 100000\n");
  Write("sys/fs/cgroup/pod/box/cpu.max", "max 100000\n");
  Write("sys/fs/cgroup/pod/box/part/cpu.max", "700000 100000\n");
  EXPECT_EQ(Limit(), 3);
  Write("sys/fs/cgroup/cpu.max",
        "200000 100000\n");  // a container's own group, mounted as the root
  EXPECT_EQ(Limit(), 2);
}

TEST_F(CgroupCpuLimitTest, OfV1IsItsQuotaOverItsPeriod) {
  Mounts(kV1);
  Groups("7:cpuset:/other\n4:cpu,cpuacct:/box\n");
  EXPECT_EQ(Limit(), std::nullopt);
  QuotaV1("sys/fs/cgroup/cpu,cpuacct/box", 250000, 100000);
  EXPECT_EQ(Limit(), 3);
  QuotaV1("sys/fs/cgroup/cpu,cpuacct/box", -1, 100000);
  EXPECT_EQ(Limit(), std::nullopt);
  QuotaV1("sys/fs/cgroup/cpuset/other", 100000, 100000);  // not where quotas are
  EXPECT_EQ(Limit(), std::nullopt);
}

// A container sees its own group at the mount point, but its path from the host's root.
TEST_F(CgroupCpuLimitTest, OfAGroupMountedAsTheRootIsReadAtTheMountPoint) {
  Mounts("32 31 0:29 /docker/a\\040b /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n");
  QuotaV1("sys/fs/cgroup/cpu", 100000, 100000);
  QuotaV1("sys/fs/cgroup/cpu/inner", 50000, 10000);
  for (const char* group :
       {"/docker/a b", "/docker/a b/inner", "/", "/elsewhere", "/docker/a bc"}) {
    Groups(std::string("4:cpu:") + group + "\n");
    EXPECT_EQ(Limit(), 1) << group;
  }
}

TEST_F(CgroupCpuLimitTest, OfAGroupOutsideTheNamespaceIsReadAtTheMountPoint) {
  Mounts(kV2);
  Groups("0::/../neighbour\n");
  Write("sys/fs/cgroup/cpu.max", "100000 100000\n");
  Write("sys/fs/neighbour/cpu.max", "100 100000\n");
  EXPECT_EQ(Limit(), 1);
}

TEST_F(CgroupCpuLimitTest, OfBothVersionsSideBySideIsTheLess) {
  Mounts(std::string(kV1) + "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  Groups("4:cpu,cpuacct:/a\n0::/b\n");
  QuotaV1("sys/fs/cgroup/cpu,cpuacct/a", 400000, 100000);
  EXPECT_EQ(Limit(), 4);
  Write("sys/fs/cgroup/unified/b/cpu.max", "200000 100000\n");
  EXPECT_EQ(Limit(), 2);
}

TEST(AvailableCpus, AreThoseOfTheAffinityMask) {
  const int all = AvailableCpus();
  EXPECT_GE(all, 1);
  {
    const OneCpu pinned;
    EXPECT_EQ(AvailableCpus(), 1);
  }
  EXPECT_EQ(AvailableCpus(), all);
}

}  // namespace
}  // namespace weft::kernels
