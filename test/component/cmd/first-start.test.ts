// A first start that fails before there is a cluster: it says why, and leaves nothing that a second one would stumble over.
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { assertFree, dataDirOf, createProgress, up } from '#cluster/start';
import type { UpOptions } from '#cluster';
import { createLogger } from '#component-base';
import { systemClock, systemRng } from '#host';

let dir: string;
let server: Server | undefined;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'sagong-first-'));
  vi.stubEnv('HOME', dir);
});
afterEach(() => void server?.close());
afterAll(async () => {
  vi.unstubAllEnvs();
  await rm(dir, { recursive: true });
});

const clock = systemClock();
const silent = { clock, rng: systemRng(), logger: createLogger({ clock, component: 'test', write: () => {} }) };
const start = (dataDir: string, flags: Pick<Partial<UpOptions>, 'port' | 'runtime' | 'componentArgs'>) =>
  up(
    { name: 'first', dataDir, nodes: 0, keepKubeconfig: true, program: [], env: {}, ...flags },
    { ...silent, progress: createProgress({ write: () => true }, clock) },
  );

it('takes back everything where its port is taken, and starts with another one', async () => {
  server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server?.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const dataDir = dataDirOf('first', join(dir, 'elsewhere'));
  await expect(start(dataDir, { port })).rejects.toThrow(
    new RegExp(`^port ${port} of 127.0.0.1 is taken by .* \\(process ${process.pid}\\); choose another with --port`),
  );
  expect(existsSync(dataDir)).toBe(false);
  expect(existsSync(join(dir, '.sagong', '.elsewhere'))).toBe(false);
  assertFree(dataDir);
  const cluster = await start(dataDir, {});
  await cluster.stop();
  // What is there by now is a cluster's, and a later start that fails keeps it.
  await expect(start(dataDir, { port })).rejects.toThrow('is taken');
  expect(existsSync(join(dataDir, 'store'))).toBe(true);
});

it('gives the feature gates of a configuration to all but simulated nodes, which take no flags', async () => {
  const dataDir = dataDirOf('gates', join(dir, 'gates'));
  const gates = ['feature-gates=AllAlpha=false'];
  const simulated = { runtime: 'simulated' } as const;
  const cluster = await start(dataDir, {
    ...simulated,
    componentArgs: { 'kube-apiserver': gates, kubelet: gates, 'kube-proxy': gates },
  });
  await cluster.stop();
  await expect(start(dataDir, { ...simulated, componentArgs: { kubelet: ['max-pods=5'] } })).rejects.toThrow(
    'are for real nodes',
  );
});
