// Probes of all containers on the node, one timer per probe (upstream pkg/kubelet/prober prober_manager.go, worker.go).
import type { Container, Pod, Probe } from '#api/core/v1';
import { isRestartableInitContainer } from '#component-helpers/pod';
import type { Clock, Timer } from '#utils';
import { latest, type PodRecord, recordIPs } from '../container/types.ts';
import type { PodEvents } from '../events.ts';
import type { ProbeKind, ProbeResults } from '../pod/probe-results.ts';
import type { Prober } from './prober.ts';
import { ProbeMetrics } from './metrics.ts';
import { afterProbe, initialState, type ProbeState } from './threshold.ts';
import type { ProbeManager } from './types.ts';

export interface ProbeManagerDeps {
  prober: Prober;
  clock: Clock;
  events: PodEvents;
  /** The first of the node, for pods on its network. */
  hostIP(): string;
  /** Called when the result of a probe changes what is known of one of the pod's containers. */
  onChange(podUid: string): void;
}

interface Worker {
  kind: ProbeKind;
  probe: Probe;
  pod: Pod;
  container: Container;
  containerId: string;
  podIP: string;
  state: ProbeState;
  timer?: Timer;
  stopped: boolean;
}

const kinds: ProbeKind[] = ['startup', 'liveness', 'readiness'];
const titles: Record<ProbeKind, string> = { startup: 'Startup', liveness: 'Liveness', readiness: 'Readiness' };
const defaultPeriodSeconds = 10;

const probeOf = (container: Container, kind: ProbeKind): Probe | undefined =>
  kind === 'startup' ? container.startupProbe : kind === 'liveness' ? container.livenessProbe : container.readinessProbe;

const keyOf = (containerId: string, kind: ProbeKind): string => `${containerId}/${kind}`;

export class RealProbeManager implements ProbeManager {
  readonly results: ProbeResults;
  readonly #deps: ProbeManagerDeps;
  readonly #metrics = new ProbeMetrics();
  readonly #workers = new Map<string, Worker>();
  /** Keys of workers by pod. */
  readonly #pods = new Map<string, Set<string>>();

  constructor(deps: ProbeManagerDeps) {
    this.#deps = deps;
    this.results = { get: (id, kind) => this.#workers.get(keyOf(id, kind))?.state.believed };
  }

  sync(pod: Pod, record: PodRecord): void {
    const uid = pod.metadata.uid ?? '';
    const wanted = new Set<string>();
    const sidecars = (pod.spec?.initContainers ?? []).filter(isRestartableInitContainer);
    for (const container of [...sidecars, ...(pod.spec?.containers ?? [])]) {
      const running = latest(record, container.name);
      if (running?.state !== 'running') continue;
      for (const kind of kinds) {
        const probe = probeOf(container, kind);
        if (probe === undefined) continue;
        const key = keyOf(running.id, kind);
        wanted.add(key);
        const podIP = recordIPs(record)[0] ?? this.#deps.hostIP();
        const known = this.#workers.get(key);
        if (known) known.pod = pod;
        else
          this.#add(
            key,
            { kind, probe, pod, container, containerId: running.id, podIP, state: initialState(kind), stopped: false },
            running.startedAtMs,
          );
      }
    }
    for (const key of this.#pods.get(uid) ?? []) if (!wanted.has(key)) this.#drop(key);
    if (wanted.size > 0) this.#pods.set(uid, wanted);
    else this.#pods.delete(uid);
  }
  stopLivenessAndStartup(pod: Pod): void {
    for (const key of this.#pods.get(pod.metadata.uid ?? '') ?? []) {
      const worker = this.#workers.get(key);
      if (worker === undefined || worker.kind === 'readiness') continue;
      this.#stop(worker);
      worker.state = { ...worker.state, believed: 'success' };
    }
  }
  remove(pod: Pod): void {
    const uid = pod.metadata.uid ?? '';
    for (const key of this.#pods.get(uid) ?? []) this.#drop(key);
    this.#pods.delete(uid);
  }
  metrics(): Promise<string> {
    return this.#metrics.expose();
  }
  close(): void {
    for (const worker of this.#workers.values()) this.#stop(worker);
    this.#workers.clear();
  }

  #add(key: string, worker: Worker, startedAtMs: number): void {
    this.#workers.set(key, worker);
    const dueMs = startedAtMs + (worker.probe.initialDelaySeconds ?? 0) * 1000 - this.#deps.clock.now();
    this.#schedule(worker, Math.max(0, dueMs));
  }
  #drop(key: string): void {
    const worker = this.#workers.get(key);
    if (worker) {
      this.#stop(worker);
      this.#metrics.forget(worker);
    }
    this.#workers.delete(key);
  }
  #stop(worker: Worker): void {
    worker.stopped = true;
    worker.timer?.cancel();
  }
  #schedule(worker: Worker, delayMs: number): void {
    if (worker.stopped || worker.state.onHold) return;
    worker.timer?.cancel();
    worker.timer = this.#deps.clock.setTimer(delayMs, () => {
      void this.#tick(worker).finally(() => this.#schedule(worker, (worker.probe.periodSeconds ?? defaultPeriodSeconds) * 1000));
    });
  }

  /** Liveness and readiness wait until the container has started. */
  #waits({ kind, containerId }: Worker): boolean {
    const startup = this.results.get(containerId, 'startup');
    return kind !== 'startup' && startup !== undefined && startup !== 'success';
  }
  async #tick(worker: Worker): Promise<void> {
    if (this.#waits(worker)) return;
    const { kind, pod, container } = worker;
    const began = this.#deps.clock.monotonic();
    const { result, output } = await this.#deps.prober(worker.probe, worker);
    if (worker.stopped) return;
    const counted = result === 'error' ? 'unknown' : result === 'failure' ? 'failure' : 'success';
    this.#metrics.count(worker, counted, this.#deps.clock.monotonic() - began);
    const tell = (reason: string, what: string): void =>
      this.#deps.events.container(pod, container, 'Warning', reason, `${titles[kind]} probe ${what}: ${output}`);
    if (result === 'error') return tell('Unhealthy', 'errored and resulted in unknown state');
    if (result === 'warning') tell('ProbeWarning', 'warning');
    if (result === 'failure') tell('Unhealthy', 'failed');
    const before = worker.state.believed;
    worker.state = afterProbe(worker.state, kind, result === 'failure' ? 'failure' : 'success', worker.probe);
    if (worker.state.believed === before) return;
    if (kind === 'startup' && worker.state.believed === 'success') this.#release(worker);
    this.#deps.onChange(pod.metadata.uid ?? '');
  }
  /** The container has started: its other probes begin now. */
  #release({ containerId }: Worker): void {
    for (const kind of ['liveness', 'readiness'] as const) {
      const worker = this.#workers.get(keyOf(containerId, kind));
      if (worker) this.#schedule(worker, 0);
    }
  }
}
