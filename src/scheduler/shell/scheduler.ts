// The loop: takes pods from the queue one by one, decides, and acts on each decision without waiting for the last one's writes
// (upstream pkg/scheduler/schedule_one.go, scheduler.go).
import type { Pod } from '#api/core/v1';
import { keyOf, type KubeObject } from '#apimachinery/meta';
import { createInformerFactory, createEventRecorder, type EventRecorder, type InformerFactory, type KubeClient } from '#client';
import { bound, createMetrics, type Metrics, noteCaught } from '#component-base';
import type { Clock, Logger, Rng } from '#utils';
import { SchedulerCache } from '../cache/index.ts';
import { type Chosen, cycle, type Decision, type Failed } from '../cycle/index.ts';
import {
  type ClusterEvent,
  type EventInterest,
  noNodesPlugin,
  type PodInfo,
  type Profile,
  type Status,
  type ViewKind,
} from '../framework/index.ts';
import { bindingsInFlightMax, decisionsMax, eventNoteBytesMax, sliceMs } from '../limits.ts';
import { type QueueEntry, SchedulingQueue } from '../queue/index.ts';
import { bindPod, errorText, isPodGone, write } from './binder.ts';
import { type SchedulerMetrics, schedulerMetrics } from './metrics.ts';
import { watchCluster } from './pod-events.ts';
import { patchPodStatus } from './pod-status.ts';
import { asObject, Preemptor } from './preemptor.ts';
import { pods, viewResources } from './resources.ts';
import { InformerView } from './view.ts';

export interface SchedulerDeps {
  client: KubeClient;
  clock: Clock;
  rng: Rng;
  logger: Logger;
  metrics?: Metrics;
  /** Informers to share; without them the scheduler makes, starts and stops its own. */
  informers?: InformerFactory;
}

export interface SchedulerSettings {
  profiles: ReadonlyMap<string, Profile>;
  initialBackoffMs?: number;
  maxBackoffMs?: number;
  unschedulableMs?: number;
}

const noPlugins: ReadonlySet<string> = new Set();

/** Claims and volumes that a decision is about to change are shown as changed at once. */
const kindOfResource = new Map(
  Object.entries(viewResources).map(([kind, { resource }]) => [resource, kind as keyof typeof viewResources]),
);

const truncate = (message: string): string =>
  message.length <= eventNoteBytesMax ? message : `${message.slice(0, eventNoteBytesMax - 4)} ...`;

export class Scheduler {
  readonly cache = new SchedulerCache();
  readonly queue: SchedulingQueue;
  readonly #deps: SchedulerDeps;
  readonly #profiles: ReadonlyMap<string, Profile>;
  readonly #view: InformerView;
  readonly #informers: InformerFactory;
  readonly #recorders = new Map<string, EventRecorder>();
  readonly #preemptors = new Map<string, Preemptor>();
  readonly #metrics: SchedulerMetrics;
  /** The newest decisions by pod uid. */
  readonly #decisions = new Map<string, Decision>();
  readonly #waiting = new Set<() => void>();
  #bindings = 0;
  #running = false;
  #scheduled = false;
  #ready: Promise<void> | undefined;
  readonly #abort = new AbortController();

