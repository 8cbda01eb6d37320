// What answering works with, whichever way a request came.
import type { SchemaTable } from '#apimachinery/schema';
import type { Clock } from '#utils';
import type { StoreFeed } from '../storage/store-feed.ts';
import type { Randomness, ServedResource, WriteSettings } from '../registry/generic/types.ts';

export interface AnswerContext {
  clock: Clock;
  random: Randomness;
  schema: SchemaTable;
  feed: StoreFeed;
  /** What long answers rest with. */
  settings: Pick<WriteSettings, 'rest'>;
  /** Running watches, to be ended when the server closes. */
  watches: { add(end: () => void): () => void };
  /** Counts the events of one watch: the function it returns is called with the length of each event in bytes. */
  watchEvents(resource: ServedResource): (bytes: number) => void;
  /** Shortest life of a watch that names none (--min-request-timeout). */
  watchTimeoutMinMs: number;
}
