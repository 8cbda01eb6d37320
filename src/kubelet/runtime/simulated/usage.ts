// What simulated containers use: as their pods' annotations say, added up over time. Nothing runs in between: each reading goes on from the one before.
import type { ContainerUsage } from '../../container/runtime.ts';
import type { Load } from './behaviour.ts';

/** CPU time of one container, or of all that are gone. */
export class CpuMeter {
  #totalNs = 0;
  #atMs: number;
  #nanoCores = 0;

  constructor(atMs: number) {
    this.#atMs = atMs;
  }

  /** From now on it uses so much. Answers the nanoseconds used until now. */
  read(atMs: number, nanoCores: number): number {
    this.#totalNs += (this.#nanoCores * Math.max(0, atMs - this.#atMs)) / 1000;
    this.#atMs = atMs;
    this.#nanoCores = nanoCores;
    return Math.round(this.#totalNs);
  }
}

export function usageOf(meter: CpuMeter, { cpuNanoCores, memoryBytes }: Load, atMs: number): ContainerUsage {
  return {
    cpuNanoCores,
    cpuUsageCoreNanoSeconds: meter.read(atMs, cpuNanoCores),
    memoryWorkingSetBytes: memoryBytes,
    memoryUsageBytes: memoryBytes,
    memoryRssBytes: memoryBytes,
  };
}

/** The sum of what containers use, as far as it is known. */
export const totalUsage = (list: Iterable<ContainerUsage>): ContainerUsage => {
  const total = { cpuNanoCores: 0, cpuUsageCoreNanoSeconds: 0, memoryWorkingSetBytes: 0, memoryUsageBytes: 0, memoryRssBytes: 0 };
  for (const one of list) for (const key of Object.keys(total) as (keyof typeof total)[]) total[key] += one[key] ?? 0;
  return total;
};
