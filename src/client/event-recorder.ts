// Events as upstream's recorders write them: core/v1 with counts (client-go tools/record) or events.k8s.io/v1 with series (tools/events).
// The caller is never blocked: events wait in a bounded queue and are written one after the other.
import { isAlreadyExists, StatusError } from '#apimachinery/errors';
import { formatMicroTime, formatTime, type GroupVersionResource, type KubeObject } from '#apimachinery/meta';
import type { Clock, Logger } from '#utils';
import {
  eventAggregateMax,
  eventAggregateWindowMs,
  eventBurst,
  eventCacheMax,
  eventNamesMax,
  eventQueueMax,
  eventRefillSeconds,
} from './limits.ts';
import type { EventRecorder, KubeClient } from './types.ts';

export interface EventRecorderOptions {
  client: KubeClient;
  clock: Clock;
  logger: Logger;
  /** Reporting controller, e.g. `deployment-controller`, `kubelet`, `default-scheduler`. */
  component: string;
  /** Host name for `source.host` / `reportingInstance`. */
  host?: string;
  /** `core`: events with counts (controllers, kubelet). `events`: events.k8s.io/v1 with series (scheduler). Default `core`. */
  api?: 'core' | 'events';
}

type RecordOptions = Parameters<EventRecorder['event']>[4];
interface Recorded {
  name: string;
  namespace: string;
  count: number;
  lastMs: number;
}
interface Similar {
  messages: Set<string>;
  sinceMs: number;
}

const coreEvents: GroupVersionResource = { group: '', version: 'v1', resource: 'events' };
const newEvents: GroupVersionResource = { group: 'events.k8s.io', version: 'v1', resource: 'events' };

const reference = (object: KubeObject, fieldPath?: string): Record<string, string> => {
  const { name = '', namespace, uid, resourceVersion } = object.metadata;
  return {
    kind: object.kind ?? '',
    apiVersion: object.apiVersion ?? '',
    name,
    ...(namespace && { namespace }),
    ...(uid && { uid }),
    ...(resourceVersion && { resourceVersion }),
    ...(fieldPath && { fieldPath }),
  };
};

/** Keeps the newest `max` entries of a map. */
function trim<K>(map: Map<K, unknown>, max: number): void {
  for (const key of map.keys()) {
    if (map.size <= max) return;
    map.delete(key);
  }
}

