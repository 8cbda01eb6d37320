// The world while the cloud runs. A change is decided against the newest accepted world, and seen by readers and drivers once it is on disk.
import type { Clock, Logger } from '#utils';
import type { World } from '../model/index.ts';
import { problemsOf } from '../core/index.ts';
import { type Journal, openJournal } from './journal.ts';
import { limits } from './limits.ts';
import { type ChangeRecord, recordOf, type RememberedRequest, replay, type Snapshot, snapshotOf } from './records.ts';

/** The journal to which changes of the world are written. */
export type WorldJournal = Pick<Journal, 'failed' | 'bytes' | 'append' | 'flushed' | 'compact' | 'close'>;

export class WorldStore {
  readonly #journal: WorldJournal;
  readonly #requests: Map<string, RememberedRequest>;
  readonly #watchers = new Set<(world: World) => void>();
  #accepted: World;
  #published: World;
  #compacting = false;

  constructor(journal: WorldJournal, world: World, requests: readonly RememberedRequest[]) {
    this.#journal = journal;
    this.#accepted = world;
    this.#published = world;
    this.#requests = new Map(requests.map((request) => [request.key, request]));
  }
  /** What the next change is decided against; not yet on disk as a whole. */
  get accepted(): World {
    return this.#accepted;
  }
  /** The newest world that is on disk. */
  get published(): World {
    return this.#published;
  }
  /** Why nothing can be changed now; undefined when all is well. */
  get failure(): string | undefined {
    return this.#journal.failed?.message;
  }
  remembered(key: string): RememberedRequest | undefined {
    return this.#requests.get(key);
  }
  /** Accepts a world made from `accepted` at once; resolves when it is on disk and published. One that the journal does not take has never been. */
  async change(world: World, request?: RememberedRequest): Promise<void> {
    const record = recordOf(this.#accepted, world, request);
    if (!record) return this.#journal.flushed();
    this.#accepted = world;
    if (request) this.#remember(request);
    try {
      await this.#journal.append(record);
    } catch (error) {
      // All that was accepted behind it is refused as well, and nothing is written before all of them have come by here.
      this.#accepted = this.#published;
      if (request && this.#requests.get(request.key) === request) this.#requests.delete(request.key);
      throw error;
    }
    this.#published = world;
    for (const watcher of this.#watchers) watcher(world);
    this.#compactWhenLarge();
  }
  /** Resolves when everything accepted so far is on disk. */
  settled(): Promise<void> {
    return this.#journal.flushed();
  }
  /** Calls back with each world after it was published. */
  watch(watcher: (world: World) => void): () => void {
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  }
  close(): Promise<void> {
    return this.#journal.close();
  }

  #remember(request: RememberedRequest): void {
    this.#requests.delete(request.key);
    this.#requests.set(request.key, request);
    for (const [key, { time }] of this.#requests) {
      const old = time + limits.clientTokenKeepMs < request.time;
      if (!old && this.#requests.size <= limits.clientTokensMax) break;
      this.#requests.delete(key);
    }
  }
  #compactWhenLarge(): void {
    if (this.#compacting || this.#journal.bytes < limits.journalBytesMax) return;
    this.#compacting = true;
    // Where a failure stops all later writes, they say why; a full disk does not take a snapshot, and is asked again with the next change.
    void this.#journal
      .compact(snapshotOf(this.#accepted, this.#requests.values()))
      .catch(() => {})
      .finally(() => {
        this.#compacting = false;
      });
  }
}

/** Opens the world kept in a folder; an empty one at first. Rejects when what is there is damaged, or less than it was. */
export async function openWorldStore(dir: string, { logger, clock }: { logger: Logger; clock: Clock }): Promise<WorldStore> {
  const { snapshot, records, tornBytes, journal } = await openJournal(dir, clock);
  if (tornBytes > 0) logger.warn('cut a torn record off the journal', { dir, bytes: tornBytes });
  const { world, requests } = replay(snapshot as Snapshot | undefined, records as ChangeRecord[]);
  for (const problem of problemsOf(world)) logger.error('the world on disk is not in order', { problem });
  const young = requests.filter(({ time }) => time + limits.clientTokenKeepMs >= clock.now());
  return new WorldStore(journal, world, young);
}

const nothingIsKept: WorldJournal = {
  failed: undefined,
  bytes: 0,
  append: () => Promise.resolve(),
  flushed: () => Promise.resolve(),
  compact: () => Promise.resolve(),
  close: () => Promise.resolve(),
};

/** A world that ends with the process. */
export const memoryWorldStore = (world: World): WorldStore => new WorldStore(nothingIsKept, world, []);
