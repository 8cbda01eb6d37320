// A control plane of three outlives one failure after the other under load: a machine or a program of it is killed, stands still, is cut off, loses its disk
// or is replaced, also in the middle of a snapshot, of a join and of an upgrade from an older build. After each of them clients went on after a bounded pause,
// the control plane is whole again, and nothing that was acknowledged is lost; client-go's informers and watches see every event once and in order through all
// of it. Runs on request, a quarter of a minute for each failure: SAGONG_FAILURES=50; SAGONG_SEED=7 plays the same ones again; SAGONG_OLDER=DIR is a checkout
// with the build that it begins with (default: the one under test).
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seededRng } from '#utils';
import { eventually, run, TestCluster } from '../e2e/cluster/harness.ts';
import { install, present } from '../e2e/cluster/installed.ts';
import { type Damage, machineDamages, programDamages } from '../e2e/control-planes/damage.ts';
import { Planes } from '../e2e/control-planes/planes.ts';
import { Writers } from '../e2e/control-planes/writers.ts';
import { buildWatchers, startWatchers, type Watched } from './watchers/watching.ts';

const failures = Number(process.env['SAGONG_FAILURES'] ?? 0);
const seed = Number(process.env['SAGONG_SEED'] ?? 1);
const older = process.env['SAGONG_OLDER'] ?? present;
const hasGo = spawnSync('go', ['version']).status === 0;
const spareMs = 600_000;
/** Of what clients may wait: two of three go on, once they have another leader and the load balancer has noticed. */
const pauseMsMax = 15_000;
const padding = { objects: 24, bytes: 900_000 };

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe.skipIf(!hasGo || failures === 0)('a control plane of three (skipped without SAGONG_FAILURES and Go)', () => {
  const { int: draw } = seededRng(seed);
  let cluster: TestCluster;
  let planes: Planes;
  let writers: Writers;
  let dir: string;
  let endWatching: () => Promise<Watched>;
  const suffered: { what: string; nobodyMs: number; slowestMs: number; wholeMs: number }[] = [];

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'sagong-failures-'));
    await buildWatchers(join(dir, 'watchers'));
    cluster = await TestCluster.create((home) => install(older, join(home, 'package')));
    planes = new Planes(cluster);
    await cluster.up('--control-planes', '3', '--nodes', '1');
    await planes.whole();
    await cluster.kubectl('create', 'namespace', 'watched');
    await pad();
    writers = new Writers(planes.kubeconfig, 4, 60);
    endWatching = await startWatchers(join(dir, 'watchers'), planes.kubeconfig, 'watched');
  }, spareMs);
  afterAll(async () => {
    await writers?.stop();
    await cluster?.destroy();
    await rm(dir, { recursive: true, force: true });
  }, 120_000);

  /** A snapshot that takes a moment. */
  async function pad(): Promise<void> {
    await cluster.kubectl('create', 'namespace', 'padding');
    const data = { text: 'x'.repeat(padding.bytes) };
    for (let number = 0; number < padding.objects; number++) {
      const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `p${number}`, namespace: 'padding' }, data };
      const { code, stderr } = await cluster.kubectlWithInput(JSON.stringify(body), 'create', '-f', '-');
      if (code !== 0) throw new Error(stderr);
    }
  }
  const anyName = (): string => planes.names[draw(3)] ?? '';
  const otherThan = (name: string): string => planes.names.filter((one) => one !== name)[draw(2)] ?? '';
  /** Half of them are of whole machines. */
  function anyDamage(name = anyName()): Damage {
    const choices = draw(2) === 0 ? machineDamages(cluster, planes, name) : programDamages(planes, name);
    return choices[draw(choices.length)] as Damage;
  }

  /** One failure, from the state in which all is whole to the next one. */
  async function suffer({ what, happen, mend }: Damage): Promise<void> {
    writers.mark();
    await happen();
    await pause(1_000 + draw(4_000));
    await mend();
    const mendedMs = performance.now();
    await planes.whole();
    const wholeMs = Math.round(performance.now() - mendedMs);
    const before = writers.acknowledged.length;
    await eventually('clients write', async () => writers.acknowledged.length > before + 20, 30_000);
    const { nobodyMs, slowestMs } = writers.pauses;
    suffered.push({ what, nobodyMs, slowestMs, wholeMs });
    console.info(
      `${suffered.length} ${what}: nobody wrote for ${nobodyMs} ms, slowest ${slowestMs} ms, whole after ${wholeMs} ms`,
    );
    expect(nobodyMs).toBeLessThan(pauseMsMax);
    expect(await writers.lost(planes.kubeconfig)).toEqual([]);
  }
  async function sufferAny(count: number): Promise<void> {
    for (let number = 0; number < count; number++) await suffer(anyDamage());
  }

  /** How a member's snapshot is saved, as docs/several-machines.md does it, and where it is then. */
  function saving(name: string): { script: string; path: string } {
    const plane = join(cluster.dataDir, 'control-planes', name);
    const flags = '--cacert pki/etcd/ca.crt --cert pki/etcd/peer.crt --key pki/etcd/peer.key --endpoints 127.0.0.1:2379';
    const script = `cd ${plane} && ETCDCTL_API=3 exec etcdctl ${flags} snapshot save backup.db`;
    return { script, path: join(plane, 'backup.db') };
  }

  it('outlives failures of an older build', { timeout: failures * 60_000 + spareMs }, () => sufferAny(Math.floor(failures / 2)));

  it('outlives one in the middle of a snapshot, of which no half is left', { timeout: spareMs }, async () => {
    const name = anyName();
    const { script, path } = saving(name);
    await suffer({
      what: 'etcd killed in the middle of a snapshot',
      async happen() {
        const child = spawn('nsenter', [await cluster.nodeNetns(name), 'sh', '-c', script], { stdio: 'ignore' });
        await eventually('it has begun', async () => child.exitCode !== null || existsSync(`${path}.part`));
        child.kill('SIGSTOP');
        await planes.signal(name, 'KILL', 'etcd');
        child.kill('SIGCONT');
        if (child.exitCode === null) await once(child, 'exit');
        expect(child.exitCode).not.toBe(0);
        expect(existsSync(path)).toBe(false);
      },
      mend: async () => {},
    });
    const other = otherThan(name);
    const again = saving(other);
    const saved = await planes.inside(other, 'sh', '-c', again.script);
    expect([saved.code, saved.stdout]).toEqual([0, expect.stringContaining('Snapshot saved at')]);
    expect((await run('etcdctl', ['snapshot', 'status', again.path], { env: { ETCDCTL_API: '3' } })).code).toBe(0);
  });

  it('outlives one in the middle of a join, of who joins and of who stays', { timeout: spareMs }, async () => {
    for (const whose of ['who joins', 'who stays']) {
      const name = anyName();
      const struck = whose === 'who joins' ? name : otherThan(name);
      await suffer({
        what: `etcd of ${whose} killed in the middle of a join`,
        async happen() {
          await planes.node('terminate', name);
          await planes.node('add', name);
          await eventually('its etcd joins', async () => (await planes.pids(name, 'etcd')).length > 0);
          await planes.signal(struck, 'KILL', 'etcd');
        },
        mend: async () => {},
      });
    }
  });

  it('is upgraded, one machine after the other, with failures in the middle of it', { timeout: spareMs }, async () => {
    await install(present, join(cluster.home, 'package'));
    for (const name of planes.names) {
      await suffer({ what: 'rebooted with another build', happen: () => planes.node('reboot', name), mend: () => pause(3_000) });
      // Builds are mixed now, but for the last time.
      await suffer(anyDamage(otherThan(name)));
      await suffer({
        what: 'crashed in the middle of a start',
        async happen() {
          await planes.node('stop', name);
          await planes.node('start', name);
          await eventually('it starts', async () => (await planes.pids(name, 'kube-apiserver')).length > 0);
          await planes.signal(name, 'KILL');
        },
        mend: () => planes.node('start', name),
      });
    }
  });

  it('outlives failures of the present build', { timeout: failures * 60_000 + spareMs }, () =>
    sufferAny(failures - suffered.length),
  );

  it('has lost, missed and doubled nothing, and comes back after a stop of everything', { timeout: spareMs }, async () => {
    const { acknowledged, faults } = await endWatching();
    expect(faults).toEqual({});
    expect(acknowledged).toBeGreaterThan(100);
    await writers.stop();
    expect(await writers.lost(planes.kubeconfig)).toEqual([]);
    const waits = suffered.map(({ nobodyMs }) => nobodyMs).sort((a, b) => a - b);
    console.info(
      `${suffered.length} failures, seed ${seed}, ${writers.acknowledged.length} acknowledged writes; nobody wrote for (ms): median ${waits[waits.length >> 1]}, 90 % ${waits[Math.floor(waits.length * 0.9)]}, longest ${waits.at(-1)}`,
    );
    expect(suffered.length).toBeGreaterThanOrEqual(failures);
    expect((await cluster.sagong('stop')).code).toBe(0);
    await cluster.up();
    await planes.whole();
    expect(await writers.lost(planes.kubeconfig)).toEqual([]);
    expect(await cluster.kubectl('get', 'nodes')).toMatch(/node-1 +Ready/);
  });
});
