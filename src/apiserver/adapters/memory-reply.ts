// Answers in memory: the value itself, or a stream of the cache's events.
import type { Status, StatusError } from '#apimachinery/errors';
import { apiVersionOf, type KubeObject } from '#apimachinery/meta';
import type { WatchStream } from '#apimachinery/transport';
import type { Reply } from '../chain/incoming.ts';
import type { Outcome } from '../chain/outcome.ts';
import { inVersion } from '../endpoints/respond.ts';
import type { Notes } from '../request/notes.ts';
import type { AnswerContext } from '../endpoints/answer-context.ts';
import { MemoryWatch } from './memory-watch.ts';

export class MemoryReply implements Reply {
  value: unknown;
  stream: WatchStream<KubeObject> | undefined;
  status = 0;
  streaming = false;
  readonly #context: AnswerContext;
  readonly #notes: Notes;
  #onStart: ((status: number) => void) | undefined;
  #onEnd: (() => void)[] | undefined;

  constructor(context: AnswerContext, notes: Notes) {
    this.#context = context;
    this.#notes = notes;
  }

  get over(): boolean {
    return this.status > 0;
  }

  /** A component takes every object as it is. */
  agree(): void {}

  onStart(callback: (status: number) => void): void {
    this.#onStart = callback;
  }

  /** A client in the same process takes an answer at once, so there is nothing to wait for. */
  onWait(): void {}

  onEnd(callback: () => void): void {
    (this.#onEnd ??= []).push(callback);
  }

  send(outcome: Exclude<Outcome, { is: 'failed' }>): undefined {
    if (this.over) return;
    if (outcome.is === 'watch') this.#watch(outcome);
    else if (outcome.is === 'remote watch') {
      this.streaming = true;
      this.#start(200);
      this.stream = withEnd(outcome.stream, () => this.#end());
    } else {
      this.value = valueOf(outcome);
      const { audit } = this.#notes;
      if (audit) {
        if ((this.value as KubeObject | undefined)?.kind === 'Status') audit.responseStatus(this.value as Partial<Status>);
        audit.responseObject(() => JSON.stringify(this.value));
      }
      this.#start('status' in outcome ? outcome.status : 200);
    }
  }

  fail({ status }: StatusError): void {
    if (this.over) return;
    this.#notes.audit?.responseStatus(status);
    this.#notes.audit?.responseObject(() => JSON.stringify(status));
    this.status = status.code ?? 500;
  }

  #start(status: number): void {
    this.status = status;
    this.#onStart?.(status);
  }

  #watch({ resource, start, options }: Extract<Outcome, { is: 'watch' }>): void {
    this.streaming = true;
    this.#start(200);
    this.stream = new MemoryWatch(this.#context, resource, start, options, () => this.#end()) as WatchStream<KubeObject>;
  }

  #end(): void {
    this.streaming = false;
    for (const callback of this.#onEnd?.splice(0) ?? []) callback();
  }
}

/** The stream as it is, with `onEnd` called when it is over, whoever has ended it. */
const withEnd = (stream: WatchStream<KubeObject>, onEnd: () => void): WatchStream<KubeObject> => ({
  subscribe(handler, end) {
    stream.subscribe(handler, (error) => {
      onEnd();
      end(error);
    });
  },
  stop() {
    stream.stop();
    onEnd();
  },
});

function valueOf(outcome: Exclude<Outcome, { is: 'failed' | 'watch' | 'remote watch' }>): unknown {
  switch (outcome.is) {
    case 'stored':
      return inVersion(outcome.resource, outcome.stored).object;
    case 'list': {
      const { page, resource } = outcome;
      const metadata = {
        resourceVersion: String(page.revision),
        ...(page.continueToken && { continue: page.continueToken }),
        ...(page.remaining !== undefined && { remainingItemCount: page.remaining }),
      };
      return {
        kind: resource.listKind,
        apiVersion: apiVersionOf(resource.group, resource.version),
        metadata,
        items: page.entries.map((entry) => inVersion(resource, entry).object),
      };
    }
    case 'bytes':
    case 'answered':
      return undefined;
    default:
      return outcome.value;
  }
}
