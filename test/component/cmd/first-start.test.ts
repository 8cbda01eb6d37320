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
import { bound, domainName, handStray } from '#component-base/failures';
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
const silent = { clock, rng: systemRng() };
const start = (
  dataDir: string,
  flags: Pick<Partial<UpOptions>, 'port' | 'runtime' | 'nodes' | 'componentArgs'>,
  { onLog = () => {}, onSaid = () => {} }: Partial<Record<'onLog' | 'onSaid', (text: string) => void>> = {},
) =>
  up(
    { name: 'first', dataDir, nodes: 0, keepKubeconfig: true, program: [], env: {}, ...flags },
    {
      ...silent,
      logger: createLogger({ clock, component: 'test', write: onLog }),
      progress: createProgress({ write: (text: string) => (onSaid(text), true) }, clock),
    },
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

it('ends with an error that nobody caught while the control plane starts, and outlives a later one', async () => {
  const dataDir = dataDirOf('strays', join(dir, 'strays'));
  // What the process's own handler of uncaught errors does, from where the apiserver works.
  let stray = (_: string): boolean => false;
  const listening = (text: string): boolean => text.includes('Serving securely');
  const fail = (text: string): void => {
    if (listening(text)) handStray(new Error('a bug'));
  };
  await expect(start(dataDir, {}, { onLog: fail })).rejects.toThrow('a bug');
  const domains = new Set<string | undefined>();
  const cluster = await start(
    dataDir,
    { nodes: 1, runtime: 'simulated' },
    {
      onLog: (text) => {
        if (listening(text)) stray = bound((message) => handStray(new Error(message)));
      },
      onSaid: (text) => {
        if (text.includes('simulated instance')) domains.add(domainName());
      },
    },
  );
  // What is started beside the apiserver is not the apiserver's.
  expect([...domains]).toEqual([undefined]);
  expect(stray('another')).toBe(true);
  const apiserver = { state: 'running', failures: 1, last: { kind: 'stray', message: 'another' } };
  const told = cluster.plane.supervisor.status().find(({ component }) => component === 'kube-apiserver');
  expect(told).toMatchObject(apiserver);
  await cluster.stop();
  // Of the cluster nothing is left that would take an error.
  expect(handStray(new Error("nobody's"))).toBe(false);
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
