// Our etcd client against a real etcd: the contract suite on one member, and three members of which one is killed.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Store } from '#store';
import { openEtcdStore, UnavailableError } from '#store';
import { storeSuite } from '#store/suite';
import type { EtcdCluster } from './etcd-cluster.ts';
import { startEtcd, versionOf } from './etcd-cluster.ts';

const version = versionOf('etcd');
const wait = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

describe.skipIf(!version)(`real etcd${version ? '' : ' (skipped: no etcd program on this machine)'}`, () => {
  describe('one member', () => {
    let cluster: EtcdCluster;
    let shared: Store;
    beforeAll(async () => {
      cluster = await startEtcd(1);
      shared = await openEtcdStore(cluster);
    });
    afterAll(async () => {
      await shared?.close();
      await cluster?.stop();
    });

    storeSuite(`etcd (${version})`, {
      open: async () => ({ store: shared, advance: wait, release: async () => {} }),
      openOwn: async () => {
        const store = await openEtcdStore(cluster);
        return { store, advance: wait, release: () => store.close() };
      },
    });
  });

  test('no member answers', async () => {
    const opened = openEtcdStore({ endpoints: ['http://127.0.0.1:1'], connectTimeoutMs: 100 });
    await expect(opened).rejects.toBeInstanceOf(UnavailableError);
  });

  test('one of three members is killed: writes go on and a watch misses nothing', async () => {
    const cluster = await startEtcd(3);
    const store = await openEtcdStore(cluster);
    try {
      const seen: string[] = [];
      const ends: Error[] = [];
      let reached = (): void => {};
      const all = new Promise<void>((resolve) => (reached = resolve));
      store.watch({
        key: '/three/',
        rangeEnd: '/three0',
        startRevision: store.revision() + 1,
        onEvents(events) {
          seen.push(...events.map(({ kv }) => kv.key));
          if (seen.at(-1) === '/three/last') reached();
        },
        onEnd: (error) => ends.push(error),
      });
      const expected: string[] = [];
      const put = async (name: string): Promise<void> => {
        const key = `/three/${name}`;
        for (;;) {
          try {
            const compare = [{ key, target: 'version' as const, result: '=' as const, value: 0 }];
            await store.txn({ compare, success: [{ op: 'put', key, value: Buffer.from(name) }] });
            expected.push(key);
            return;
          } catch (error) {
            // May or may not have happened: the compare makes repeating it harmless.
            expect(error).toBeInstanceOf(UnavailableError);
          }
        }
      };
      for (let i = 0; i < 60; i++) {
        if (i === 20) await cluster.members[0]?.kill();
        await put(`k${i}`);
      }
      await put('last');
      await all;
      expect(seen).toEqual(expected);
      expect(ends).toEqual([]);
    } finally {
      await store.close();
      await cluster.stop();
    }
  });
});
