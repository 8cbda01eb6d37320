// The shape of managed services (requirements section 4): control plane in the provider's network, two provider-owned interfaces in the
// customer's, and the three endpoint modes, switched on a living cluster. Real packets: what connections are open on a node, what the
// endpoint's name means inside and outside, where `kubectl exec` comes from, and who gets no answer.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NetworkInterface } from '#cloud';
import { eventually, type Output, run, TestCluster } from '../cluster/harness.ts';
import { inside, ManagedKit } from './kit.ts';

let cluster: TestCluster;
let kit: ManagedKit;
let endpointName = '';
let publicNameServer = '';

const addressesIn = ({ stdout }: Output): string[] =>
  [
    ...stdout
      .split('\n')
      .slice(2)
      .join('\n')
      .matchAll(/Address(?: \d+)?: ([\d.]+)(?!\S)/g),
  ]
    .map(([, address = '']) => address)
    .sort();
/** What the endpoint's name means to the customer's network. */
const meansInside = async (): Promise<string[]> =>
  addressesIn(await cluster.inNode(1, 'busybox', 'nslookup', '-type=a', endpointName, '10.77.0.2'));
/** And to everybody else. */
const meansOutside = async (): Promise<string[]> =>
  addressesIn(await run('busybox', ['nslookup', '-type=a', endpointName, publicNameServer]));
const restarts = (): Promise<string> =>
  cluster.kubectl(
    'get',
    'pods',
    '-o',
    'jsonpath={range .items[*]}{.metadata.uid} {.status.containerStatuses[0].restartCount}{"\\n"}{end}',
  );