  constructor({ profiles, ...backoff }: SchedulerSettings, deps: SchedulerDeps) {
    this.#deps = deps;
    this.#profiles = profiles;
    this.#informers = deps.informers ?? createInformerFactory(deps);
    this.#view = new InformerView((event) => this.#onEvent(event));
    const [first] = profiles.values();
    this.queue = new SchedulingQueue({
      ...backoff,
      clock: deps.clock,
      compare: (a, b) => first?.queueSort.compare?.(a, b) ?? 0,
      preEnqueue: (pod) => this.#preEnqueue(pod),
      interests: (pod, plugin) => this.#interests(pod, plugin),
      helps: (one, pod, event) => one.helps?.(pod, event, this.#view) ?? true,
      onReady: () => this.#wake(),
    });
    this.#metrics = schedulerMetrics(deps.metrics ?? createMetrics(), () => this.queue.sizes());
  }

  /** Resolves once the caches are filled; pods are scheduled from then on. Rejects when it is stopped before. */
  start(): Promise<void> {
    this.#ready ??= this.#start();
    return this.#ready;
  }
  async #start(): Promise<void> {
    watchCluster(this.#informers, {
      cache: this.cache,
      queue: this.queue,
      isOurs: (pod) => this.#profileOf(pod) !== undefined,
      onEvent: (event) => this.#onEvent(event),
      onGone: ({ metadata }) => this.#decisions.delete(metadata.uid ?? ''),
    });
    await this.#view.start(this.#deps.client, this.#informers, this.#deps.logger);
    this.#informers.start();
    await this.#informers.waitForSync(this.#abort.signal);
    this.#running = true;
    this.#wake();
  }
  async stop(): Promise<void> {
    this.#abort.abort();
    this.#running = false;
    this.queue.close();
    if (this.#deps.informers === undefined) this.#informers.stop();
    this.#changed();
    await Promise.all([...this.#recorders.values()].map((recorder) => recorder.flush()));
  }
  /** Why the pod is where it is, or nowhere: its newest decision, if it is still remembered. */
  explain(uid: string): Decision | undefined {
    return this.#decisions.get(uid);
  }

  #profileOf(pod: Pod): Profile | undefined {
    return this.#profiles.get(pod.spec?.schedulerName ?? 'default-scheduler');
  }
  #preEnqueue(info: PodInfo): Status | undefined {
    if (this.#preemptors.get(info.pod.spec?.schedulerName ?? '')?.isRunning(info.uid)) {
      return {
        plugin: 'DefaultPreemption',
        code: 'Pending',
        reasons: ['waiting for the preemption for this pod to be finished'],
      };
    }
    for (const plugin of this.#profileOf(info.pod)?.preEnqueue ?? []) {
      const status = plugin.preEnqueue?.(info, this.#view);
      if (status !== undefined) return status;
    }
    return undefined;
  }
  #interests(info: PodInfo, name: string): readonly EventInterest[] {
    if (name === noNodesPlugin) return [{ resource: 'Node', actions: ['Add'] }];
    const profile = this.#profileOf(info.pod);
    const plugin = [...(profile?.filter ?? []), ...(profile?.preFilter ?? []), ...(profile?.permit ?? [])].find(
      (one) => one.name === name,
    );
    return plugin?.events ?? [];
  }
  #onEvent(event: ClusterEvent): void {
    this.queue.onEvent(event);
    if (event.resource !== 'Pod' && event.resource !== 'Node') this.queue.regate(() => true);
    this.#changed();
  }
  #changed(): void {
    for (const wake of [...this.#waiting]) wake();
  }
  #nextChange(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#deps.clock.setTimer(timeoutMs, () => wake());
      const wake = (): void => {
        timer.cancel();
        this.#waiting.delete(wake);
        resolve();
      };
      this.#waiting.add(wake);
    });
  }

  #wake(): void {
    if (!this.#running || this.#scheduled) return;
    this.#scheduled = true;
    queueMicrotask(bound(() => this.#slice()));
  }
  #wakeSoon(): void {
    if (!this.#running || this.#scheduled) return;
    this.#scheduled = true;
    this.#deps.clock.setTimer(0, () => this.#slice());
  }
  /** Decides until there is nothing to do, enough is under way, or others should run. */
  #slice(): void {
    const { clock } = this.#deps;
    const untilMs = clock.monotonic() + sliceMs;
    this.#scheduled = false;
    while (this.#running && this.#bindings < bindingsInFlightMax) {
      if (clock.monotonic() > untilMs) {
        this.#wakeSoon();
        return;
      }
      const entry = this.queue.pop();
      if (entry === undefined) return;
      this.#scheduleOne(entry);
    }
  }
  #scheduleOne(entry: QueueEntry): void {
    const { info } = entry;
    const profile = this.#profileOf(info.pod);
    if (profile === undefined || this.cache.isPlaced(info.uid)) return this.queue.done(info.uid);
    if (info.pod.metadata.deletionTimestamp !== undefined) {
      const message = `skip schedule deleting pod: ${info.key}`;
      this.#event(profile, info.pod, 'Warning', 'FailedScheduling', message, 'Scheduling');
      return this.queue.done(info.uid);
    }
    const startMs = this.#deps.clock.monotonic();
    const decision = this.#decide(info, profile);
    this.#remember(info.uid, decision);
    this.#metrics.algorithm((this.#deps.clock.monotonic() - startMs) / 1000);
    if (decision.kind === 'chosen') void this.#bind(entry, decision, profile, startMs);
    else this.#failed(entry, decision, profile, startMs);
  }
  #decide(info: PodInfo, profile: Profile): Decision {
    const { rng, clock, logger } = this.#deps;
    try {
      const context = { view: this.#view, nowMs: clock.now(), nominated: this.queue.nominator.byNode };
      return cycle(this.cache.snapshot, info, profile, rng, context);
    } catch (error) {
      noteCaught(`scheduling of ${info.key}`, error);
      logger.error('scheduling cycle failed', { pod: info.key, err: error instanceof Error ? error.stack : String(error) });
      return failure(info, errorText(error));
    }
  }
  #remember(uid: string, decision: Decision): void {
    this.#decisions.delete(uid);
    this.#decisions.set(uid, decision);
    for (const oldest of this.#decisions.keys()) {
      if (this.#decisions.size <= decisionsMax) break;
      this.#decisions.delete(oldest);
    }
  }

  async #bind(entry: QueueEntry, decision: Chosen, profile: Profile, startMs: number): Promise<void> {
    const { info } = entry;
    const nodeName = decision.node.name;
    const { client, clock } = this.#deps;
    this.cache.assume(info, nodeName);
    this.queue.nominator.delete(info.uid);
    const assumed = this.#assume(decision.effects);
    this.#bindings++;
    try {
      await bindPod(info, nodeName, decision.effects, {
        client,
        clock,
        view: this.#view,
        nextChange: (timeoutMs) => this.#nextChange(timeoutMs),
        onWritten: ({ resource }, object) => {
          const kind = kindOfResource.get(resource.resource);
          if (kind !== undefined) this.#view.written(kind, object);
        },
      });
      this.queue.done(info.uid);
      this.#metrics.attempt('scheduled', profile.schedulerName, (clock.monotonic() - startMs) / 1000);
      this.#event(profile, info.pod, 'Normal', 'Scheduled', `Successfully assigned ${info.key} to ${nodeName}`, 'Binding');
    } catch (error) {
      for (const { kind, object } of assumed) this.#view.forget(kind, object);
      this.cache.forget(info.uid);
      if (isPodGone(error)) this.queue.done(info.uid);
      else this.#failed(entry, failure(info, `binding rejected: ${errorText(error)}`), profile, startMs);
      this.#onEvent({
        resource: 'Pod',
        actions: ['Delete'],
        old: { ...info.pod, spec: { containers: [], ...info.pod.spec, nodeName } } as Pod,
      });
    } finally {
      this.#bindings--;
      // Answers come in bursts; going on in between would leave no time to anybody else.
      this.#wakeSoon();
    }
  }

  /** Shows what is about to be written; an object that is written in several steps as it is after the last one. */
  #assume(effects: Chosen['effects']): { kind: ViewKind; object: KubeObject }[] {
    const assumed = effects.flatMap((effect) => {
      const kind = effect.kind === 'update' ? kindOfResource.get(effect.resource.resource) : undefined;
      return effect.kind === 'update' && kind !== undefined ? [{ kind, object: effect.object }] : [];
    });
    const seen = new Set<string>();
    for (const { kind, object } of assumed) {
      const key = `${kind}/${keyOf(object.metadata)}`;
      this.#view.assume(kind, object, seen.has(key));
      seen.add(key);
    }
    return assumed;
  }
  /** Writes what may make room for a pod that fits nowhere. A write that fails is made again when the pod is tried again. */
  async #makeRoom({ pod, effects = [] }: Failed): Promise<void> {
    for (const effect of effects) {
      try {
        await write(effect, this.#deps.client);
      } catch (error) {
        this.#deps.logger.error('no room made for a pod', { pod: pod.key, err: errorText(error) });
      }
    }
  }

  #failed(entry: QueueEntry, decision: Failed, profile: Profile, startMs: number): void {
    const { clock, client, logger } = this.#deps;
    const pod = this.#current(entry.info) ?? entry.info.pod;
    const result = decision.reason === 'Unschedulable' ? 'unschedulable' : 'error';
    this.#metrics.attempt(result, profile.schedulerName, (clock.monotonic() - startMs) / 1000);
    if (decision.nominate !== undefined) this.queue.nominator.set(entry.info, decision.nominate);
    if (decision.preemption !== undefined) {
      this.#metrics.preempted(decision.preemption.victims.length);
      this.#preemptorOf(profile).start(entry.info, decision.preemption);
    }
    this.queue.retry(entry, decision.plugins, decision.pendingPlugins);
    void this.#makeRoom(decision);
    this.#event(profile, pod, 'Warning', 'FailedScheduling', truncate(decision.message), 'Scheduling');
    const condition = { type: 'PodScheduled', status: 'False', reason: decision.reason, message: decision.message };
    const change = { condition, ...(decision.nominate !== undefined && { nominatedNodeName: decision.nominate }) };
    patchPodStatus(client, pod, change, clock.now()).catch((error: unknown) => {
      if (!isPodGone(error)) logger.error('pod status not updated', { pod: entry.info.key, err: errorText(error) });
    });
  }
  #current({ namespace, pod, uid }: PodInfo): Pod | undefined {
    const now = this.#informers.informer<Pod>(pods).lister.get(namespace, pod.metadata.name ?? '');
    return now?.metadata.uid === uid ? now : undefined;
  }
  #preemptorOf(profile: Profile): Preemptor {
    let preemptor = this.#preemptors.get(profile.schedulerName);
    if (preemptor === undefined) {
      preemptor = new Preemptor({
        ...this.#deps,
        recorder: this.#recorderOf(profile),
        nominator: this.queue.nominator,
        current: (info) => this.#current(info),
        onDone: (uid) => this.queue.regate((info) => info.uid === uid),
      });
      this.#preemptors.set(profile.schedulerName, preemptor);
    }
    return preemptor;
  }
  #recorderOf({ schedulerName }: Profile): EventRecorder {
    let recorder = this.#recorders.get(schedulerName);
    if (recorder === undefined) {
      const { client, clock, logger } = this.#deps;
      recorder = createEventRecorder({ client, clock, logger, component: schedulerName, api: 'events' });
      this.#recorders.set(schedulerName, recorder);
    }
    return recorder;
  }
  #event(profile: Profile, pod: Pod, type: 'Normal' | 'Warning', reason: string, message: string, action: string): void {
    this.#recorderOf(profile).event(asObject(pod), type, reason, message, { action });
  }
}

const failure = (pod: PodInfo, message: string): Failed => ({
  kind: 'failed',
  pod,
  reason: 'SchedulerError',
  message,
  plugins: noPlugins,
  pendingPlugins: noPlugins,
  verdicts: [],
  evaluatedNodes: 0,
  feasibleNodes: 0,
  nominate: '',
});
