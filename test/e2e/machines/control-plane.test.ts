// A control plane that grows: from one process with a store of its own to etcd, from one machine to three, and back, while objects and clients stay.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../cluster/harness.ts';
import { bootWorld, type TestMachine, type TestWorld } from './machine-world.ts';

const address = '10.50.1.1';
const cluster = ['--data-dir', '/data/cluster'] as const;
const joined = ['--data-dir', '/data/machine'] as const;
let world: TestWorld;

beforeAll(async () => {
  world = await bootWorld();
});
afterAll(() => world?.destroy());

/** kubectl on a machine that has joined as a control plane. */
const there = (machine: TestMachine, ...words: string[]): Promise<string> =>
  machine.kubectl('--kubeconfig', '/data/machine/kubeconfig', ...words);

const readyNodes = (machine: TestMachine, count: number, kubeconfig: string) =>
  eventually(`${count} nodes are Ready`, async () => {
    const lines = (await machine.kubectl('--kubeconfig', kubeconfig, 'get', 'nodes', '--no-headers')).trim().split('\n');
    return lines.length === count && lines.every((line) => / Ready /.test(line));
  });

/** Names of the members that have a vote, as a machine's own etcd sees them. */
async function voters(machine: TestMachine, plane: string): Promise<string[]> {
  const pki = `${plane}/pki/etcd`;
  const flags = `--cacert ${pki}/ca.crt --cert ${pki}/peer.crt --key ${pki}/peer.key --endpoints 127.0.0.1:2379`;
  const text = await machine.sh(`ETCDCTL_API=3 etcdctl ${flags} member list`);
  return text
    .trim()
    .split('\n')
    .filter((line) => line.endsWith('false'))
    .map((line) => line.split(', ')[2] ?? '')
    .sort();
}

const joinWords = async (machine: TestMachine, dir: readonly string[], key: string): Promise<string[]> => {
  const printed = await machine.mustSagong('token', 'create', ...dir, '--print-join-command', '--certificate-key', key);
  return printed.trim().split(' ').slice(1);
};

test('a cluster with a store of its own says how it can grow', async () => {
  const { first, near } = world;
  await first.mustSagong('up', '--advertise-address', address, ...cluster, '--no-kubeconfig', '--detach');
  await first.kubectl('create', 'configmap', 'kept', '--from-literal=a=b');
  const refused = await first.sagong('certs', 'upload', ...cluster);
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('`sagong up --control-planes 1`')]);
  const printed = await first.mustSagong('token', 'create', ...cluster, '--print-join-command');
  const key = 'ab'.repeat(32);
  const tried = await near.sagong(...printed.trim().split(' ').slice(1), '--control-plane', '--certificate-key', key, ...joined);
  expect([tried.code, tried.stderr]).toEqual([
    1,
    expect.stringContaining('`sagong up --control-planes 1` move the data to etcd'),
  ]);
});

test('its data moves to etcd with the next start', async () => {
  const { first } = world;
  await first.mustSagong('stop', ...cluster);
  const said = await first.mustSagong('up', '--control-planes', '1', ...cluster, '--no-kubeconfig', '--detach');
  expect(said).toMatch(/\d+ keys were moved from the cluster's own store to etcd/);
  expect(await first.kubectl('get', 'configmap', 'kept', '-o', 'jsonpath={.data.a}')).toBe('b');
  await readyNodes(first, 1, '/data/cluster/kubeconfig');
});

test('two more machines become control planes, each from the one before', async () => {
  const { first, near, far } = world;
  const wrong = await joinWords(first, cluster, '00'.repeat(32));
  const uploaded = await first.mustSagong('certs', 'upload', ...cluster);
  const key = uploaded.trim();
  const refused = await near.sagong(...wrong, ...joined);
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('with the provided certificate key')]);
  expect(
    await first.kubectl(
      '-n',
      'kube-system',
      'get',
      'secret',
      'kubeadm-certs',
      '-o',
      'jsonpath={.metadata.ownerReferences[0].kind}',
    ),
  ).toBe('Secret');
  await near.mustSagong(...(await joinWords(first, cluster, key)), ...joined, '--detach');
  await far.mustSagong(...(await joinWords(near, joined, key)), ...joined, '--detach');
  await readyNodes(far, 3, '/data/machine/kubeconfig');
  await eventually(
    'all members have a vote',
    async () => (await voters(near, '/data/machine/control-planes/near')).join() === 'far,first,near',
  );
  await eventually('three apiservers serve the Service kubernetes', async () => {
    const ips = await there(near, 'get', 'endpoints', 'kubernetes', '-o', 'jsonpath={.subsets[0].addresses[*].ip}');
    return ips.split(' ').sort().join() === '10.50.1.1,10.50.1.2,10.50.2.1';
  });
  const labelled = await there(near, 'get', 'nodes', '-l', 'node-role.kubernetes.io/control-plane', '-o', 'name');
  expect(labelled.trim().split('\n').sort()).toEqual(['node/far', 'node/first', 'node/near']);
});

test('the first machine is cut off: writes and new nodes’ certificates go on at the others', async () => {
  const { first, near, far } = world;
  await first.sh('ip link set eth0 down');
  await eventually('a write is answered', async () => {
    await there(near, 'create', 'configmap', 'later', '--dry-run=server', '-o', 'name');
    return there(far, 'create', 'configmap', 'later');
  });
  await eventually('another control plane approves certificates', async () => {
    const holder = await there(
      far,
      '-n',
      'kube-system',
      'get',
      'lease',
      'sagong-joining',
      '-o',
      'jsonpath={.spec.holderIdentity}',
    );
    return /^(near|far)_/.test(holder);
  });
  await first.sh('ip link set eth0 up && ip route add default via 10.50.1.254');
  await eventually('it has caught up', async () => first.kubectl('get', 'configmap', 'later', '-o', 'name'));
});

test('a machine is started again and is a control plane as before', async () => {
  const { far } = world;
  await far.mustSagong('stop', ...joined);
  await far.mustSagong('join', ...joined, '--detach');
  await readyNodes(far, 3, '/data/machine/kubeconfig');
});

test('a control plane that leaves takes its member and everything else with it', async () => {
  const { first, near } = world;
  // One of the members that stay came back a moment ago.
  const left = await near.sagong('leave', ...joined);
  expect([left.code, left.stderr]).toEqual([0, expect.not.stringContaining('still a member')]);
  expect(
    await near.sh(
      'ls -A /data; iptables-save | grep -ciE "sagong|kube|cni" || true; ps -eo stat=,args= | grep -v "^Z" | grep -E "[e]tcd|[c]ontainerd|data.[m]achine" || true',
    ),
  ).toBe('0\n');
  await eventually(
    'two have a vote',
    async () => (await voters(first, '/data/cluster/control-planes/first')).join() === 'far,first',
  );
  await readyNodes(first, 2, '/data/cluster/kubeconfig');
});
