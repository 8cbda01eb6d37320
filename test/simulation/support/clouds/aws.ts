// AWS for the chaos: its provider, over HTTP, on the emulated AWS in front of a cloud in memory. Half of the Services get network load balancers; with
// an even seed all do, and may then have ports of UDP.
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Service } from '#api/core/v1';
import { loadEmulator } from '#cloud/emulators';
import { memoryLoadBalancers, memoryMachines, startMemoryCloud } from '#cloud/memory';
import { type CloudProvider, defaultLoadBalancerName, type LoadBalancer, validateConfig } from '#cloud-provider';
import { noRates, type Refusal, startVendorServer, type VendorRequest } from '#cloud-provider/test-server';
import { type Clock, seededRng, silentLogger } from '#utils';
import { annotation } from '../../../../providers/aws/src/annotations.ts';
import aws, { type AwsConfig } from '../../../../providers/aws/src/index.ts';
import type { Facts } from '../../../../src/cloud/emulators/aws/facts.ts';
import { errorXml } from '../../../../src/cloud/emulators/aws/xml.ts';
import { makeNetwork } from '../../../component/emulators/aws-world.ts';
import { type ChaosCloud, type ChaosCloudOptions, compare } from '../chaos-cloud.ts';
import { watchWire } from '../on-the-wire.ts';

/** The SDK would try again in the machine's time, so it is told not to: each failure is one that the provider sees. */
const rates = {
  ...noRates,
  error: 0.09,
  throttle: 0.03,
  lostAnswer: 0.04,
  drop: 0.03,
  latencyMs: 50,
  latencyJitterMs: 400,
};
const cluster = 'kubernetes';
const region = 'local-1';
const zones = ['local-1a', 'local-1b'];
const { crossZone, healthInterval } = annotation;

const isNetwork = ({ metadata }: Service, all: boolean): boolean =>
  all || Number.parseInt(metadata.uid?.slice(0, 2) ?? '0', 16) % 2 === 0;

/** Says of each Service which kind it wants; a kind does not change. */
function withKinds(cloud: CloudProvider, all: boolean): CloudProvider {
  const inner = cloud.loadBalancer as LoadBalancer;
  const typed = (service: Service): Service =>
    isNetwork(service, all)
      ? {
          ...service,
          metadata: { ...service.metadata, annotations: { ...service.metadata.annotations, [annotation.type]: 'nlb' } },
        }
      : service;
  const loadBalancer: LoadBalancer = {
    getLoadBalancer: (name, service, signal) => inner.getLoadBalancer(name, typed(service), signal),
    getLoadBalancerName: (name, service) => inner.getLoadBalancerName(name, typed(service)),
    ensureLoadBalancer: (name, service, nodes, signal) => inner.ensureLoadBalancer(name, typed(service), nodes, signal),
    updateLoadBalancer: (name, service, nodes, signal) => inner.updateLoadBalancer(name, typed(service), nodes, signal),
    ensureLoadBalancerDeleted: (name, service, signal) => inner.ensureLoadBalancerDeleted(name, typed(service), signal),
  };
  return { ...cloud, loadBalancer };
}

const services: Readonly<Record<string, 'ec2' | 'elb' | 'elbv2'>> = { '2012-06-01': 'elb', '2015-12-01': 'elbv2' };
const codes: Readonly<Record<number, string>> = { 429: 'Throttling', 500: 'InternalError', 503: 'ServiceUnavailable' };

/** A failure as the service that was asked tells it. */
function refusalAnswer({ status, message }: Refusal, { bytes, number }: VendorRequest) {
  const version = /(?:^|&)Version=([\d-]{10})/.exec(bytes.toString('utf8'))?.[1] ?? '';
  const code = codes[status] ?? 'IncorrectState';
  const body = errorXml(services[version] ?? 'ec2', { code, message, status }, `fault-${number}`);
  return { status, body, headers: { 'content-type': 'text/xml;charset=UTF-8' } };
}

type Emulated = Awaited<ReturnType<typeof emulated>>;

