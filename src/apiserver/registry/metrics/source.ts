// Asks kubelets what their nodes and pods use (GET /stats/summary), when somebody wants to know. Nothing is asked while nobody looks, and what was
// just read is read once for all who ask.
import type { StatsSummary } from '#component-helpers/stats';
import { atMost } from '#host';
import type { Clock, Logger } from '#utils';
import { kubeletStatsBytesMax, kubeletStatsFreshMs, kubeletStatsTimeoutMs, kubeletsAskedAtOnceMax } from '../../limits.ts';
import type { KubeletClients } from '../core/node/kubelet-clients.ts';
import { type NodeReading, readSummary } from './reading.ts';

/** The summary of a node whose kubelet is in this process; undefined: it is asked over its connection. */
export type NodeStatsShortcut = (nodeName: string) => Promise<StatsSummary> | undefined;

export interface StatsSourceDeps {
  kubelets: Pick<KubeletClients, 'of'>;
  clock: Clock;
  logger: Logger;
  shortcut?: NodeStatsShortcut;
}

interface Read {
  atMs: number;
  summary: Promise<NodeReading | undefined>;
}

export class StatsSource {
  readonly #deps: StatsSourceDeps;
  readonly #read = new Map<string, Read>();
  readonly #inTurn = atMost(kubeletsAskedAtOnceMax);

  constructor(deps: StatsSourceDeps) {
    this.#deps = deps;
  }

  /** What these nodes say, by name; one that does not answer, or that answers what is no summary, is absent. */
  async of(nodeNames: Iterable<string>): Promise<Map<string, NodeReading>> {
    const found = new Map<string, NodeReading>();
    await Promise.all(
      [...new Set(nodeNames)].map(async (name) => {
        const summary = await this.#summary(name);
        if (summary) found.set(name, summary);
      }),
    );
    return found;
  }

  #summary(name: string): Promise<NodeReading | undefined> {
    const { clock, logger, shortcut } = this.#deps;
    const atMs = clock.monotonic();
    const known = this.#read.get(name);
    if (known && atMs - known.atMs < kubeletStatsFreshMs) return known.summary;
    const failed = (error: unknown): undefined => {
      this.#read.delete(name);
      logger.warn('Failed to scrape node', { node: name, err: (error as Error).message });
    };
    const near = shortcut?.(name);
    if (near) return near.then(readSummary).catch(failed);
    const summary = this.#inTurn(() => this.#ask(name)).catch(failed);
    this.#forgetOld(atMs);
    this.#read.set(name, { atMs, summary });
    return summary;
  }

  async #ask(name: string): Promise<NodeReading> {
    const { kubelets, clock } = this.#deps;
    const abort = new AbortController();
    const timer = clock.setTimer(kubeletStatsTimeoutMs, () => abort.abort(new Error('context deadline exceeded')));
    try {
      const { client } = kubelets.of(name);
      const answer = await client.request({ path: '/stats/summary?only_cpu_and_memory=true', signal: abort.signal });
      const text = await answer.text(kubeletStatsBytesMax);
      if (answer.status !== 200) throw new Error(`request failed, status: "${answer.status}"`);
      return readSummary(JSON.parse(text));
    } finally {
      timer.cancel();
    }
  }

  #forgetOld(nowMs: number): void {
    for (const [name, { atMs }] of this.#read) {
      // Oldest first: the first that is fresh ends it.
      if (nowMs - atMs < kubeletStatsFreshMs) return;
      this.#read.delete(name);
    }
  }
}
