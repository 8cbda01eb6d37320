// The one contract suite of stores: every implementation runs it (`storeSuite('memory', open)` in a test file).
import { describe, expect, test } from 'vitest';
import { ClosedError } from '../errors.ts';
import type { SuiteSubject } from './context.ts';
import { bytes, defineWith } from './context.ts';
import { dataModelTests } from './data-model.ts';
import { leaseTests } from './leases.ts';
import { transactionTests } from './transactions.ts';
import { watchTests } from './watches.ts';

export type { SuiteSubject } from './context.ts';
export { type ManualClock, manualClock } from './manual-clock.ts';
export { Acknowledged } from './acknowledged.ts';
export { type DiskFaults, FaultyDisk } from './faulty-disk.ts';
export { openOn as openDiskStoreOn } from '../disk/index.ts';

export interface StoreSuiteOptions {
  /** Opens the store for one test; it may be shared. */
  open(): Promise<SuiteSubject>;
  /** Opens a store that the test may close. Default: `open`. */
  openOwn?(): Promise<SuiteSubject>;
}

/** Defines the whole suite for one implementation. */
export function storeSuite(name: string, { open, openOwn = open }: StoreSuiteOptions): void {
  describe(`store: ${name}`, () => {
    const define = defineWith(open);
    describe('data model', () => dataModelTests(define));
    describe('transactions', () => transactionTests(define));
    describe('watches', () => watchTests(define));
    describe('leases', () => leaseTests(define));
    test('a closed store refuses everything and ends its watches', async () => {
      const { store, release } = await openOwn();
      const ends: Error[] = [];
      store.watch({ key: '/suite-close', onEvents() {}, onEnd: (error) => ends.push(error) });
      const accepted = store.txn({ compare: [], success: [{ op: 'put', key: '/suite-close', value: bytes('1') }] });
      await accepted;
      await Promise.all([store.close(), store.close()]);
      const put = store.txn({ compare: [], success: [{ op: 'put', key: '/suite-close', value: bytes('2') }] });
      await expect(put).rejects.toBeInstanceOf(ClosedError);
      await expect(store.range({ key: '/suite-close' })).rejects.toBeInstanceOf(ClosedError);
      await expect(store.leaseGrant(10)).rejects.toBeInstanceOf(ClosedError);
      expect(ends).toHaveLength(1);
      expect(ends[0]).toBeInstanceOf(ClosedError);
      await release();
    });
  });
}