/** The emulated AWS, its network, and things in it that are others'. */
async function emulated({ clock, seed }: ChaosCloudOptions) {
  const dir = await mkdtemp(join(tmpdir(), 'sagong-chaos-aws-'));
  const deps = { clock, rng: seededRng(seed + 2), logger: silentLogger };
  const memory = await startMemoryCloud(
    { region, zones, publicCidr: '198.18.0.0/16', drivers: [memoryMachines(deps), memoryLoadBalancers()] },
    deps,
  );
  const cloud = memory.client();
  const definition = await loadEmulator('aws');
  const tags = definition.tagsOf(cluster);
  const network = await makeNetwork(memory, tags);
  const { vpcId, routeTableId, securityGroupId } = network;
  const theirs = await cloud.createSecurityGroup({ vpcId, name: 'k8s-elb-theirs', tags: definition.tagsOf('another') });
  const ssh = { protocol: 'tcp' as const, fromPort: 22, toPort: 22, cidr: '10.0.0.0/8', description: 'theirs' };
  await cloud.authorizeSecurityGroupIngress({ securityGroupId, rules: [ssh] });
  await cloud.putRoute({ routeTableId, destination: '192.168.0.0/16', target: { kind: 'internet-gateway' } });
  // Requests are signed in the machine's time.
  const signed: Clock = {
    now: Date.now,
    monotonic: () => clock.monotonic(),
    setTimer: (delayMs, run) => clock.setTimer(delayMs, run),
    sleep: (delayMs, signal) => clock.sleep(delayMs, signal),
  };
  const emulator = await definition.open({ ...deps, cloud, region, dir, clock: signed });
  const answer = async ({ method, url, headers, bytes }: VendorRequest) =>
    emulator.answer({ method, path: url.pathname + url.search, headers, body: bytes });
  const server = await startVendorServer({
    clock,
    rng: seededRng(seed),
    routes: { 'POST /': answer },
    refusalAnswer,
  });
  return { dir, memory, cloud, tags, network, theirs, emulator, server };
}

const factsOf = ({ dir }: Emulated): Facts => {
  try {
    return JSON.parse(readFileSync(join(dir, 'facts.json'), 'utf8')) as Facts;
  } catch {
    return { version: 1, classic: {}, network: {}, targetGroups: {} };
  }
};

const ranges = ({ spec }: Service): readonly string[] => spec?.loadBalancerSourceRanges ?? ['0.0.0.0/0'];
const hasOwnCheck = ({ spec }: Service): boolean => spec?.externalTrafficPolicy === 'Local';

function wantedOf(service: Service, network: boolean, hosts: readonly string[]) {
  const { metadata, spec, status } = service;
  const own = metadata.annotations ?? {};
  const first = spec?.ports?.[0]?.nodePort;
  const check = hasOwnCheck(service) ? `HTTP ${spec?.healthCheckNodePort}` : network ? 'TCP traffic-port' : `TCP ${first}`;
  return {
    name: defaultLoadBalancerName(service),
    kind: network ? 'network' : 'classic',
    address: status?.loadBalancer?.ingress?.[0]?.hostname,
    ports: (spec?.ports ?? []).map(({ protocol, port, nodePort }) => `${protocol} ${port} ${nodePort}`).sort(),
    checks: [`${check} ${own[healthInterval] ?? (network && !hasOwnCheck(service) ? 30 : 10)}`],
    crossZone: own[crossZone] ?? 'false',
    hosts,
  };
}

