// The ways from one machine to a control plane of three, each of them interrupted once: power fails while the data moves to etcd, while a machine joins, and
// at a machine that stays. The same command again finishes what was begun, and what never came back is taken out. Minutes long, so it runs on request:
// SAGONG_INTERRUPTED=1.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../cluster/harness.ts';
import * as kit from './kit.ts';
import { bootWorld, type TestMachine, type TestWorld } from './machine-world.ts';

const objects = 400;
const joined = '/root/.sagong/machine';
let world: TestWorld;
let join = '';

/** Those that were killed stay as zombies: the first process of a test's machine waits for nobody. */
const etcdRuns = "ps -eo stat=,comm= | grep -v '^Z' | grep -q 'etcd$'";

/** Every process of a machine is gone at once; its disk stays. */
const powerFails = (machine: TestMachine): Promise<unknown> => machine.run('sh', '-c', 'kill -9 -1');
const kubectl = (words: string): Promise<string> => world.first.type(`kubectl ${words}`);
const kept = async (): Promise<number> =>
  (await kubectl('get configmaps -n kept -o name')).match(/configmap\/kept-/g)?.length ?? 0;

/** Power fails at `struck` once `begun` (a script that succeeds then) holds on the machine where the command runs. */
async function interrupted(machine: TestMachine, command: string, begun: string, struck = machine): Promise<void> {
  const typed = machine.type(command).then(
    () => 'it ended before',
    () => '',
  );
  await eventually(`${command}: ${begun}`, async () => (await machine.run('sh', '-c', begun)).code === 0, 90_000);
  await powerFails(struck);
  if (struck === machine) expect(await typed).toBe('');
  else await typed;
}
const nodesReady = (...names: string[]) => kit.nodesReady(() => kubectl('get nodes --no-headers'), names);
/** Names of the members of etcd that run and have a vote. */
async function voters(): Promise<string> {
  const pki = '/root/.sagong/sagong/control-planes/first/pki/etcd';
  const flags = `--cacert ${pki}/ca.crt --cert ${pki}/peer.crt --key ${pki}/peer.key --endpoints 127.0.0.1:2379`;
  const lines = (await world.first.sh(`ETCDCTL_API=3 etcdctl ${flags} member list`)).trim().split('\n');
  return lines
    .map((line) => / started, ([^,]+), .*, false$/.exec(line)?.[1] ?? line)
    .sort()
    .join();
}
const voting = (wanted: string) => eventually(`${wanted} have a vote`, async () => (await voters()) === wanted, 90_000);

describe.skipIf(process.env['SAGONG_INTERRUPTED'] === undefined)('an interrupted', { timeout: 400_000 }, () => {
  beforeAll(async () => {
    world = await bootWorld();
  });
  afterAll(() => world?.destroy());

  test('move of the data to etcd is finished by the next start', async () => {
    const { first } = world;
    await first.type('sagong up --advertise-address 10.50.1.1 --detach');
    await kubectl('create namespace kept');
    const text = 'x'.repeat(20_000);
    const items = Array.from({ length: objects }, (_, number) => ({
      ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `kept-${number}`, namespace: 'kept' }, data: { text } },
    }));
    await first.copyIn(Buffer.from(JSON.stringify({ apiVersion: 'v1', kind: 'List', items })), '/tmp/kept.json');
    await kubectl('create -f /tmp/kept.json');
    await first.type('sagong stop');
    const plane = '/root/.sagong/sagong/control-planes/first';
    // The move has begun: some of it is in etcd's log.
    const begun = `[ -d ${plane}/etcd/member ] && find ${plane}/etcd -name db -size +600k | grep -q .`;
    await interrupted(first, 'sagong up --control-planes 1 --detach', begun);
    const said = await first.type('sagong up --control-planes 1 --detach');
    console.info(said.split('\n').find((line) => line.includes('moved')) ?? 'all had been moved');
    expect(await kept()).toBe(objects);
    await nodesReady('first');
  });

  test('join is finished by the same command', async () => {
    const { first, near } = world;
    const key = (await first.type('sagong certs upload')).trim();
    const plain = (await first.type('sagong token create --print-join-command')).trim();
    join = `${plain} --control-plane --certificate-key ${key} --detach`;
    await interrupted(near, join, etcdRuns);
    // Once it has a vote, the other one alone cannot write, and nobody could be asked how to join.
    await interrupted(near, join, 'ss -Hltn | grep -q :6443');
    await near.type(join);
    await nodesReady('first', 'near');
    await voting('first,near');
  });

  test('join goes on when power fails at one that stays', async () => {
    const { first, near, far } = world;
    await interrupted(far, join, etcdRuns, near);
    await near.type('sagong join --detach');
    if ((await far.run('sh', '-c', `[ -f ${joined}/machine.json ]`)).code !== 0) await far.type(join);
    await nodesReady('far', 'first', 'near');
    await voting('far,first,near');
    expect(await first.type('kubectl get --raw /readyz')).toBe('ok');
  });

  test('join of a machine that never comes back is undone from another one', async () => {
    const { first, far } = world;
    await far.type('sagong leave');
    await voting('first,near');
    await interrupted(far, join, etcdRuns);
    await world.replaceFar();
    // Its member may have had no time to say its name.
    await first.type('sagong node remove far || sagong node remove 10.50.2.1');
    await voting('first,near');
    await world.far.type(join);
    await nodesReady('far', 'first', 'near');
    await voting('far,first,near');
    expect(await kept()).toBe(objects);
  });

  test('join leaves nothing after a leave', async () => {
    const { far } = world;
    await far.type('sagong leave');
    await interrupted(far, join, etcdRuns);
    await far.type('sagong leave');
    await voting('first,near');
    expect(await far.sh(`ls -A /root/.sagong; ${etcdRuns} && echo etcd runs || true`)).toBe('');
    await nodesReady('first', 'near');
  });
});
