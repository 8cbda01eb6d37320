// The child process of crash.test.ts: writes to a store as fast as it can and says on standard output what was acknowledged.
import { writeSync } from 'node:fs';
import { openDiskStore } from '#store';

const [path = '', run = ''] = process.argv.slice(2);
const store = await openDiskStore({ path });
const value = Buffer.alloc(700, run);

async function write(worker: number): Promise<never> {
  for (let i = 0; ; i++) {
    const keys = [`/${run}/${worker}/${i}/first`, `/${run}/${worker}/${i}/second`];
    const { revision } = await store.txn({ compare: [], success: keys.map((key) => ({ op: 'put', key, value })) });
    writeSync(1, `${revision} ${keys.join(' ')}\n`);
    if (i % 500 === 499 && worker === 0) void store.compact(revision - 100).catch(() => {});
  }
}

writeSync(1, 'ready\n');
await Promise.all(Array.from({ length: 16 }, (_, worker) => write(worker)));