class Recorder implements EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #recorded = new Map<string, Recorded>();
  readonly #similar = new Map<string, Similar>();
  readonly #buckets = new Map<string, { tokens: number; atMs: number }>();
  readonly #queue: (() => Promise<void>)[] = [];
  #draining: Promise<void> | undefined;
  #sequence = 0;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
  }
  event(regarding: KubeObject, type: 'Normal' | 'Warning', reason: string, message: string, options: RecordOptions = {}): void {
    const nowMs = this.#options.clock.now();
    const source = JSON.stringify([
      regarding.kind,
      regarding.metadata.namespace,
      regarding.metadata.name,
      regarding.metadata.uid,
    ]);
    if (this.#options.api !== 'events' && !this.#spend(source, nowMs)) return;
    if (this.#queue.length >= eventQueueMax) this.#queue.shift();
    this.#queue.push(() =>
      this.#write(regarding, { type, reason, message: this.#combine(source, type, reason, message, nowMs), nowMs, ...options }),
    );
    this.#draining ??= this.#drain();
  }
  async flush(): Promise<void> {
    while (this.#draining) await this.#draining;
  }
  async #drain(): Promise<void> {
    await Promise.resolve();
    for (let write = this.#queue.shift(); write; write = this.#queue.shift()) {
      try {
        await write();
      } catch (error) {
        this.#options.logger.debug('event not recorded', { error: String(error) });
      }
    }
    this.#draining = undefined;
  }
  /** One token per event of a source; a burst, then one more every few minutes. */
  #spend(source: string, nowMs: number): boolean {
    const bucket = this.#buckets.get(source) ?? { tokens: eventBurst, atMs: nowMs };
    bucket.tokens = Math.min(eventBurst, bucket.tokens + (nowMs - bucket.atMs) / 1000 / eventRefillSeconds);
    bucket.atMs = nowMs;
    this.#buckets.set(source, bucket);
    trim(this.#buckets, eventCacheMax);
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  }
  #combine(source: string, type: string, reason: string, message: string, nowMs: number): string {
    if (this.#options.api === 'events') return message;
    const key = JSON.stringify([source, type, reason]);
    let similar = this.#similar.get(key);
    if (!similar || nowMs - similar.sinceMs > eventAggregateWindowMs) similar = { messages: new Set(), sinceMs: nowMs };
    similar.messages.add(message);
    this.#similar.set(key, similar);
    trim(this.#similar, eventCacheMax);
    return similar.messages.size < eventAggregateMax ? message : `(combined from similar events): ${message}`;
  }
  async #write(
    regarding: KubeObject,
    event: { type: string; reason: string; message: string; nowMs: number } & NonNullable<RecordOptions>,
  ) {
    const combined = event.message.startsWith('(combined from similar events)');
    // The object's version does not count: the same event about a newer one is still the same.
    const { resourceVersion: _, ...subject } = reference(regarding, event.fieldPath);
    const key = JSON.stringify([subject, event.type, event.reason, event.action, combined ? '' : event.message]);
    const known = this.#recorded.get(key);
    const api = this.#options.api === 'events' ? newEvents : coreEvents;
    if (known && event.nowMs - known.lastMs < eventAggregateWindowMs) {
      try {
        await this.#repeat(api, known, event);
        return;
      } catch (error) {
        if (!(error instanceof StatusError) || error.status.code !== 404) throw error;
      }
    }
    const namespace = regarding.metadata.namespace || 'default';
    const name = await this.#create(api, (unique) => this.#object(regarding, { ...event, ...unique, namespace }), {
      subject: regarding.metadata.name ?? '',
      nowMs: event.nowMs,
    });
    this.#recorded.set(key, { name, namespace, count: 1, lastMs: event.nowMs });
    trim(this.#recorded, eventCacheMax);
  }
  /** Names are of the moment. Another recorder may have taken one in the same millisecond: then the next will do. */
  async #create(
    api: GroupVersionResource,
    named: (unique: { name: string }) => KubeObject,
    { subject, nowMs }: { subject: string; nowMs: number },
  ): Promise<string> {
    for (let attempt = 1; ; attempt++) {
      const unique = (BigInt(Math.floor(nowMs)) * 1_000_000n + BigInt(this.#sequence++ % 1_000_000)).toString(16);
      const object = named({ name: `${subject}.${unique}` });
      try {
        await this.#options.client.resource(api, object.metadata.namespace).create(object);
        return object.metadata.name ?? '';
      } catch (error) {
        if (attempt >= eventNamesMax || !isAlreadyExists(error)) throw error;
      }
    }
  }
  async #repeat(api: GroupVersionResource, known: Recorded, event: { message: string; nowMs: number }): Promise<void> {
    known.count += 1;
    known.lastMs = event.nowMs;
    const body =
      api === newEvents
        ? { series: { count: known.count, lastObservedTime: formatMicroTime(event.nowMs) } }
        : { count: known.count, lastTimestamp: formatTime(event.nowMs), message: event.message };
    await this.#options.client.resource(api, known.namespace).patch(known.name, 'application/strategic-merge-patch+json', body);
  }
  #object(
    regarding: KubeObject,
    event: {
      type: string;
      reason: string;
      message: string;
      nowMs: number;
      name: string;
      namespace: string;
    } & NonNullable<RecordOptions>,
  ) {
    const { component, host = '' } = this.#options;
    const metadata = { name: event.name, namespace: event.namespace };
    if (this.#options.api === 'events')
      return {
        apiVersion: 'events.k8s.io/v1',
        kind: 'Event',
        metadata,
        eventTime: formatMicroTime(event.nowMs),
        reportingController: component,
        reportingInstance: host ? `${component}-${host}` : component,
        action: event.action ?? event.reason,
        reason: event.reason,
        regarding: reference(regarding, event.fieldPath),
        ...(event.related && { related: reference(event.related) }),
        note: event.message,
        type: event.type,
      };
    const time = formatTime(event.nowMs);
    return {
      apiVersion: 'v1',
      kind: 'Event',
      metadata,
      involvedObject: reference(regarding, event.fieldPath),
      reason: event.reason,
      message: event.message,
      source: { component, ...(host && { host }) },
      firstTimestamp: time,
      lastTimestamp: time,
      count: 1,
      type: event.type,
      eventTime: null,
      reportingComponent: component,
      reportingInstance: host,
      ...(event.related && { related: reference(event.related) }),
    };
  }
}

export const createEventRecorder = (options: EventRecorderOptions): EventRecorder => new Recorder(options);
