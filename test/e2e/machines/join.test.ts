// A cluster that grows over machines which share nothing but wires: up, join, pods and Services across all of them, restarts, leave.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../cluster/harness.ts';
import * as kit from './kit.ts';
import { bootWorld, type TestMachine, type TestWorld } from './machine-world.ts';

const image = 'test.local/busybox:1';
const address = '10.50.1.1';
let world: TestWorld;

beforeAll(async () => {
  world = await bootWorld();
});
afterAll(() => world?.destroy());

const nodesReady = (names: readonly string[]) => kit.nodesReady(() => world.first.kubectl('get', 'nodes', '--no-headers'), names);

interface WebPod {
  name: string;
  node: string;
  ip: string;
}

async function webPods(count: number): Promise<WebPod[]> {
  return eventually(`${count} web servers run`, async () => {
    const text = await world.first.kubectl(
      ...['get', 'pods', '-l', 'app=web', '--field-selector=status.phase=Running', '-o'],
      'jsonpath={range .items[*]}{.metadata.name} {.spec.nodeName} {.status.podIP}{"\\n"}{end}',
    );
    const pods = text
      .trim()
      .split('\n')
      .map((line) => line.split(' '));
    return pods.length === count && pods.map(([name = '', node = '', ip = '']) => ({ name, node, ip }));
  });
}

const ask = (from: WebPod, url: string): Promise<string> => world.first.kubectl('exec', from.name, '--', 'wget', '-qO-', url);

/** Every pod reaches every other by its address, and is seen with its own. They are read at each try: a machine that restarts gives its pods other ones. */
async function allReachAll(count: number): Promise<WebPod[]> {
  const nodes = (await webPods(count)).map(({ node }) => node);
  for (const near of nodes)
    for (const far of nodes)
      await eventually(`${near} reaches ${far}`, async () => {
        const pods = await webPods(count);
        const [from, to] = [near, far].map((node) => pods.find((pod) => pod.node === node));
        if (!from || !to) throw new Error(`there is no pod on ${near} or on ${far}`);
        const said = await ask(from, `http://${to.ip}:8080/cgi-bin/who`);
        expect(said.trim().replace(/\[::ffff:(.*)\]/, '$1')).toBe(`${to.node} ${from.ip}`);
        return true;
      });
  return webPods(count);
}

test('the first machine serves the control plane and is a node', async () => {
  await world.first.mustSagong(
    'up',
    '--advertise-address',
    address,
    '--data-dir',
    '/data/cluster',
    '--no-kubeconfig',
    '--detach',
  );
  await nodesReady(['first']);
  const endpoints = await world.first.kubectl('get', 'endpoints', 'kubernetes', '-o', 'jsonpath={.subsets[0].addresses[0].ip}');
  expect(endpoints).toBe(address);
});

test('others join with the printed command, on the same link and behind a router', async () => {
  const { first, near, far } = world;
  const printed = await first.mustSagong('token', 'create', '--data-dir', '/data/cluster', '--ttl', '1h', '--print-join-command');
  const words = printed.trim().split(' ');
  expect(words.slice(0, 3)).toEqual(['sagong', 'join', `${address}:6443`]);
  const wrong = [...words.slice(1, -1), `sha256:${'0'.repeat(64)}`];
  const refused = await near.sagong(...wrong, '--data-dir', '/data/wrong');
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('are pinned')]);
  const taken = await near.sagong(...words.slice(1), '--node-name', 'first', '--data-dir', '/data/wrong');
  expect([taken.code, taken.stderr]).toEqual([
    1,
    expect.stringContaining('a Node with name "first" and status "Ready" already exists in the cluster.'),
  ]);
  // A join that failed leaves nothing.
  expect(await near.sh('ls -d /data/wrong 2>/dev/null || true')).toBe('');
  for (const machine of [near, far]) await machine.mustSagong(...words.slice(1), '--data-dir', '/data/machine', '--detach');
  await nodesReady(['first', 'near', 'far']);
  // Whoever looks at the processes does not learn the token. The pattern does not find itself.
  const [letter = '', ...rest] = words[words.indexOf('--token') + 1] ?? '';
  expect(await near.sh(`grep -lE '[${letter}]${rest.join('')}' /proc/[0-9]*/cmdline || true`)).toBe('');
  const listed = await first.mustSagong('token', 'list', '--data-dir', '/data/cluster');
  expect(listed).toMatch(/authentication,signing +<none> +system:bootstrappers:kubeadm:default-node-token/);
});

