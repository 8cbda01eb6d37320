// Node ports claimed in the store, where several apiservers write to it: the server that first writes a port into the record has it. Claims without a
// Service, which a server leaves that ended between two writes, are found and released, as upstream's repair loop does.
import type { Store } from '#store';
import type { Clock } from '#utils';
import { portRepairIntervalMs, portRepairsBeforeRelease } from '../../../limits.ts';
import type { PortRange } from './port-allocator.ts';
import { decodePortRecord, encodePortRecord, portRecordKey } from './port-record.ts';

export class PortClaims {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #range: PortRange;
  /** Ports of Services, as this server sees them. */
  readonly #held: () => Iterable<number>;
  /** The record as it was last read or written. Revision 0 means that it does not exist, undefined that it was not read yet. */
  #claimed: ReadonlySet<number> = new Set();
  #revision: number | undefined;
  /** The end of the last turn: reads and writes of this server go one after the other. */
  #last: Promise<unknown> = Promise.resolve();
  #repairedMs = Number.NEGATIVE_INFINITY;
  /** How often in a row a repair has found nobody behind a port. */
  readonly #unowned = new Map<number, number>();

  constructor(store: Store, clock: Clock, range: PortRange, held: () => Iterable<number>) {
    this.#store = store;
    this.#clock = clock;
    this.#range = range;
    this.#held = held;
  }

  /** Whether the port was claimed when the record was seen last. */
  has(port: number): boolean {
    return this.#claimed.has(port);
  }

  /**
   * Runs `choose` with the record as it is known, and claims the ports that it answers with. It runs again whenever somebody else has changed the record:
   * before the claim was written, or since it was seen when `choose` throws. Choices of this server are made one after the other.
   */
  claim(choose: () => readonly number[]): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#revision === undefined) await this.#read();
      while (!(await this.#write(this.#repaired()))) {
        // Somebody else was faster; the record is known anew.
      }
      for (;;) {
        let ports: readonly number[];
        try {
          ports = choose();
        } catch (error) {
          if (await this.#read()) continue;
          throw error;
        }
        if (ports.length === 0 || (await this.#write(new Set([...this.#claimed, ...ports])))) return;
      }
    });
  }

  /** Gives ports back. */
  release(ports: readonly number[]): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#revision === undefined) await this.#read();
      while (!(await this.#write(new Set([...this.#claimed].filter((port) => !ports.includes(port)))))) {
        // Somebody else was faster; the record is known anew.
      }
    });
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => {});
    return turn;
  }

  /** False: somebody else has changed the record since it was seen; it is known as it is now, and nothing was written. */
  async #write(next: ReadonlySet<number>): Promise<boolean> {
    if (next.size === this.#claimed.size && [...next].every((port) => this.#claimed.has(port))) return true;
    const { succeeded, responses, revision } = await this.#store.txn({
      compare: [{ key: portRecordKey, target: 'modRevision', result: '=', value: this.#revision ?? 0 }],
      success: [{ op: 'put', key: portRecordKey, value: encodePortRecord(this.#range, next) }],
      failure: [{ op: 'range', request: { key: portRecordKey } }],
    });
    const [found] = responses;
    if (succeeded) [this.#claimed, this.#revision] = [next, revision];
    else this.#see(found?.op === 'range' ? found.response.kvs[0] : undefined);
    return succeeded;
  }

  /** Whether the record is another one than was known. */
  async #read(): Promise<boolean> {
    const before = this.#revision;
    this.#see((await this.#store.range({ key: portRecordKey })).kvs[0]);
    return this.#revision !== before;
  }

  #see(stored: { value: Uint8Array; modRevision: number } | undefined): void {
    this.#claimed = stored ? decodePortRecord(stored.value) : new Set();
    this.#revision = stored?.modRevision ?? 0;
  }

  /** The record; from time to time with ports of Services that nobody claimed, and without claims that nobody stood behind for several times. */
  #repaired(): ReadonlySet<number> {
    const claimed = this.#claimed;
    const now = this.#clock.monotonic();
    if (now - this.#repairedMs < portRepairIntervalMs) return claimed;
    this.#repairedMs = now;
    const held = new Set(this.#held());
    const kept = new Set(held);
    for (const port of claimed) {
      const times = held.has(port) ? 0 : (this.#unowned.get(port) ?? 0) + 1;
      if (times === 0 || times > portRepairsBeforeRelease) this.#unowned.delete(port);
      else this.#unowned.set(port, times);
      if (times <= portRepairsBeforeRelease) kept.add(port);
    }
    return kept;
  }
}
