// What probes have found, as numbers (upstream pkg/kubelet/prober ProberResults, ProberDuration; GET /metrics/probes).
import type { Container, Pod } from '#api/core/v1';
import { createMetrics } from '#component-base';
import type { ProbeKind, ProbeResult } from '../pod/probe-results.ts';

const types: Record<ProbeKind, string> = { startup: 'Startup', liveness: 'Liveness', readiness: 'Readiness' };
const results: Record<ProbeResult, string> = { success: 'successful', failure: 'failed', unknown: 'unknown' };

/** A probe of one container, as metrics name it. */
interface Probed {
  kind: ProbeKind;
  pod: Pod;
  container: Container;
}

export class ProbeMetrics {
  readonly #metrics = createMetrics();
  readonly #total = this.#metrics.counter({
    name: 'prober_probe_total',
    help: 'Cumulative number of a liveness, readiness or startup probe for a container by result.',
    labels: ['probe_type', 'result', 'container', 'pod', 'namespace', 'pod_uid'],
  });
  readonly #seconds = this.#metrics.histogram({
    name: 'prober_probe_duration_seconds',
    help: 'Duration in seconds for a probe response.',
    labels: ['probe_type', 'container', 'pod', 'namespace'],
  });

  /** Failures are not timed, as upstream's. */
  count({ kind, container, pod: { metadata } }: Probed, result: ProbeResult, tookMs: number): void {
    const { name = '', namespace = '', uid = '' } = metadata;
    this.#total.inc(1, types[kind], results[result], container.name, name, namespace, uid);
    if (result !== 'failure') this.#seconds.observe(tookMs / 1000, types[kind], container.name, name, namespace);
  }
  forget({ kind, container, pod: { metadata } }: Probed): void {
    const { name = '', namespace = '', uid = '' } = metadata;
    for (const result of Object.values(results)) this.#total.remove(types[kind], result, container.name, name, namespace, uid);
    this.#seconds.remove(types[kind], container.name, name, namespace);
  }
  expose(): Promise<string> {
    return this.#metrics.expose();
  }
}
