// Machines whose data an older build has made go on under this one, one after the other, and those that are not upgraded yet stay nodes meanwhile. It runs
// on request: SAGONG_OLDER=DIR names a checkout with a build of then.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { binary, eventually } from '../cluster/harness.ts';
import * as kit from './kit.ts';
import { bootWorld, type TestMachine, type TestWorld } from './machine-world.ts';

const older = process.env['SAGONG_OLDER'];
const image = 'test.local/busybox:1';
const cluster = ['--data-dir', '/data/cluster'];
const machine = ['--data-dir', '/data/machine'];
let world: TestWorld;

const all = ['far', 'first', 'near', 'worker'];
const ready = () => kit.nodesReady(() => world.first.kubectl('get', 'nodes', '--no-headers'), all);

const webPods = async (): Promise<[name: string, ip: string][]> => {
  const path = 'jsonpath={range .items[*]}{.metadata.name} {.status.podIP}{"\\n"}{end}';
  const running = ['--field-selector', 'status.phase=Running'];
  const text = await world.first.kubectl('get', 'pods', '-l', 'app=web', ...running, '-o', path);
  const lines = text.trim().split('\n');
  return lines.map((line) => line.split(' ') as [string, string]);
};

/** The web server of every machine is asked from every other. */
async function podsReachEachOther(): Promise<void> {
  const pods = await eventually('a web server runs on each', async () => {
    const found = await webPods();
    return found.length === all.length && found.every(([, ip]) => ip) && found;
  });
  for (const [name] of pods)
    for (const [, ip] of pods)
      await eventually(`${name} reaches ${ip}`, async () => {
        await world.first.kubectl('exec', name, '--', 'wget', '-qO-', `http://${ip}:8080/cgi-bin/who`);
        return true;
      });
}

async function upgraded(of: TestMachine, words: readonly string[]): Promise<void> {
  await of.mustSagong('stop', ...words.slice(-2));
  of.build = binary;
  await of.mustSagong(...words);
  await ready();
}

const guardsOf = (of: TestMachine): Promise<string> =>
  of.sh('openssl x509 -noout -subject -in $(find /data/machine -name kube-network-policy-current.pem)');

describe.skipIf(older === undefined)('machines of an older build', { timeout: 400_000 }, () => {
  beforeAll(async () => {
    world = await bootWorld({ worker: true });
    const { first, near, far } = world;
    const worker = world.worker as TestMachine;
    for (const each of [first, near, far, worker]) each.build = join(older as string, 'bin', 'sagong.mjs');
    await first.mustSagong(
      'up',
      '--advertise-address',
      '10.50.1.1',
      '--control-planes',
      '1',
      ...cluster,
      '--no-kubeconfig',
      '--detach',
    );
    const key = (await first.mustSagong('certs', 'upload', ...cluster)).trim();
    const words = (await first.mustSagong('token', 'create', ...cluster, '--print-join-command')).trim().split(' ').slice(1);
    for (const of of [near, far])
      await of.mustSagong(...words, '--control-plane', '--certificate-key', key, ...machine, '--detach');
    await worker.mustSagong(...words, ...machine, '--detach');
    await ready();
    await kit.importBusybox(first, '/data/cluster/machine', image);
    for (const of of [near, far, worker]) await kit.importBusybox(of, '/data/machine', image);
    await first.runWith(kit.webServers(image), 'kubectl', 'apply', '-f', '-');
    await podsReachEachOther();
  }, 400_000);
  afterAll(() => world?.destroy());

  test('are upgraded one control plane after the other, and the worker stays', async () => {
    const { first, near, far } = world;
    for (const of of [near, far]) await upgraded(of, ['join', '--detach', ...machine]);
    await upgraded(first, ['up', '--no-kubeconfig', '--detach', ...cluster]);
    await podsReachEachOther();
  });

  test('the worker follows, and what guards its pods gets a name of its own', async () => {
    const worker = world.worker as TestMachine;
    await upgraded(worker, ['join', '--detach', ...machine]);
    await podsReachEachOther();
    for (const [of, name] of [
      [worker, 'worker'],
      [world.near, 'near'],
    ] as const)
      await eventually(
        `${name} has it`,
        async () => (await guardsOf(of)).includes(`system:kube-network-policy:${name}`),
        120_000,
      );
  });

  test('a machine joins that has only this build', async () => {
    const { first } = world;
    await first.kubectl('drain', 'far', '--ignore-daemonsets', '--force', '--delete-emptydir-data');
    await world.far.mustSagong('leave', ...machine);
    const words = (await first.mustSagong('token', 'create', ...cluster, '--print-join-command')).trim().split(' ').slice(1);
    await world.far.mustSagong(...words, ...machine, '--detach');
    await ready();
    expect(await guardsOf(world.far)).toContain('system:kube-network-policy:far');
  });
});
