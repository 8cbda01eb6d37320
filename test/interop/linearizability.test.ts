// Linearizability of a control plane of three machines, each with an apiserver and an etcd member: 64 clients swap and write while one machine after the other
// is switched off, paused or cut off at random, and porcupine looks for an order that explains all that they saw. Meanwhile informers and watches of client-go
// see every write of others once and in order. Real machines for a minute or more, so it runs on request: SAGONG_HA_MINUTES=1, or 10 for the whole; SAGONG_SEED=7 plays the same failures again.
import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { seededRng } from '#utils';
import { TestCluster } from '../e2e/cluster/harness.ts';
import { failureKinds, Planes } from '../e2e/control-planes/planes.ts';
import { buildGo, buildWatchers, startWatchers, type Watched } from './watchers/watching.ts';

const source = fileURLToPath(new URL('./linearizability', import.meta.url));
const minutes = Number(process.env['SAGONG_HA_MINUTES'] ?? 0);
const seed = Number(process.env['SAGONG_SEED'] ?? 1);
const hasGo = spawnSync('go', ['version']).status === 0;
const spareMs = 600_000;
const run = promisify(execFile);

interface Kubeconfig {
  clusters: { cluster: { server: string; 'certificate-authority-data': string } }[];
  users: { user: { 'client-certificate-data': string; 'client-key-data': string } }[];
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe.skipIf(!hasGo)('the checker (skipped without a Go toolchain)', { timeout: spareMs }, () => {
  it('finds stale reads, lost and doubled writes', async () => {
    await run('nice', ['-n', '15', 'go', 'test', './...'], { cwd: source });
  });
});

describe.skipIf(!hasGo || minutes === 0)('a control plane of three (skipped without SAGONG_HA_MINUTES)', () => {
  let cluster: TestCluster;
  let planes: Planes;
  let dir: string;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'sagong-linear-'));
    await buildGo(source, join(dir, 'program'));
    await buildWatchers(join(dir, 'watchers'));
    cluster = await TestCluster.create();
    planes = new Planes(cluster);
    await cluster.up('--control-planes', '3', '--nodes', '0');
    await planes.healthy();
  }, spareMs);
  afterAll(async () => {
    await cluster?.destroy();
    await rm(dir, { recursive: true, force: true });
  }, 120_000);

  async function flags(): Promise<string[]> {
    const { clusters, users } = parse(await readFile(planes.kubeconfig, 'utf8')) as Kubeconfig;
    const [at, user] = [clusters[0]?.cluster, users[0]?.user];
    const file = async (name: string, data = ''): Promise<string> => {
      await writeFile(join(dir, name), Buffer.from(data, 'base64'), { mode: 0o600 });
      return `--${name}=${join(dir, name)}`;
    };
    return [
      `--server=${at?.server}`,
      await file('ca', at?.['certificate-authority-data']),
      await file('cert', user?.['client-certificate-data']),
      await file('key', user?.['client-key-data']),
      `--seed=${seed}`,
      `--for=${minutes}m`,
    ];
  }

  async function watching(namespace: string): Promise<() => Promise<Watched>> {
    await cluster.kubectl('create', 'namespace', namespace);
    return startWatchers(join(dir, 'watchers'), planes.kubeconfig, namespace);
  }

  it('is started anew, one machine after the other, and watchers miss and double nothing', { timeout: spareMs }, async () => {
    const end = await watching('rolling');
    for (const name of planes.names) {
      await planes.node('reboot', name);
      // Until the load balancer has seen that it is gone, it is as healthy as before.
      await pause(5_000);
      await planes.healthy();
    }
    const { acknowledged, faults } = await end();
    expect(faults).toEqual({});
    expect(acknowledged).toBeGreaterThan(100);
  });

  it('explains all that 64 clients saw by one order, and watchers see every event once', {
    timeout: minutes * 60_000 + spareMs,
  }, async () => {
    const { int: draw } = seededRng(seed);
    const end = await watching('watched');
    let over = false;
    const asked = run(join(dir, 'program'), await flags(), { maxBuffer: 16 << 20 }).finally(() => {
      over = true;
    });
    asked.catch(() => {});
    const happened = new Map<string, number>();
    while (!over) {
      const [kind, name] = [failureKinds[draw(3)] ?? 'paused', planes.names[draw(3)] ?? ''];
      const lastsMs = 1_000 + draw(6_000);
      await planes.fail(kind, name);
      await pause(lastsMs);
      await planes.mend(kind, name);
      happened.set(kind, (happened.get(kind) ?? 0) + 1);
      // Two of three are a quorum: the next one may fail as soon as this one is back.
      if (!over) await planes.healthy();
    }
    const { stdout } = await asked;
    console.info(stdout.trim(), Object.fromEntries(happened));
    const { verdict, operations } = JSON.parse(stdout) as { verdict: string; operations: number };
    expect(verdict).toBe('Ok');
    expect(operations).toBeGreaterThan(1_000 * minutes);
    const { acknowledged, faults } = await end();
    expect(faults).toEqual({});
    expect(acknowledged).toBeGreaterThan(100 * minutes);
  });
});