test('pods on all machines reach each other without NAT, and a Service by its name', async () => {
  const { first, near, far } = world;
  await kit.importBusybox(first, '/data/cluster/machine', image);
  for (const machine of [near, far]) await kit.importBusybox(machine, '/data/machine', image);
  const applied = await first.runWith(kit.webServers(image), 'kubectl', 'apply', '-f', '-');
  expect([applied.code, applied.stderr]).toEqual([0, '']);
  const pods = await allReachAll(3);
  // Routes where they share a link, a tunnel with smaller packets otherwise.
  expect(await first.sh('ip -4 route show proto 83')).toMatch(/^10\.244\.\d+\.0\/24 via 10\.50\.1\.2 dev eth0 $/m);
  expect(await first.sh('ip -4 route show proto 83')).toMatch(
    /^10\.244\.\d+\.0\/24 via 10\.244\.\d+\.0 dev sagong-vxlan onlink $/m,
  );
  expect(await far.sh('cat /sys/class/net/sagong-vxlan/mtu')).toBe('1450\n');
  for (const from of pods) {
    await eventually(
      `${from.node} finds the Service by its name`,
      async () => (await ask(from, 'http://web/cgi-bin/who')) !== '',
    );
    for (const to of pods) {
      const size = await first.kubectl('exec', from.name, '--', 'sh', '-c', `wget -qO- http://${to.ip}:8080/big | wc -c`);
      expect([from.node, to.node, size.trim()]).toEqual([from.node, to.node, String(kit.bigBytes)]);
    }
  }
  for (const { name } of pods) expect(await first.kubectl('logs', name)).toBe('');
});

test('strangers get no names, and nothing through the tunnel', async () => {
  const { first, near, far, router } = world;
  const lookup = (machine: TestMachine) =>
    machine.sh(
      `${process.execPath} -e 'const r = new (require("dns").promises.Resolver)(); r.setServers(["10.50.1.2"]); r.resolve4("web.default.svc.cluster.local").then(String, (e) => e.code).then((said) => process.stdout.write(said))'`,
    );
  expect(await lookup(router)).toBe('EREFUSED');
  for (const machine of [first, near, far]) expect(await lookup(machine)).toMatch(/^10\.\d+\.\d+\.\d+$/);
  const dropped = async (): Promise<number> =>
    Number(/^\s*(\d+) .* DROP /m.exec(await far.sh('iptables -w -nvxL SAGONG-TUNNEL'))?.[1]);
  const before = await dropped();
  await router.sh(
    `${process.execPath} -e 'const s = require("dgram").createSocket("udp4"); s.send(Buffer.alloc(64), 8472, "10.50.2.1", () => s.close())'`,
  );
  await eventually('the packet was dropped', async () => (await dropped()) === before + 1);
});

test('the certificates of kubelets are the cluster’s, and what they serve with makes no apiserver of them', async () => {
  const { first, near } = world;
  const subject = await near.sh('openssl x509 -noout -subject -issuer -in /data/machine/pki/kubelet-client-current.pem');
  expect(subject).toMatch(/O = system:nodes, CN = system:node:near\n.*CN = kubernetes/);
  const verified = (authority: string): Promise<string> =>
    first.sh(`openssl s_client -connect 10.50.1.2:10250 -CAfile /data/cluster/pki/${authority}.crt </dev/null 2>&1`);
  await eventually('the serving certificate is there', async () =>
    (await verified('kubelet-serving-ca')).includes('Verify return code: 0 (ok)'),
  );
  expect(await verified('ca')).not.toContain('Verify return code: 0 (ok)');
});

test('a restart of the first machine changes nothing for long', async () => {
  const { first } = world;
  await first.mustSagong('stop', '--data-dir', '/data/cluster');
  await first.mustSagong('up', '--data-dir', '/data/cluster', '--no-kubeconfig', '--detach');
  await nodesReady(['first', 'near', 'far']);
  const ready = ['rollout', 'status', 'daemonset/web', '--timeout=60s'];
  await first.kubectl(...ready);
  await allReachAll(3);
});

test('a machine that leaves takes everything with it', async () => {
  const { first, near, far } = world;
  await near.mustSagong('leave', '--data-dir', '/data/machine');
  await nodesReady(['first', 'far']);
  expect(await near.sh('ls /data; ip -4 route show proto 83; ip -o link show type bridge; ip -o link show type vxlan')).toBe('');
  expect(await near.sh('iptables-save | grep -ciE "sagong|kube|cni" || true')).toBe('0\n');
  expect(await near.sh('grep -c /data/machine /proc/mounts || true')).toBe('0\n');
  expect(await near.sh('pgrep -af "[/]data/machine" || true')).toBe('');
  await far.mustSagong('leave', '--data-dir', '/data/machine');
  await nodesReady(['first']);
  await first.mustSagong('down', '--data-dir', '/data/cluster');
  expect(await first.sh('ls /data; ip -4 route show proto 83; iptables-save | grep -ciE "sagong|kube" || true')).toBe('0\n');
});