/** kubectl inside the customer's network: on a node, which resolves names as the network does and is given a copy of the kubeconfig. */
async function kubectlOnNode(...args: string[]): Promise<string> {
  const kubeconfig = Buffer.from(await kit.text('kubeconfig')).toString('base64');
  const words = ['kubectl', '--kubeconfig', '/tmp/kubeconfig', ...args];
  const [init] = (
    await run('ip', ['netns', 'pids', (await cluster.nodeNetns('node-1')).slice('--net=/run/netns/'.length)])
  ).stdout.split('\n');
  const script = 'umask 077; echo "$1" | base64 -d > /tmp/kubeconfig; shift; exec "$@"';
  const entering = ['-t', init ?? '', '-m', '-n', '-u', '--', 'sh', '-c', script, 'sh', kubeconfig, ...words];
  const output = await run('nsenter', entering, { env: cluster.env });
  if (output.code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${output.stdout}${output.stderr}`);
  return output.stdout;
}
/** Where exec and logs arrive from at the kubelet's port while a command runs. */
async function callersOfKubelet(): Promise<string[]> {
  const child = cluster.kubectlInBackground('exec', 'worker', '--', 'sleep', '60');
  try {
    return await eventually('a connection to the kubelet', async () => {
      const { stdout } = await cluster.inNode(1, 'ss', '-Htn', 'state', 'established', '( sport = :10250 )');
      const found = [...stdout.matchAll(/ (?:\[::ffff:)?([\d.]+)\]?:\d+\s*$/gm)].map(([, address = '']) => address);
      return found.length > 0 && [...new Set(found)];
    });
  } finally {
    child.kill();
  }
}

beforeAll(async () => {
  cluster = await TestCluster.create();
  kit = new ManagedKit(cluster);
  await cluster.up('--nodes', '2', '--topology', 'managed', '--endpoint-access', 'public');
  endpointName = `${cluster.mark}.local-1.eks.sagong.internal`;
  const { publicCidr } = JSON.parse(await kit.text('cloud/cloud.json')) as { publicCidr: string };
  publicNameServer = publicCidr.replace('.0/24', '.2');
  await kit.runWorker('echo hello; exec sleep 3600');
});
afterAll(async () => {
  await cluster?.destroy();
});

/** Whether the cluster's API answers this machine there; by its certificate, for networks with a proxy take connections to anywhere. */
const answersAt = async (host: string): Promise<boolean> => {
  const words = ['s_client', '-connect', `${host}:443`, '-CAfile', `${cluster.dataDir}/pki/ca.crt`, '-verify_return_error'];
  return (await run('timeout', ['3', 'openssl', ...words])).stdout.includes('Verify return code: 0 (ok)');
};

const publicAddress = async (): Promise<string> => /https:\/\/([\d.]+):443/.exec(await kit.text('kubeconfig'))?.[1] ?? '';

interface Described {
  resourcesVpcConfig: { subnetIds: string[]; vpcId: string };
  certificateAuthority: { data: string };
}

describe('a managed control plane', () => {
  it('has two interfaces of its own in subnets of different zones of the customer', async () => {
    await kit.asCustomer(async (cloud, managed) => {
      const [node] = (await cloud.listInstances({ name: 'node-1' })).items;
      const interfaces = (await cloud.listInterfaces({ limit: 100 })).items as NetworkInterface[];
      const nodeInterface = interfaces.find(({ attachment }) => attachment?.instanceId === node?.id);
      expect(managed.map(({ privateAddress }) => privateAddress).sort()).toEqual(inside);
      expect(new Set(managed.map(({ zone }) => zone)).size).toBe(2);
      for (const one of managed) {
        // The customer's, on an instance that is not.
        expect(one.ownerId).toBe(node?.ownerId);
        expect(one.requesterId).toBe(one.instanceOwnerId);
        expect(one.instanceOwnerId).not.toBe(node?.ownerId);
        expect(one.vpcId).toBe(node?.vpcId);
        expect(one.securityGroupIds).toEqual(nodeInterface?.securityGroupIds);
      }
      // The customer sees them, and can change nothing about them.
      await expect(cloud.deleteInterface({ interfaceId: managed[0]?.id ?? '' })).rejects.toMatchObject({ code: 'AccessDenied' });
      expect((await cloud.listVpcs()).items).toHaveLength(1);
    });
  });

  it('is described as its customer sees it', async () => {
    const described = async () => JSON.parse((await cluster.sagong('describe-cluster')).stdout) as { cluster: Described };
    const { cluster: said } = await described();
    expect(said).toMatchObject({
      version: '1.36',
      endpoint: `https://${endpointName}`,
      status: 'ACTIVE',
      resourcesVpcConfig: { endpointPublicAccess: true, endpointPrivateAccess: false, publicAccessCidrs: ['0.0.0.0/0'] },
    });
    expect(said.resourcesVpcConfig.subnetIds).toHaveLength(2);
    expect(Buffer.from(said.certificateAuthority.data, 'base64').toString('utf8')).toBe(await kit.text('pki/ca.crt'));
    const { stdout } = await cluster.sagong('describe-cluster', '-o', 'table');
    expect(stdout).toMatch(new RegExp(`^resourcesVpcConfig.vpcId +${said.resourcesVpcConfig.vpcId}$`, 'm'));
  });

  it('public: nodes and people use the load balancer; kubelets are reached from a provider-owned interface', async () => {
    const outside = await publicAddress();
    expect(outside).toMatch(/^198\.1[89]\./);
    expect(await meansInside()).toEqual([outside]);
    expect(await meansOutside()).toEqual([outside]);
    for (const node of [1, 2]) expect(await kit.peers(node)).toEqual([outside]);
    expect(inside).toContain((await callersOfKubelet())[0]);
    expect(await cluster.kubectl('logs', 'worker')).toBe('hello\n');
  });

  it('public and private: nodes use the provider-owned interfaces, people the load balancer; nothing restarts', async () => {
    const before = await restarts();
    const outside = await publicAddress();
    await kit.switchTo('public-and-private');
    await kit.nodesComeInside();
    expect(await meansInside()).toEqual(inside);
    expect(await meansOutside()).toEqual([outside]);
    expect(await cluster.kubectl('exec', 'worker', '--', 'echo', 'there')).toBe('there\n');
    expect(inside).toContain((await callersOfKubelet())[0]);
    expect(await restarts()).toBe(before);
  });

  it('private: only the customer’s network finds and reaches it', async () => {
    const before = await restarts();
    const outside = await publicAddress();
    expect(await answersAt(outside)).toBe(true);
    await kit.switchTo('private');
    expect(await meansInside()).toEqual(inside);
    expect(await meansOutside()).toEqual(inside);
    // Neither by the address of before, nor by the private ones, nor by loopback.
    for (const host of [outside, ...inside]) {
      expect(await answersAt(host)).toBe(false);
    }
    const listening = (await run('ss', ['-Htlnp'])).stdout.split('\n');
    const own = await cluster.pid();
    expect(listening.filter((line) => line.includes(`pid=${own},`))).toEqual([]);
    expect((await cluster.tryKubectl('get', 'nodes', '--request-timeout', '5s')).code).not.toBe(0);
    expect((await cluster.sagong('status')).stdout).toMatch(/node-1 +Ready/);
    expect(await kubectlOnNode('get', 'nodes')).toMatch(/node-2 +Ready/);
    expect(await kubectlOnNode('exec', 'worker', '--', 'echo', 'inside')).toBe('inside\n');
    expect(await kubectlOnNode('logs', 'worker')).toBe('hello\n');
    for (const node of [1, 2])
      await eventually('private peers', async () => (await kit.peers(node)).some((peer) => inside.includes(peer)), 60_000);
    await kit.switchTo('public');
    await eventually(
      'the public way again',
      async () => (await cluster.tryKubectl('get', 'nodes', '--request-timeout', '5s')).code === 0,
      60_000,
    );
    expect(await restarts()).toBe(before);
  });

  it('comes back in the mode it had, and goes without a trace', async () => {
    await kit.switchTo('private');
    await cluster.sagong('stop');
    await cluster.up();
    expect((await cluster.tryKubectl('get', 'nodes', '--request-timeout', '5s')).code).not.toBe(0);
    expect((await cluster.sagong('status')).stdout).toMatch(/node-1 +Ready/);
    expect((await cluster.sagong('down')).code).toBe(0);
    expect((await run('ip', ['netns', 'list'])).stdout).not.toContain(cluster.mark);
    expect(await cluster.processes()).toEqual([]);
  });
});
