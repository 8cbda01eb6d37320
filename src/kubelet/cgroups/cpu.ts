// CPU as cgroups say it (upstream pkg/kubelet/cm/helpers_linux.go). Pure.
export const cpuPeriodUs = 100_000;
const cpuQuotaUsMin = 1000;
const sharesMin = 2;
const sharesMax = 262_144;

export const milliCpuToShares = (milliCpu: number): number =>
  milliCpu === 0 ? sharesMin : Math.min(sharesMax, Math.max(sharesMin, Math.floor((milliCpu * 1024) / 1000)));

/** The quota of CPU time in microseconds per period; 0 for no limit. */
export const milliCpuToQuota = (milliCpu: number): number =>
  milliCpu === 0 ? 0 : Math.max(cpuQuotaUsMin, Math.floor((milliCpu * cpuPeriodUs) / 1000));
