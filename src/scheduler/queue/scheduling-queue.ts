// Pods that wait for a node (upstream pkg/scheduler/backend/queue PriorityQueue): ready ones by priority, backing-off ones by time, and those
// that an event has to help first (KEP-4247 queueing hints).
import type { Clock, Timer } from '#utils';
import type { ClusterEvent, EventInterest, PodInfo, QueuedPod, Status } from '../framework/index.ts';
import {
  eventsBehindMax,
  podInitialBackoffMs,
  podMaxBackoffMs,
  sliceMs,
  unschedulableFlushMs,
  unschedulableTimeoutMs,
} from '../limits.ts';
import { Heap } from './heap.ts';
import { Nominator } from './nominator.ts';

export interface QueueEntry extends QueuedPod {
  info: PodInfo;
  timestampMs: number;
  /** First try, for the time that scheduling took. */
  readonly addedMs: number;
  /** Tries so far that count for back-off. */
  attempts: number;
  /** Plugins that turned the pod away; their events may help. */
  plugins: ReadonlySet<string>;
  pendingPlugins: ReadonlySet<string>;
  /** Turned away before it was queued. */
  gate: Status | undefined;
  /** Events that had come when it began to wait for one. */
  heard: number;
}

export interface QueueOptions {
  clock: Clock;
  initialBackoffMs?: number;
  maxBackoffMs?: number;
  /** A pod that no event moved is tried again after this long. */
  unschedulableMs?: number;
  compare(a: QueuedPod, b: QueuedPod): number;
  preEnqueue(pod: PodInfo): Status | undefined;
  /** Events that the plugin of the pod's profile wants to hear of. */
  interests(pod: PodInfo, plugin: string): readonly EventInterest[];
  helps(interest: EventInterest, pod: PodInfo, event: ClusterEvent): boolean;
  /** There is something to pop. */
  onReady(): void;
}

type Place = 'active' | 'backoff' | 'unschedulable' | 'inFlight';
const nobody: ReadonlySet<string> = new Set();

export class SchedulingQueue {
  readonly nominator = new Nominator();
  readonly #options: Required<QueueOptions>;
  readonly #entries = new Map<string, { entry: QueueEntry; place: Place }>();
  readonly #unschedulable = new Map<string, QueueEntry>();
  readonly #active: Heap<QueueEntry>;
  readonly #backoff: Heap<QueueEntry>;
  #backoffTimer: (Timer & { atMs: number }) | undefined;
  #flushTimer: Timer | undefined;
  /**
   * Events about which not every pod has been asked yet, the oldest first, each with its number and the pods that are left. Those that begin to
   * wait later are among them, and are passed over.
   */
  readonly #behind: { event: ClusterEvent; number: number; entries: Iterator<QueueEntry> }[] = [];
  #events = 0;
  #offerTimer: Timer | undefined;
  #closed = false;

