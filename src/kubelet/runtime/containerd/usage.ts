// What containers use of the machine, from the runtime's numbers.
import type { ContainerStats } from '#cri';
import type { ContainerUsage } from '../../container/runtime.ts';
import type { CpuRates } from '../../stats/cpu-rates.ts';

const number = (value: { value: string } | null | undefined): number | undefined => (value ? Number(value.value) : undefined);

/** What each container uses, by its ID. `rates` has what was used before, for runtimes that count and say no rate; it forgets containers that are not listed. */
export function usageOf(stats: readonly ContainerStats[], rates: CpuRates): Map<string, ContainerUsage> {
  rates.keep(stats.map(({ attributes }) => attributes.id));
  return new Map(
    stats.map(({ attributes, cpu, memory, writableLayer }) => [
      attributes.id,
      {
        cpuNanoCores:
          number(cpu?.usageNanoCores) ??
          rates.rate(attributes.id, number(cpu?.usageCoreNanoSeconds), Number(cpu?.timestamp ?? 0)),
        cpuUsageCoreNanoSeconds: number(cpu?.usageCoreNanoSeconds),
        memoryWorkingSetBytes: number(memory?.workingSetBytes),
        memoryUsageBytes: number(memory?.usageBytes),
        memoryRssBytes: number(memory?.rssBytes),
        writableLayerBytes: number(writableLayer?.usedBytes),
      },
    ]),
  );
}
