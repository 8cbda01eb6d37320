// The conformance suite for providers, against the real server over HTTPS: with nothing in the way, with calls that fail and are throttled, and
// with reads that lag.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { type Faults, noFaults } from '#cloud';
import { createCloudClient } from '#cloud/client';
import { memoryLoadBalancers, memoryMachines } from '#cloud/memory';
import { localCloudProvider, serviceUidTag } from '#cloud/provider';
import { startCloud } from '#cloud/server';
import { type CloudProvider, retryAfterOf, type Service } from '#cloud-provider';
import { conformance, type ConformanceWorld } from '#cloud-provider/conformance';
import { systemClock, systemRng } from '#host';
import { createCertificateAuthority, issueCertificate } from '#pki';
import { silentLogger } from '#utils';

const clock = systemClock();
const ca = createCertificateAuthority({ commonName: 'test' });
const serving = issueCertificate({ ca, commonName: 'cloud', ips: ['127.0.0.1'], usages: ['server auth'], days: 1 });
const token = 'a-customer-token';
let root = '';
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'cloud-conformance-'));
  await writeFile(join(root, 'ca.crt'), ca.cert);
  await writeFile(join(root, 'token'), `${token}\n`);
});
afterAll(() => rm(root, { recursive: true, force: true }));

async function until(what: string, done: () => boolean): Promise<void> {
  const deadline = clock.monotonic() + 30_000;
  while (!done()) {
    if (clock.monotonic() > deadline) throw new Error(`not within 30 s: ${what}`);
    await clock.sleep(2);
  }
}

/** A provider whose caller tries again, as the controllers do. */
function persistent(provider: CloudProvider): CloudProvider {
  const again = <T extends object>(part: T): T =>
    new Proxy(part, {
      get: (target, key) => {
        const method = Reflect.get(target, key) as (...args: unknown[]) => unknown;
        if (key === 'getLoadBalancerName') return method;
        return async (...args: unknown[]) => {
          for (;;)
            try {
              return await method(...args);
            } catch (error) {
              const asked = error instanceof Error && error.message.endsWith('asked for by faults');
              if (retryAfterOf(error) === undefined && !asked) throw error;
            }
        };
      },
    });
  const { instancesV2, routes, loadBalancer } = provider;
  return {
    ...provider,
    ...(instancesV2 && { instancesV2: again(instancesV2) }),
    ...(routes && { routes: again(routes) }),
    ...(loadBalancer && { loadBalancer: again(loadBalancer) }),
  };
}