function balancersFound(world: Emulated) {
  const { instances } = world.memory.world;
  const { classic, network, targetGroups } = factsOf(world);
  const namesOf = (ids: readonly string[]): string[] => ids.map((id) => instances.get(id)?.name ?? id).sort();
  // A terminated instance is no target any more, whoever has forgotten to take it out.
  const isTarget = (id: string): boolean => instances.get(id)?.state !== 'terminated';
  const local = world.memory.world.loadBalancers;
  const ofClassic = Object.values(classic).map((one) => {
    const [, protocol, port] = /^(\w+):(\d+)/.exec(one.healthCheck.target) ?? [];
    return {
      name: one.name,
      kind: 'classic',
      address: one.dnsName,
      ports: one.listeners.map((each) => `${each.protocol} ${each.port} ${each.instancePort}`).sort(),
      checks: [`${protocol} ${port} ${one.healthCheck.interval}`],
      crossZone: one.attributes['CrossZoneLoadBalancing.Enabled'] ?? 'false',
      hosts: namesOf((local.get(one.localId)?.targets ?? []).map(({ instanceId }) => instanceId)),
    };
  });
  const ofNetwork = Object.values(network).map((one) => {
    const groups = one.listeners.flatMap(({ targetGroupArn }) => targetGroups[targetGroupArn] ?? []);
    const targets = groups.map((group) => namesOf(group.targets.map(({ id }) => id).filter(isTarget)));
    return {
      name: one.name,
      kind: 'network',
      address: one.dnsName,
      ports: one.listeners.map((each, index) => `${each.protocol} ${each.port} ${groups[index]?.port}`).sort(),
      checks: [...new Set(groups.map(({ health }) => `${health.protocol} ${health.port} ${health.interval}`))],
      crossZone: one.attributes['load_balancing.cross_zone.enabled'] ?? 'false',
      hosts: targets.every((some) => some.join() === targets[0]?.join()) ? (targets[0] ?? []) : targets,
    };
  });
  return [...ofClassic, ...ofNetwork];
}

/** Security groups, target groups, names and rules of nodes, each as a sentence. */
function piecesOf(world: Emulated): string[] {
  const { securityGroups, loadBalancers, dnsZones } = world.memory.world;
  const { targetGroups } = factsOf(world);
  const groups = [...securityGroups.values()].filter(({ name, id }) => name.startsWith('k8s-elb-') && id !== world.theirs.id);
  const names = new Map(groups.map(({ id, name }) => [id, name]));
  const ingress = securityGroups
    .get(world.network.securityGroupId)
    ?.ingress.filter(({ description }) => description !== 'theirs');
  return [
    ...groups.map(({ name, ingress: rules }) => {
      const ports = rules.filter(({ protocol }) => protocol !== 'icmp').map((rule) => `${rule.fromPort} ${rule.cidr}`);
      return `group ${name} ${ports.sort().join()}`;
    }),
    ...(ingress ?? []).flatMap(({ groupId, description, cidr, fromPort }) =>
      groupId === undefined
        ? description?.includes('/health=') || description?.includes('/mtu')
          ? []
          : [`nodes let in ${cidr} at ${fromPort} for ${description}`]
        : [`nodes let in ${names.get(groupId) ?? groupId}`],
    ),
    `${Object.keys(targetGroups).length} target groups`,
    `${loadBalancers.size} load balancers of the local cloud`,
    `${[...dnsZones.values()].flatMap(({ records }) => records).length} names`,
  ];
}

function piecesWanted(wanted: readonly Service[], all: boolean): string[] {
  const network = wanted.filter((service) => isNetwork(service, all));
  const classic = wanted.filter((service) => !isNetwork(service, all));
  const portsOf = ({ spec }: Service) => spec?.ports ?? [];
  return [
    ...classic.flatMap((service) => {
      const name = `k8s-elb-${defaultLoadBalancerName(service)}`;
      const rules = portsOf(service).flatMap(({ port }) => ranges(service).map((range) => `${port} ${range}`));
      return [`group ${name} ${rules.sort().join()}`, `nodes let in ${name}`];
    }),
    ...network.flatMap((service) =>
      portsOf(service).flatMap(({ nodePort }) =>
        ranges(service).map(
          (range) => `nodes let in ${range} at ${nodePort} for kubernetes.io/rule/nlb/client=${defaultLoadBalancerName(service)}`,
        ),
      ),
    ),
    `${network.flatMap(portsOf).length} target groups`,
    `${wanted.length} load balancers of the local cloud`,
    `${wanted.length} names`,
  ];
}

const isThere = ({ state }: { state: string }): boolean => state !== 'terminated' && state !== 'shutting-down';

