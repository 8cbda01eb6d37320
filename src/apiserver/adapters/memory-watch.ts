// A watch in memory: events are the frozen objects of the cache.
import { StatusError } from '#apimachinery/errors';
import { apiVersionOf, type KubeObject } from '#apimachinery/meta';
import type { WatchStream } from '#apimachinery/transport';
import type { WatchEvent } from '#apimachinery/watch';
import { bookmarkIntervalMs } from '../limits.ts';
import type { ListOptions } from '../registry/generic/list-options.ts';
import type { ServedResource } from '../registry/generic/types.ts';
import type { WatchSink, WatchStart } from '../registry/generic/watch.ts';
import type { AnswerContext } from '../endpoints/answer-context.ts';
import { inVersion } from '../endpoints/respond.ts';
import { initialEventsEnd } from '../endpoints/watch-stream.ts';

type Handler = (event: WatchEvent) => void;

/** Hands events over in microtasks, so that a handler never runs inside the commit that caused the event. */
export class MemoryWatch implements WatchStream {
  readonly #context: AnswerContext;
  readonly #resource: ServedResource;
  readonly #options: ListOptions;
  readonly #start: WatchStart;
  readonly #release: () => void;
  #queue: WatchEvent[] = [];
  #scheduled = false;
  #over = false;
  #handler: Handler | undefined;
  #ended: ((error?: Error) => void) | undefined;
  #stops: (() => void)[] = [];

  constructor(context: AnswerContext, resource: ServedResource, start: WatchStart, options: ListOptions, release: () => void) {
    this.#context = context;
    this.#resource = resource;
    this.#options = options;
    this.#start = start;
    this.#release = release;
    const show = (type: WatchEvent['type'], object: KubeObject): void => this.#push({ type, object });
    for (const stored of start.initial) show('ADDED', inVersion(resource, stored).object);
    if (start.endMark) this.#bookmark(start.revision, initialEventsEnd);
    const change: WatchSink['onEvent'] = (event, type) => show(type, inVersion(resource, event.objectFor(type)).object);
    for (const { event, type } of start.missed) change(event, type);
    this.#stops.push(
      start.subscribe({
        onEvent: change,
        onEnd: (failure) =>
          this.#finish(new StatusError(failure ?? { code: 410, reason: 'Expired', message: 'too old resource version' })),
      }),
      context.watches.add(() => this.#finish()),
    );
    this.#timers();
  }

  subscribe(handler: Handler, end: (error?: Error) => void): void {
    this.#handler = handler;
    this.#ended = end;
    this.#schedule();
  }

  stop(): void {
    this.#queue = [];
    this.#finish();
  }

  #timers(): void {
    const { clock } = this.#context;
    const seconds = this.#options.timeoutSeconds ?? 0;
    if (seconds !== 0) {
      const timer = clock.setTimer(Math.max(0, seconds * 1000), () => this.#finish());
      this.#stops.push(() => timer.cancel());
    }
    if (!this.#options.allowWatchBookmarks) return;
    let cancel = (): void => {};
    const again = (): void => {
      const timer = clock.setTimer(bookmarkIntervalMs, () => {
        const { revision } = this.#context.feed;
        this.#bookmark(this.#start.reached?.(revision) ?? revision);
        again();
      });
      cancel = () => timer.cancel();
    };
    again();
    this.#stops.push(() => cancel());
  }

  #bookmark(revision: number, annotations?: Record<string, string>): void {
    const { kind, group, version } = this.#resource;
    const metadata = { resourceVersion: String(revision), ...(annotations && { annotations }) };
    this.#push({ type: 'BOOKMARK', object: { kind, apiVersion: apiVersionOf(group, version), metadata } });
  }

  #push(event: WatchEvent): void {
    if (this.#over) return;
    this.#queue.push(event);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled || !this.#handler) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      this.#deliver();
    });
  }

  #deliver(): void {
    const events = this.#queue;
    this.#queue = [];
    for (const event of events) {
      if (!this.#handler) return;
      this.#handler(event);
    }
    if (this.#over && this.#queue.length === 0) this.#tellEnd();
  }

  #error: Error | undefined;

  #finish(error?: Error): void {
    if (this.#over) return;
    this.#over = true;
    this.#error = error;
    for (const stop of this.#stops) stop();
    this.#release();
    if (this.#handler) this.#schedule();
  }

  #tellEnd(): void {
    const ended = this.#ended;
    this.#ended = undefined;
    this.#handler = undefined;
    ended?.(this.#error);
  }
}
