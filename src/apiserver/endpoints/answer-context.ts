// What answering works with, whichever way a request came.
import type { SchemaTable } from '#apimachinery/schema';
import type { Clock } from '#utils';
import type { StoreFeed } from '../storage/store-feed.ts';
import type { RequestData } from '../request/request.ts';
import type { Randomness, ServedResource, WriteSettings } from '../registry/generic/types.ts';

export interface AnswerContext {
  clock: Clock;
  random: Randomness;
  schema: SchemaTable;
  feed: StoreFeed;
  /** What the work on this request is paused with: the users of connections wait for each other by turns, and not behind all of a component's work. */
  restOf(request: Pick<RequestData, 'via' | 'user' | 'target'>): WriteSettings['rest'];
  /** Running watches, to be ended when the server closes. */
  watches: { add(end: () => void): () => void };
  /** Counts the events of one watch: the function it returns is called with the length of each event in bytes. */
  watchEvents(resource: ServedResource): (bytes: number) => void;
  /** The shortest life of a watch for which the client names no time (--min-request-timeout). */
  watchTimeoutMinMs: number;
}