async function open(faults: Faults): Promise<ConformanceWorld> {
  const cloud = await startCloud(
    {
      dataDir: await mkdtemp(join(root, 'cloud-')),
      tls: serving,
      accounts: [{ id: 'customer', token, role: 'customer' }],
      region: 'local-1',
      zones: ['local-1a', 'local-1b'],
      publicCidr: '198.18.0.0/24',
      mark: 'abcdef',
      drivers: { machines: memoryMachines({ clock }), 'load-balancers': memoryLoadBalancers() },
    },
    { clock, rng: systemRng(), logger: silentLogger },
  );
  const url = `https://127.0.0.1:${cloud.port}`;
  const client = createCloudClient({ url, token, ca: ca.cert });
  const vpc = await client.createVpc({ cidr: '10.77.0.0/16' });
  const subnet = await client.createSubnet({ vpcId: vpc.id, zone: 'local-1a', cidr: '10.77.0.0/16' });
  cloud.setFaults(faults);
  const lag = (): Promise<void> => clock.sleep(cloud.faults.eventualConsistencyMs * 1.5);
  const provider = async (clusterId = 'test'): Promise<CloudProvider> => {
    const config = {
      url,
      tokenFile: 'token',
      caFile: 'ca.crt',
      clusterId,
      vpcId: vpc.id,
      defaultLoadBalancerKind: 'proxy',
    } as const;
    return persistent(await localCloudProvider.create({ config, configDir: root, clock, logger: silentLogger }));
  };
  const instance = (name: string) =>
    [...cloud.world.instances.values()].find((one) => one.name === name && one.state !== 'terminated');
  /** What users do outside Kubernetes does not fail. */
  const byHand = async <T>(action: () => Promise<T>): Promise<T> => {
    cloud.setFaults(noFaults);
    const result = await action();
    cloud.setFaults(faults);
    return result;
  };
  return {
    cloud: await provider(),
    cluster: 'kubernetes',
    secondProvider: () => provider(),
    otherCluster: async () => ({ cloud: await provider('other'), cluster: 'kubernetes' }),
    async addInstance(name) {
      const { id } = await byHand(() => client.runInstance({ name, subnetId: subnet.id }));
      await until(`${name} runs`, () => cloud.world.instances.get(id)?.state === 'running');
      await lag();
    },
    async stopInstance(name) {
      const { id } = instance(name) as { id: string };
      await byHand(() => client.stopInstance({ instanceId: id }));
      await until(`${name} is stopped`, () => cloud.world.instances.get(id)?.state === 'stopped');
      await lag();
    },
    async terminateInstance(name) {
      const { id } = instance(name) as { id: string };
      await byHand(() => client.terminateInstance({ instanceId: id }));
      await until(`${name} is terminated`, () => cloud.world.instances.get(id)?.state === 'terminated');
      await lag();
    },
    backends: ({ metadata }: Service) =>
      [...cloud.world.loadBalancers.values()]
        .filter(({ tags }) => tags[serviceUidTag] === metadata.uid)
        .flatMap(({ targets }) => targets.map(({ instanceId }) => cloud.world.instances.get(instanceId)?.name ?? instanceId)),
    listeners: ({ metadata }: Service) =>
      [...cloud.world.loadBalancers.values()]
        .filter(({ tags }) => tags[serviceUidTag] === metadata.uid)
        .flatMap(({ listeners }) =>
          // Packets are passed on to the port itself.
          listeners.map(({ protocol, port, targetPort = '' }) => `${protocol.toUpperCase()} ${port} ${targetPort}`.trimEnd()),
        ),
    sources: ({ metadata }: Service) =>
      [...cloud.world.loadBalancers.values()]
        .filter(({ tags }) => tags[serviceUidTag] === metadata.uid)
        .flatMap(({ sourceRanges }) => sourceRanges),
    async leftovers() {
      await lag();
      return [...cloud.world.loadBalancers.values()].map(({ name }) => name);
    },
    failInTheMiddle: () =>
      cloud.setFaults({ ...noFaults, partialFailureRate: 1, failuresMax: 1, operations: ['createLoadBalancer'] }),
    async close() {
      client.close();
      await cloud.close();
    },
  };
}

const timeoutMs = 60_000;
const runner = {
  describe,
  it: Object.assign((name: string, body: () => Promise<void>) => it(name, body, timeoutMs), {
    skip: (name: string, body: () => Promise<void>) => it.skip(name, body),
  }),
};
const skips = { 'routes: two families of one node are two routes': 'the local cloud has IPv4 only' };

describe('local cloud', () => {
  conformance({ open: () => open(noFaults), skips, instancesMany: 200 }, runner);
});
describe('local cloud whose calls fail and are throttled', () => {
  const faults = { ...noFaults, errorRate: 0.15, throttleRate: 0.15, retryAfterSeconds: 0, latencyMs: 1 };
  conformance({ open: () => open(faults), skips, instancesMany: 20 }, runner);
});
describe('local cloud whose reads lag', () => {
  const late = 'a route is shown a moment after it was made; making it again changes nothing';
  const lagging = {
    'routes: made, listed, deleted': late,
    'routes: making one again changes nothing': late,
    'routes: of two of one node, the one that is deleted goes': late,
    'routes: that of a terminated machine can be removed': late,
  };
  conformance(
    { open: () => open({ ...noFaults, eventualConsistencyMs: 60 }), skips: { ...skips, ...lagging }, instancesMany: 5 },
    runner,
  );
});