export async function awsChaosCloud(options: ChaosCloudOptions): Promise<ChaosCloud> {
  const { clock, seed } = options;
  const world = await emulated(options);
  const { memory, cloud, network, server } = world;
  const wire = watchWire(server);
  const rng = seededRng(seed + 1);
  const allNetwork = seed % 2 === 0;
  const before = { ...process.env };
  let bought = 0;
  const there = () => [...memory.world.instances.values()].filter(isThere);
  const idOf = (name: string): string => there().find((one) => one.name === name)?.id ?? '';
  const others = (): unknown =>
    structuredClone([
      memory.world.securityGroups.get(world.theirs.id),
      memory.world.securityGroups.get(network.securityGroupId)?.ingress.filter(({ description }) => description === 'theirs'),
      memory.world.routeTables.get(network.routeTableId)?.routes.filter(({ target }) => target.kind !== 'instance'),
    ]);
  return {
    providerName: 'aws',
    mixedProtocols: false,
    lacks: ['affinity', 'IPv6', ...(allNetwork ? [] : (['UDP'] as const))],
    kubeletsKnowProviderId: true,
    annotations: [{ [crossZone]: 'true' }, { [crossZone]: null }, { [healthInterval]: '15' }, { [healthInterval]: null }],
    async open() {
      const door = await server.openDoor();
      const { configFile, env } = await world.emulator.setUpManager({ cluster, ...network }, door.url);
      // With every third seed a call is tried once, so that more changes break off in the middle.
      Object.assign(process.env, env, seed % 3 === 0 && { AWS_MAX_ATTEMPTS: '1' });
      const config = validateConfig('aws', aws.configSchema, aws.parseConfig?.(await readFile(configFile, 'utf8')));
      const context = { config: config as AwsConfig, configDir: '.', clock, rng: seededRng(rng.int(1e9)), logger: silentLogger };
      return { cloud: withKinds(await aws.create(context), allNetwork), kill: () => void door.close() };
    },
    startFaults: () => void (server.faults.rates = { ...rates }),
    stopFaults: () => void (server.faults.rates = { ...noRates }),
    machines: () =>
      there().map(({ id, name, type, zone, state, privateAddress, publicAddress, privateDnsName }) => ({
        name,
        id: `aws:///${zone}/${id}`,
        type,
        zone,
        addresses: [privateAddress, ...(publicAddress ? [publicAddress] : []), privateDnsName, privateDnsName],
        running: state === 'running' || state === 'pending',
      })),
    buy(name) {
      const subnetId = network.subnetIds[bought++ % zones.length] ?? '';
      void cloud.runInstance({ name, subnetId, securityGroupIds: [network.securityGroupId], tags: world.tags });
    },
    terminate: (name) => void cloud.terminateInstance({ instanceId: idOf(name) }),
    setRunning(name, running) {
      const instanceId = idOf(name);
      void (running ? cloud.startInstance({ instanceId }) : cloud.stopInstance({ instanceId }));
    },
    // An instance keeps its address as long as it lives.
    readdress() {},
    addThingsOfOthers: () => ({ before: others(), remove: others }),
    balancersOf(uid) {
      const name = defaultLoadBalancerName({ metadata: { uid } });
      return [...memory.world.loadBalancers.values()].filter((one) => one.name.endsWith(`-${name}`)).map(({ id }) => id);
    },
    balancerDifferences(services_, hosts) {
      const wanted = services_.map((service) => wantedOf(service, isNetwork(service, allNetwork), hosts));
      return [
        ...compare('load balancers', balancersFound(world), wanted),
        ...compare('pieces', piecesOf(world), piecesWanted(services_, allNetwork)),
      ];
    },
    routes: () =>
      (memory.world.routeTables.get(network.routeTableId)?.routes ?? []).flatMap(({ destination, target }) => {
        if (target.kind !== 'instance') return [];
        const instance = memory.world.instances.get(target.id);
        // To AWS a route to an instance that is only stopped leads nowhere, too.
        return [`${instance?.name} ${destination} ${instance === undefined || !isThere(instance)}`];
      }),
    calls: () => {
      const { counts } = server.faults;
      return { total: server.count(), failed: Object.values(counts).reduce((sum, count) => sum + count, 0) };
    },
    outside: () => wire.quiet(),
    async close() {
      wire.close();
      await server.close();
      await memory.close();
      for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
      Object.assign(process.env, before);
      await rm(world.dir, { recursive: true, force: true });
    },
  };
}