  constructor(options: QueueOptions) {
    this.#options = {
      initialBackoffMs: podInitialBackoffMs,
      maxBackoffMs: podMaxBackoffMs,
      unschedulableMs: unschedulableTimeoutMs,
      ...options,
    };
    this.#active = new Heap((a, b) => options.compare(a, b));
    this.#backoff = new Heap((a, b) => this.#readyAtMs(a) - this.#readyAtMs(b));
    this.#scheduleFlush();
  }
  close(): void {
    this.#closed = true;
    this.#backoffTimer?.cancel();
    this.#flushTimer?.cancel();
    this.#offerTimer?.cancel();
  }
  /** Pods by place, for metrics. */
  sizes(): Record<Place | 'gated', number> {
    const waiting = this.#unschedulable.size;
    const active = this.#active.size;
    const backoff = this.#backoff.size;
    const gated = [...this.#unschedulable.values()].filter(({ gate }) => gate !== undefined).length;
    return { active, backoff, gated, unschedulable: waiting - gated, inFlight: this.#entries.size - waiting - active - backoff };
  }

  add(info: PodInfo): void {
    if (this.#entries.has(info.uid)) return this.update(info);
    const nowMs = this.#options.clock.now();
    const entry: QueueEntry = {
      info,
      timestampMs: nowMs,
      addedMs: nowMs,
      attempts: 0,
      plugins: nobody,
      pendingPlugins: nobody,
      gate: undefined,
      heard: 0,
    };
    this.#nominate(info);
    this.#toActive(entry);
  }
  /** A newer version of a waiting pod; `event` says what changed about it. */
  update(info: PodInfo, event?: ClusterEvent): void {
    const known = this.#entries.get(info.uid);
    if (known === undefined) return this.add(info);
    const { entry, place } = known;
    const reorder = place === 'active' && this.#active.delete(entry);
    entry.info = info;
    if (reorder) this.#active.push(entry);
    if (this.nominator.nodeOf(info.uid) !== undefined || info.pod.status?.nominatedNodeName) this.#nominate(info);
    if (place !== 'unschedulable') return;
    if (entry.gate !== undefined) this.#regate(entry);
    else if (event !== undefined) this.#offer(entry, event);
  }
  delete(uid: string): void {
    const known = this.#entries.get(uid);
    this.nominator.delete(uid);
    if (known === undefined) return;
    this.#entries.delete(uid);
    this.#unschedulable.delete(uid);
    this.#active.delete(known.entry);
    this.#backoff.delete(known.entry);
  }
  has(uid: string): boolean {
    return this.#entries.has(uid);
  }
  /** The next pod to try; with nothing else to do, one whose back-off is not over. The caller ends with `done` or `retry`. */
  pop(): QueueEntry | undefined {
    const entry = this.#active.pop() ?? this.#early();
    if (entry === undefined) return undefined;
    this.#put(entry, 'inFlight');
    entry.attempts++;
    return entry;
  }
  /** Back-off after errors is kept in any case: hurrying would not help whatever is broken. */
  #early(): QueueEntry | undefined {
    const entry = this.#backoff.items().find(({ plugins }) => plugins.size > 0);
    if (entry !== undefined) this.#backoff.delete(entry);
    return entry;
  }
  /** The pod is placed, or gone. */
  done(uid: string): void {
    if (this.#entries.get(uid)?.place === 'inFlight') this.#entries.delete(uid);
  }
  /**
   * Puts the pod back after a try. `plugins`: those that refused it, whose events may help it; empty where something went wrong, so that it is only
   * a matter of time.
   */
  retry(entry: QueueEntry, plugins: ReadonlySet<string>, pendingPlugins: ReadonlySet<string> = nobody): void {
    if (this.#entries.get(entry.info.uid)?.entry !== entry) return;
    entry.plugins = plugins;
    entry.pendingPlugins = pendingPlugins;
    entry.timestampMs = this.#options.clock.now();
    if (plugins.size + pendingPlugins.size === 0) this.#toBackoff(entry);
    else this.#put(entry, 'unschedulable');
  }
  /** Something changed: moves the pods that it may help, at once or, where asking them takes long, in turns. */
  onEvent(event: ClusterEvent): void {
    if (this.#unschedulable.size === 0) return;
    this.#behind.push({ event, number: ++this.#events, entries: this.#unschedulable.values() });
    if (this.#behind.length > eventsBehindMax) this.#tryAll();
    else if (this.#offerTimer === undefined) this.#offerBehind();
  }
  #offerBehind(): void {
    const { clock } = this.#options;
    const untilMs = clock.monotonic() + sliceMs;
    for (let [first] = this.#behind; first; [first] = this.#behind) {
      for (let next = first.entries.next(); !next.done; next = first.entries.next()) {
        const entry = next.value;
        if (entry.heard < first.number && entry.gate === undefined) this.#offer(entry, first.event);
        if (clock.monotonic() < untilMs) continue;
        this.#offerTimer = clock.setTimer(0, () => {
          this.#offerTimer = undefined;
          this.#offerBehind();
        });
        return;
      }
      this.#behind.shift();
    }
  }
  /** More events came than could be judged: every pod is tried again, after its back-off. */
  #tryAll(): void {
    this.#behind.length = 0;
    for (const entry of [...this.#unschedulable.values()]) if (entry.gate === undefined) this.#toBackoff(entry);
  }
  /** Looks again at what keeps gated pods out. */
  regate(match: (info: PodInfo) => boolean): void {
    for (const entry of [...this.#unschedulable.values()]) if (entry.gate !== undefined && match(entry.info)) this.#regate(entry);
  }
  #regate(entry: QueueEntry): void {
    if (this.#options.preEnqueue(entry.info) === undefined) this.#toActive(entry);
  }
  #offer(entry: QueueEntry, event: ClusterEvent): void {
    if ([...entry.pendingPlugins].some((plugin) => this.#helps(entry, plugin, event))) return this.#toActive(entry);
    if (![...entry.plugins].some((plugin) => this.#helps(entry, plugin, event))) return;
    if (this.#readyAtMs(entry) > this.#options.clock.now()) this.#toBackoff(entry);
    else this.#toActive(entry);
  }
  #helps(entry: QueueEntry, plugin: string, event: ClusterEvent): boolean {
    return this.#options
      .interests(entry.info, plugin)
      .some(
        (one) =>
          one.resource === event.resource &&
          one.actions.some((action) => event.actions.includes(action)) &&
          this.#options.helps(one, entry.info, event),
      );
  }
  #nominate(info: PodInfo): void {
    this.nominator.set(info, info.pod.status?.nominatedNodeName ?? this.nominator.nodeOf(info.uid) ?? '');
  }
  #put(entry: QueueEntry, place: Place): void {
    this.#entries.set(entry.info.uid, { entry, place });
    if (place === 'unschedulable') {
      entry.heard = this.#events;
      this.#unschedulable.set(entry.info.uid, entry);
    } else this.#unschedulable.delete(entry.info.uid);
  }
  #toActive(entry: QueueEntry): void {
    entry.gate = this.#options.preEnqueue(entry.info);
    if (entry.gate !== undefined) return this.#put(entry, 'unschedulable');
    this.#put(entry, 'active');
    this.#active.push(entry);
    this.#options.onReady();
  }
  #toBackoff(entry: QueueEntry): void {
    entry.gate = this.#options.preEnqueue(entry.info);
    if (entry.gate !== undefined) return this.#put(entry, 'unschedulable');
    this.#put(entry, 'backoff');
    this.#backoff.push(entry);
    this.#scheduleBackoff();
    if (entry.plugins.size > 0) this.#options.onReady();
  }
  #readyAtMs({ timestampMs, attempts }: QueueEntry): number {
    if (attempts === 0) return timestampMs;
    const { initialBackoffMs, maxBackoffMs } = this.#options;
    return timestampMs + Math.min(initialBackoffMs * 2 ** (attempts - 1), maxBackoffMs);
  }
  #scheduleBackoff(): void {
    const next = this.#backoff.peek();
    if (next === undefined || this.#closed) return;
    const atMs = this.#readyAtMs(next);
    if (this.#backoffTimer && this.#backoffTimer.atMs <= atMs) return;
    this.#backoffTimer?.cancel();
    const timer = this.#options.clock.setTimer(atMs - this.#options.clock.now(), () => {
      this.#backoffTimer = undefined;
      this.#flushBackoff();
    });
    this.#backoffTimer = { atMs, cancel: () => timer.cancel() };
  }
  #flushBackoff(): void {
    const nowMs = this.#options.clock.now();
    for (let next = this.#backoff.peek(); next && this.#readyAtMs(next) <= nowMs; next = this.#backoff.peek()) {
      this.#backoff.delete(next);
      this.#toActive(next);
    }
    this.#scheduleBackoff();
  }
  #scheduleFlush(): void {
    this.#flushTimer = this.#options.clock.setTimer(unschedulableFlushMs, () => {
      const oldestMs = this.#options.clock.now() - this.#options.unschedulableMs;
      for (const entry of [...this.#unschedulable.values()]) {
        if (entry.gate === undefined && entry.timestampMs <= oldestMs) this.#toActive(entry);
      }
      if (!this.#closed) this.#scheduleFlush();
    });
  }
}
