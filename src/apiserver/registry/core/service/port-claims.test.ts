import { expect, test } from 'vitest';
import { openMemoryStore } from '#store';
import { manualClock } from '#store/suite';
import { PortClaims } from './port-claims.ts';
import { decodePortRecord, encodePortRecord, portRecordKey } from './port-record.ts';

const range = { first: 30_000, last: 32_767 };

/** A record as kube-apiserver 1.36 has stored it, in protobuf, with the ports 30001 and 30010 claimed. */
const upstreams = Buffer.concat([
  Buffer.from([0x6b, 0x38, 0x73, 0]),
  // runtime.Unknown: typeMeta { apiVersion: v1, kind: RangeAllocation }, raw.
  Buffer.from([0x0a, 21, 0x0a, 2, ...Buffer.from('v1'), 0x12, 15, ...Buffer.from('RangeAllocation')]),
  Buffer.from([0x12, 19, 0x0a, 0, 0x12, 11, ...Buffer.from('30000-32767'), 0x1a, 2, 0b100, 0b10]),
]);

test('reads what upstream writes, and writes what upstream reads', () => {
  expect([...decodePortRecord(upstreams)].sort()).toEqual([30_001, 30_010]);
  const written = JSON.parse(Buffer.from(encodePortRecord(range, new Set([30_001, 30_010, 80]))).toString()) as object;
  expect(written).toEqual({
    kind: 'RangeAllocation',
    apiVersion: 'v1',
    metadata: {},
    range: '30000-32767',
    data: Buffer.from([0b100, 0b10]).toString('base64'),
  });
  expect(decodePortRecord(encodePortRecord(range, new Set([32_767])))).toEqual(new Set([32_767]));
  expect(decodePortRecord(encodePortRecord(range, new Set()))).toEqual(new Set());
});

function setUp(held: number[] = []) {
  const store = openMemoryStore();
  const clock = manualClock();
  const server = () => new PortClaims(store, clock, range, () => held);
  const claimed = async () =>
    [...decodePortRecord((await store.range({ key: portRecordKey })).kvs[0]?.value ?? Buffer.from('{}'))].sort();
  return { store, clock, server, claimed };
}

/** What the hook of services does: takes the ports unless one of them is claimed. */
const take = (claims: PortClaims, ...ports: number[]): Promise<boolean> =>
  claims
    .claim(() => {
      if (ports.some((port) => claims.has(port))) throw new Error('taken');
      return ports;
    })
    .then(
      () => true,
      () => false,
    );

test('of two servers that claim a port in one moment one has it', async () => {
  const { server, claimed } = setUp();
  const [a, b] = [server(), server()];
  const had = await Promise.all([take(a, 31_000, 31_001), take(b, 31_001, 31_002)]);
  expect(had.toSorted()).toEqual([false, true]);
  expect(await claimed()).toHaveLength(2);
  await Promise.all(Array.from({ length: 20 }, (_, i) => take(i % 2 ? a : b, 32_000 + i)));
  expect(await claimed()).toHaveLength(22);
});

test('what one gives back the other can have at once', async () => {
  const { server, claimed } = setUp();
  const [a, b] = [server(), server()];
  expect([await take(a, 31_000), await take(b, 31_000)]).toEqual([true, false]);
  await a.release([31_000]);
  expect(await claimed()).toEqual([]);
  expect(await take(b, 31_000)).toBe(true);
});

test('a repair claims the ports of services, and lets go what nobody stands behind for a while', async () => {
  const held = [30_500];
  const { server, clock, claimed } = setUp(held);
  const a = server();
  await take(a, 31_000);
  expect(await claimed()).toEqual([30_500, 31_000]);
  const rounds: number[][] = [];
  for (let port = 31_001; port < 31_006; port++) {
    clock.advance(180_000);
    await take(a, port);
    held.push(port);
    rounds.push((await claimed()).filter((one) => one === 31_000));
  }
  expect(rounds.flat()).toEqual([31_000, 31_000, 31_000]);
});
