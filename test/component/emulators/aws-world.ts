// The emulated AWS over a cloud in memory, with the network of a cluster in it, and our provider as a manager has it.
import { readFile } from 'node:fs/promises';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Node, Service } from '#api/core/v1';
import { listAll } from '#cloud/client';
import { type Emulator, type EmulatorServer, loadEmulator, type ManagerSetup, serveEmulator } from '#cloud/emulators';
import { type MemoryCloud, memoryLoadBalancers, memoryMachines, startMemoryCloud } from '#cloud/memory';
import { type CloudInformers, type CloudProvider, validateConfig } from '#cloud-provider';
import type { ConformanceWorld, OtherCluster } from '#cloud-provider/conformance';
import { systemClock, systemRng } from '#host';
import { type Clock, seededRng, silentLogger } from '#utils';
import aws, { type AwsConfig } from '../../../providers/aws/src/index.ts';

export const cluster = 'kubernetes';
export const region = 'local-1';

export interface EmulatedAws extends ConformanceWorld {
  memory: MemoryCloud;
  server: EmulatorServer;
  setup: ManagerSetup;
  key: { accessKeyId: string; secretAccessKey: string };
  vpcId: string;
  nodeGroupId: string;
  instances: Map<string, string>;
  /** A Node as the manager's cache has it. */
  node(name: string): Node;
  close(): Promise<void>;
}

/** Waits of seconds take milliseconds. */
const hastyClock = (): Clock => {
  const clock = systemClock();
  return { ...clock, sleep: (delayMs, signal) => clock.sleep(Math.min(delayMs, 20), signal) };
};

const informersOf = (nodes: ReadonlyMap<string, Node>): CloudInformers => ({
  informer: () => ({
    lister: { get: (_namespace: string, name: string) => nodes.get(name) as never, list: () => [...nodes.values()] as never[] },
    addHandler: () => () => {},
  }),
});

async function keyIn(file: string): Promise<EmulatedAws['key']> {
  const text = await readFile(file, 'utf8');
  const [, accessKeyId = '', secretAccessKey = ''] = /key_id = (\S+)[^=]*= (\S+)/.exec(text) ?? [];
  return { accessKeyId, secretAccessKey };
}

async function providerFrom(
  { configFile }: ManagerSetup,
  nodes: ReadonlyMap<string, Node>,
  clusterId = cluster,
): Promise<CloudProvider> {
  const text = (await readFile(configFile, 'utf8')).replace(
    `KubernetesClusterID = ${cluster}`,
    `KubernetesClusterID = ${clusterId}`,
  );
  const config = validateConfig('aws', aws.configSchema, aws.parseConfig?.(text)) as AwsConfig;
  const cloud = await aws.create({ config, configDir: '.', clock: hastyClock(), logger: silentLogger });
  cloud.setInformers?.(informersOf(nodes));
  return cloud;
}

/** A VPC with a subnet in each of two zones that lead to the world outside, and a group of the nodes; all with the cluster's tag. */
export async function makeNetwork(memory: MemoryCloud, tags: Readonly<Record<string, string>>) {
  const cloud = memory.client();
  const { id: vpcId } = await cloud.createVpc({ name: 'vpc', cidr: '10.1.0.0/16' });
  const [table] = (await cloud.listRouteTables({ vpcId, main: 'true' })).items;
  const routeTableId = table?.id ?? '';
  await cloud.putRoute({ routeTableId, destination: '0.0.0.0/0', target: { kind: 'internet-gateway' } });
  await cloud.changeTags({ resourceId: routeTableId, set: tags });
  const subnetIds: string[] = [];
  for (const [index, zone] of ['local-1a', 'local-1b'].entries())
    subnetIds.push((await cloud.createSubnet({ name: zone, vpcId, zone, cidr: `10.1.${index * 64}.0/18`, tags })).id);
  const group = await cloud.createSecurityGroup({ vpcId, name: 'nodes', tags });
  return { vpcId, routeTableId, subnetIds, securityGroupId: group.id };
}

/** Every fifth call fails: before it is carried out, or with its answer lost. */
function unreliable(inner: Emulator): Emulator {
  const rng = seededRng(1);
  const error = (code: string, status: number) => ({
    status,
    headers: { 'content-type': 'text/xml;charset=UTF-8' },
    body: `<Response><Errors><Error><Code>${code}</Code><Message>asked for</Message></Error></Errors><RequestID>1</RequestID></Response>`,
  });
  return {
    ...inner,
    setUpManager: (network, url) => inner.setUpManager(network, url),
    async answer(request) {
      const chance = rng.next();
      if (chance < 0.1) return error('InternalError', 500);
      if (chance < 0.15) return error('RequestLimitExceeded', 503);
      const answer = await inner.answer(request);
      return chance < 0.2 ? error('InternalError', 500) : answer;
    },
  };
}

const noted = (inner: Emulator, onRequest: (body: string) => void): Emulator => ({
  setUpManager: (network, url) => inner.setUpManager(network, url),
  answer(request) {
    onRequest(request.body.toString('utf8'));
    return inner.answer(request);
  },
});

export interface EmulatedAwsOptions {
  flaky?: boolean;
  /** What stands between the provider and the API: takes the address of the one, gives that for the other. */
  between?(url: string): Promise<string>;
  /** Sees the body of every request. */
  onRequest?(body: string): void;
}

