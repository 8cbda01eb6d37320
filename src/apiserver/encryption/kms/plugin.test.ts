import { expect, it } from 'vitest';
import { createMetrics } from '#component-base';
import { systemClock } from '#host';
import { type Clock, seededRng, silentLogger } from '#utils';
import type { Plain } from '../transformer.ts';
import { KmsPlugin } from './plugin.ts';
import { type KmsService, SilentPluginError } from './service.ts';

/** A plugin that "encrypts" by turning bytes around. `decrypt`: what it answers instead. */
function service(decrypt?: (right: Uint8Array) => Uint8Array) {
  const turned = (bytes: Uint8Array): Uint8Array => Uint8Array.from(bytes).reverse();
  const asked = { decrypt: 0 };
  const made: KmsService = {
    status: async () => ({ version: 'v2', healthz: 'ok', keyId: '1' }),
    encrypt: async (_uid, plaintext) => ({ ciphertext: turned(plaintext), keyId: '1', annotations: {} }),
    async decrypt(_uid, { ciphertext }) {
      asked.decrypt++;
      return decrypt?.(turned(ciphertext)) ?? turned(ciphertext);
    },
    close: () => {},
  };
  return { made, asked };
}

const pluginOf = (made: KmsService, clock: Clock = systemClock()): KmsPlugin =>
  new KmsPlugin({
    name: 'plugin',
    service: made,
    clock,
    rng: seededRng(1),
    logger: silentLogger,
    metrics: createMetrics(),
    onRecovered: () => {},
  });

async function sealed(key: string): Promise<Uint8Array> {
  const writer = pluginOf(service().made);
  await writer.check();
  return writer.toStore(Buffer.from('value'), key);
}
const opened = async (plugin: KmsPlugin, stored: Uint8Array, key: string): Promise<string> =>
  Buffer.from(((await plugin.fromStore(stored, key)) as Plain).value).toString();

it.each([
  ['another seed', (right: Uint8Array) => right.map((byte) => byte ^ 1)],
  ['nothing', () => new Uint8Array()],
  ['too much', (right: Uint8Array) => Buffer.concat([right, right])],
])('a plugin that gave %s once is asked again', async (_what, wrong) => {
  const stored = await sealed('/a');
  let well = false;
  const { made, asked } = service((right) => (well ? right : wrong(right)));
  const plugin = pluginOf(made);
  await expect(opened(plugin, stored, '/a')).rejects.toThrow('message authentication failed');
  well = true;
  expect(await opened(plugin, stored, '/a')).toBe('value');
  expect(asked.decrypt).toBe(2);
});

it('a damaged or moved value does not make it ask for a seed that has opened another one', async () => {
  const stored = await sealed('/a');
  const { made, asked } = service();
  const plugin = pluginOf(made);
  expect(await opened(plugin, stored, '/a')).toBe('value');
  const cut = Uint8Array.from(stored);
  cut[40] = (cut[40] ?? 0) ^ 1;
  for (const [value, key] of [
    [cut, '/a'],
    [stored, '/b'],
  ] as const)
    expect(() => plugin.fromStore(value, key)).toThrow('message authentication failed');
  expect(asked.decrypt).toBe(1);
});

it('a clock that is set does not end what may be written, nor prolong it', async () => {
  const time = { now: Date.UTC(2026, 0, 1), monotonic: 0 };
  const plugin = pluginOf(service().made, { ...systemClock(), now: () => time.now, monotonic: () => time.monotonic });
  const write = () => plugin.toStore(Buffer.from('value'), '/a');
  await plugin.check();
  for (const hours of [10, -20]) {
    time.now += hours * 3_600_000;
    expect(write).not.toThrow();
  }
  time.monotonic += 180_001;
  expect(write).toThrow('expired at 2025-12-31T13:59:59Z (current time is 2025-12-31T14:00:00Z)');
});

it.each(['healthz', 'version'] as const)('tells the beginning of a %s without end', async (field) => {
  const { made } = service();
  const status = async () => ({ version: 'v2', healthz: 'ok', keyId: '1', [field]: 'x'.repeat(4_000_000) });
  const error = await pluginOf({ ...made, status })
    .check()
    .catch((failure: Error) => failure);
  expect(error?.message.length).toBeLessThan(2_000);
});

it('one that does not answer is asked for one seed, and for others once it says how it is', async () => {
  const stored = [await sealed('/a'), await sealed('/b')];
  const time = { monotonic: 0 };
  const { made, asked } = service(() => {
    if (hangs) throw new SilentPluginError('rpc error: code = DeadlineExceeded');
    return undefined as never;
  });
  let hangs = false;
  const status = async () => {
    if (hangs) throw new SilentPluginError('rpc error: code = DeadlineExceeded');
    return made.status();
  };
  const plugin = pluginOf({ ...made, status }, { ...systemClock(), monotonic: () => time.monotonic });
  await plugin.check();
  hangs = true;
  const [first, second] = stored as [Uint8Array, Uint8Array];
  const why = 'failed to decrypt DEK, error: rpc error: code = DeadlineExceeded';
  await expect(opened(plugin, first, '/a')).rejects.toThrow(why);
  for (const value of [first, second, first]) await expect(opened(plugin, value, '/a')).rejects.toThrow(why);
  expect(asked.decrypt).toBe(1);
  // It may have come back without anybody looking.
  time.monotonic += 10_001;
  await expect(opened(plugin, second, '/b')).rejects.toThrow(why);
  expect(asked.decrypt).toBe(2);
  hangs = false;
  await expect(opened(plugin, first, '/a')).rejects.toThrow(why);
  time.monotonic += 3_001;
  await plugin.check();
  expect(await opened(plugin, first, '/a')).toBe('value');
  expect(await opened(plugin, second, '/b')).toBe('value');
});
