// What a cluster decides for all machines holds on the joined ones: kube-proxy in nftables mode, network policies, packets as large as the way between
// machines, and all of it after a restart of a machine. Minutes long, so it runs on request: SAGONG_MACHINES_POLICIES=1.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../cluster/harness.ts';
import { bigBytes, importBusybox, webServers } from './kit.ts';
import { bootWorld, type TestMachine, type TestWorld } from './machine-world.ts';

const image = 'test.local/busybox:1';
const cluster = ['--data-dir', '/data/cluster'];
const machine = ['--data-dir', '/data/machine'];
let world: TestWorld;

const denied = `
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: closed}
spec: {podSelector: {matchLabels: {app: web}}, policyTypes: [Ingress]}
`;

interface WebPod {
  name: string;
  ip: string;
}
async function podOf(node: string): Promise<WebPod> {
  const words = ['get', 'pods', '-l', 'app=web', '--field-selector', `spec.nodeName=${node},status.phase=Running`, '-o'];
  return eventually(`the web server of ${node} runs`, async () => {
    const said = await world.first.kubectl(...words, 'jsonpath={.items[0].metadata.name} {.items[0].status.podIP}');
    const [name = '', ip = ''] = said.split(' ');
    return ip !== '' && { name, ip };
  });
}
const get = (from: WebPod, url: string): Promise<string> =>
  world.first.kubectl('exec', from.name, '--', 'sh', '-c', `timeout 5 wget -qO- ${url} | wc -c`);
const reaches = (from: WebPod, url: string, bytes: number): Promise<unknown> =>
  eventually(`${from.name} reaches ${url}`, async () => (await get(from, url)).trim() === String(bytes), 90_000);
const isRefused = (from: WebPod, to: WebPod): Promise<unknown> =>
  eventually(`${from.name} does not reach ${to.ip}`, async () => (await get(from, `http://${to.ip}:8080/`)).trim() === '0');

/** Across the link and across the tunnel, by addresses and by the Service. */
async function everythingWorks(): Promise<void> {
  const pods = { first: await podOf('first'), near: await podOf('near'), far: await podOf('far') };
  for (const from of [pods.near, pods.far]) {
    await reaches(from, 'http://web/', 6);
    for (const to of Object.values(pods)) await reaches(from, `http://${to.ip}:8080/big`, bigBytes);
  }
}
const mtus = (of: TestMachine): Promise<string> => of.sh('cat /sys/class/net/sagong-vxlan/mtu /sys/class/net/eth0/mtu');

describe.skipIf(!process.env['SAGONG_MACHINES_POLICIES'])('joined machines', { timeout: 300_000 }, () => {
  beforeAll(async () => {
    world = await bootWorld();
    const { first, near, far } = world;
    await first.mustSagong(
      'up',
      '--advertise-address',
      '10.50.1.1',
      '--proxy-mode',
      'nftables',
      ...cluster,
      '--no-kubeconfig',
      '--detach',
    );
    const words = (await first.mustSagong('token', 'create', ...cluster, '--print-join-command')).trim().split(' ').slice(1);
    for (const joining of [near, far]) await joining.mustSagong(...words, ...machine, '--detach');
    await importBusybox(first, '/data/cluster/machine', image);
    for (const of of [near, far]) await importBusybox(of, '/data/machine', image);
    const { code, stderr } = await first.runWith(webServers(image), 'kubectl', 'apply', '-f', '-');
    expect([code, stderr]).toEqual([0, '']);
  }, 300_000);
  afterAll(() => world?.destroy());

  test('have Services by nftables, and packets that fit', async () => {
    await everythingWorks();
    for (const of of [world.near, world.far]) {
      expect(await of.sh('nft list tables')).toContain('table ip kube-proxy');
      expect(await of.sh('iptables-save | grep -c KUBE-SVC || true')).toBe('0\n');
      expect(await mtus(of)).toBe('1450\n1500\n');
    }
  });

  test('go on so after a restart', async () => {
    for (const of of [world.near, world.far]) {
      await of.mustSagong('stop', ...machine);
      await of.mustSagong('join', ...machine, '--detach');
      expect(await mtus(of)).toBe('1450\n1500\n');
    }
    await everythingWorks();
  });

  test('enforce network policies, also after a restart', async () => {
    const { first, near, far } = world;
    await first.runWith(denied, 'kubectl', 'apply', '-f', '-');
    const [one, other] = [await podOf('near'), await podOf('far')];
    await isRefused(one, other);
    await isRefused(other, one);
    for (const of of [near, far]) {
      await of.mustSagong('stop', ...machine);
      await of.mustSagong('join', ...machine, '--detach');
    }
    await isRefused(await podOf('near'), await podOf('far'));
    await first.kubectl('delete', 'networkpolicy', 'closed');
    await everythingWorks();
  });

  test('may list Pods as long as their Node is there', async () => {
    const { first, near } = world;
    const found = await near.sh('find /data/machine -name kube-network-policy-current.pem');
    const asked = `curl -sk -o /dev/null -w '%{http_code}' --cert ${found.trim()} https://10.50.1.1:6443/api/v1/pods`;
    expect(await near.sh(asked)).toBe('200');
    await near.mustSagong('stop', ...machine);
    await first.kubectl('delete', 'node', 'near');
    await eventually('the certificate of the removed machine lists nothing', async () => (await near.sh(asked)) === '403');
    await near.mustSagong('join', ...machine, '--detach');
    await eventually('its Node is back, and with it the right', async () => (await near.sh(asked)) === '200');
  });
});