export async function emulatedAws({ flaky = false, between, onRequest }: EmulatedAwsOptions = {}): Promise<EmulatedAws> {
  const dir = await mkdtemp(join(tmpdir(), 'sagong-emulated-aws-'));
  const deps = { clock: systemClock(), rng: systemRng(), logger: silentLogger };
  const memory = await startMemoryCloud(
    {
      region,
      zones: ['local-1a', 'local-1b'],
      publicCidr: '198.18.7.0/24',
      drivers: [memoryMachines(deps), memoryLoadBalancers()],
    },
    deps,
  );
  const cloud = memory.client();
  const definition = await loadEmulator('aws');
  const tags = definition.tagsOf(cluster);
  const network = await makeNetwork(memory, tags);
  const emulator = await definition.open({ cloud, region, dir, ...deps });
  const served = flaky ? unreliable(emulator) : emulator;
  const server = await serveEmulator(onRequest ? noted(served, onRequest) : served, 0, silentLogger);
  const url = between ? await between(server.url) : server.url;
  const setup = await emulator.setUpManager({ cluster, ...network }, url);
  const key = await keyIn(join(dir, 'credentials'));
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: key.accessKeyId, AWS_SECRET_ACCESS_KEY: key.secretAccessKey });
  const nodes = new Map<string, Node>();
  const instances = new Map<string, string>();
  const provider = await providerFrom(setup, nodes);

  const balancersOf = async (service: Service) => {
    const name = provider.loadBalancer?.getLoadBalancerName(cluster, service) ?? '';
    return (await listAll((page) => cloud.listLoadBalancers(page))).filter((one) => one.name.endsWith(`-${name}`));
  };
  const nameOf = (id: string): string => [...instances].find(([, known]) => known === id)?.[0] ?? id;
  const idOf = (name: string): string => instances.get(name) ?? '';
  async function addInstance(name: string, groupId = network.securityGroupId, tagsOf = tags): Promise<void> {
    const subnetId = network.subnetIds[instances.size % 2] ?? '';
    const made = await cloud.runInstance({ name, subnetId, securityGroupIds: [groupId], tags: tagsOf });
    instances.set(name, made.id);
    nodes.set(name, { metadata: { name }, spec: { providerID: `aws:///${made.zone}/${made.id}` } });
  }
  /** In the same subnets, with a group of its own for its nodes. */
  async function otherCluster(): Promise<OtherCluster> {
    const theirs = definition.tagsOf('other');
    for (const resourceId of network.subnetIds) await cloud.changeTags({ resourceId, set: theirs });
    const { id } = await cloud.createSecurityGroup({ vpcId: network.vpcId, name: 'other-nodes', tags: theirs });
    return {
      cloud: await providerFrom(setup, nodes, 'other'),
      cluster: 'other',
      addInstance: (name) => addInstance(name, id, theirs),
    };
  }
  return {
    memory,
    server,
    setup,
    key,
    cloud: provider,
    cluster,
    vpcId: network.vpcId,
    nodeGroupId: network.securityGroupId,
    instances,
    addInstance: (name) => addInstance(name),
    async stopInstance(name) {
      await cloud.stopInstance({ instanceId: idOf(name) });
    },
    async terminateInstance(name) {
      await cloud.terminateInstance({ instanceId: idOf(name) });
    },
    node(name) {
      const known = nodes.get(name);
      if (!known) throw new Error(`no Node ${name}`);
      return known;
    },
    async backends(service) {
      return (await balancersOf(service)).flatMap(({ targets }) => targets.map(({ instanceId }) => nameOf(instanceId)));
    },
    async listeners(service) {
      const all = (await balancersOf(service)).flatMap(({ listeners }) => listeners);
      return all.map(({ protocol, port, targetPort }) => `${protocol.toUpperCase()} ${port} ${targetPort}`);
    },
    async sources(service) {
      return (await balancersOf(service)).flatMap(({ sourceRanges }) => sourceRanges);
    },
    /** In the group of the nodes, which all load balancers share. */
    async letInByHand(service, range) {
      const securityGroupId = network.securityGroupId;
      const rules = (service.spec?.ports ?? []).map(({ nodePort = 0 }) => ({
        protocol: 'tcp' as const,
        fromPort: nodePort,
        toPort: nodePort,
        cidr: range,
      }));
      await cloud.authorizeSecurityGroupIngress({ securityGroupId, rules });
      const isThere = async (): Promise<boolean> =>
        JSON.stringify((await cloud.getSecurityGroup({ securityGroupId })).ingress).includes(range);
      return { isThere };
    },
    async leftovers() {
      const balancers = await listAll((page) => cloud.listLoadBalancers(page));
      const groups = await listAll((page) => cloud.listSecurityGroups(page));
      const nodeRules = groups.find(({ id }) => id === network.securityGroupId)?.ingress ?? [];
      const zones = await listAll((page) => cloud.listDnsZones(page));
      return [
        ...balancers.map(({ name }) => name),
        ...groups.filter(({ name }) => name.startsWith('k8s-')).map(({ name }) => name),
        ...nodeRules.map((rule) => `rule ${JSON.stringify(rule)}`),
        ...zones.flatMap(({ records }) => records.map(({ name }) => name)),
      ].sort();
    },
    // As often as the SDK tries.
    failInTheMiddle: () => memory.setFaults({ errorRate: 1, failuresMax: 3, operations: ['modifyLoadBalancer'] }),
    secondProvider: () => providerFrom(setup, nodes),
    otherCluster,
    async close() {
      await server.close();
      await memory.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

const prefix = 'service.beta.kubernetes.io/aws-load-balancer-';

/** A Service with AWS's annotations, without their common beginning. */
export const annotated = (service: Service, annotations: Readonly<Record<string, string>>): Service => ({
  ...service,
  metadata: {
    ...service.metadata,
    annotations: Object.fromEntries(Object.entries(annotations).map(([key, value]) => [prefix + key, value])),
  },
});
