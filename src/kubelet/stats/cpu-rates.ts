// CPU use per second out of two readings of the total, for runtimes that report only totals (upstream stats/cri_stats_provider.go
// cpuUsageCache). Pure.

interface Reading {
  total: number;
  atNs: number;
  rate?: number;
}

/** Closer readings say too little. */
const intervalNsMin = 500_000_000;

export class CpuRates {
  readonly #readings = new Map<string, Reading>();

  /** Nanocores since the reading before; undefined at the first. */
  rate(id: string, total: number | undefined, atNs: number): number | undefined {
    if (total === undefined) return undefined;
    const before = this.#readings.get(id);
    if (before && atNs - before.atNs < intervalNsMin) return before.rate;
    const rate = before && total >= before.total ? Math.round(((total - before.total) * 1e9) / (atNs - before.atNs)) : undefined;
    this.#readings.set(id, { total, atNs, rate });
    return rate;
  }
  /** Forgets all but these. */
  keep(ids: readonly string[]): void {
    const known = new Set(ids);
    for (const id of this.#readings.keys()) if (!known.has(id)) this.#readings.delete(id);
  }
}
