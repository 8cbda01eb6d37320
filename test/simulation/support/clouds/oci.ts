// Oracle Cloud Infrastructure for the chaos: its provider, over HTTP, on the local server of its APIs.
import type { Service } from '#api/core/v1';
import { noRates } from '#cloud-provider/test-server';
import { seededRng, silentLogger } from '#utils';
import { annotation, nameFor } from '../../../../providers/oci/src/annotations.ts';
import { groupName } from '../../../../providers/oci/src/names.ts';
import { createProvider } from '../../../../providers/oci/src/provider.ts';
import {
  type Account,
  balancerList,
  balancerSubnet,
  compartment,
  nodeList,
  startTestServer,
  type StoredBalancer,
  vcn,
} from '../../../../providers/oci/test-server/index.ts';
import { configFor } from '../../../../providers/oci/test-server/world.ts';
import { type ChaosCloud, type ChaosCloudOptions, compare } from '../chaos-cloud.ts';
import { watchWire } from '../on-the-wire.ts';

/** With retries of its own a provider meets fewer failures; a fifth of all requests fails. */
const rates = {
  ...noRates,
  error: 0.1,
  throttle: 0.04,
  lostAnswer: 0.03,
  drop: 0.02,
  conflict: 0.03,
  lateFailure: 0.02,
  throttleSeconds: 2,
  latencyMs: 20,
  latencyJitterMs: 300,
  lagMs: 1_000,
  operationMs: 4_000,
};
const theirs = 'theirs';
const policy = nameFor('lb', 'policy');
const domains = ['Uocm:PHX-AD-1', 'Uocm:PHX-AD-2', 'Uocm:PHX-AD-3'];

const isThere = ({ lifecycleState, displayName }: StoredBalancer): boolean =>
  lifecycleState !== 'DELETED' && displayName !== theirs;
const hasGroup = ({ metadata }: Service): boolean => metadata.annotations?.[annotation.ruleMode] === 'NSG';
const rangesOf = ({ spec }: Service): string[] => spec?.loadBalancerSourceRanges ?? ['0.0.0.0/0'];
const healthPortOf = ({ spec }: Service): number =>
  spec?.externalTrafficPolicy === 'Local' ? (spec.healthCheckNodePort ?? 0) : 10_256;

/** Rules are shared: one is too many when nobody uses its port. */
function ruleDifferences(account: Account, services: readonly Service[], hasHosts: boolean): string[] {
  const withLists = services.filter((service) => !hasGroup(service));
  const there = [balancerList, nodeList].flatMap((id) => {
    const { ingressSecurityRules, egressSecurityRules } = account.must('list', id);
    const place = id === balancerList ? 'front' : 'nodes';
    return [
      ...ingressSecurityRules.map((rule) => ({ ...rule, text: `${place} from ${rule.source}` })),
      ...egressSecurityRules.map((rule) => ({ ...rule, text: `${place} to ${rule.destination}` })),
    ]
      .filter(({ description }) => description !== theirs)
      .map(({ text, tcpOptions }) => ({ text, port: tcpOptions?.destinationPortRange?.min ?? 0 }));
  });
  const used = new Set<number>();
  const wanted = withLists.flatMap((service) =>
    (service.spec?.ports ?? []).flatMap(({ port, nodePort = 0 }) => {
      const behind = [nodePort, healthPortOf(service)];
      for (const one of [port, ...behind]) used.add(one);
      const inner = behind.flatMap((one) => [`front to 10.0.10.0/16 ${one}`, `nodes from 10.1.20.0/24 ${one}`]);
      return [...rangesOf(service).map((cidr) => `front from ${cidr} ${port}`), ...(hasHosts ? inner : [])];
    }),
  );
  for (const service of services) for (const { port } of service.spec?.ports ?? []) used.add(port);
  const found = new Set(there.map(({ text, port }) => `${text} ${port}`));
  return [
    ...wanted.filter((rule) => !found.has(rule)).map((rule) => `rule missing: ${rule}`),
    ...there.filter(({ port }) => !used.has(port)).map(({ text, port }) => `rule left over: ${text} ${port}`),
  ];
}

function balancerDifferences(
  account: Account,
  nameAt: (address: string) => string,
  services: readonly Service[],
  hosts: readonly string[],
): string[] {
  const wanted = services.map((service) => ({
    name: service.metadata.uid ?? '',
    address: service.status?.loadBalancer?.ingress?.[0]?.ip,
    group: hasGroup(service),
    policy: service.metadata.annotations?.[policy] ?? 'ROUND_ROBIN',
    // Without nodes a backend set does not say which node port it was for.
    ports: (service.spec?.ports ?? []).map(({ port, nodePort }) => `${port} ${hosts.length > 0 ? nodePort : ''}`).sort(),
    health: healthPortOf(service),
    hosts,
  }));
  const found = account
    .of('balancer')
    .filter(isThere)
    .map((balancer) => {
      const sets = Object.values(balancer.backendSets);
      const names = sets.map(({ backends }) => backends.map(({ ipAddress = '' }) => nameAt(ipAddress)).sort());
      return {
        name: balancer.displayName,
        address: balancer.ipAddresses[0]?.ipAddress,
        group: balancer.networkSecurityGroupIds.length > 0,
        policy: [...new Set(sets.map((set) => set.policy))].join(),
        ports: Object.values(balancer.listeners)
          .map(
            ({ port, defaultBackendSetName }) =>
              `${port} ${balancer.backendSets[defaultBackendSetName]?.backends[0]?.port ?? ''}`,
          )
          .sort(),
        health: sets[0]?.healthChecker.port,
        hosts: names.every((some) => some.join() === hosts.join()) ? hosts : names,
      };
    });
  const groups = account
    .of('group')
    .map(({ displayName }) => displayName)
    .filter((name) => name !== theirs);
  return [
    ...compare('load balancers', found, wanted),
    ...compare('groups', groups, services.filter(hasGroup).map(groupName)),
    ...ruleDifferences(account, services, hosts.length > 0),
  ];
}

/** A load balancer, a rule and a group. */
function addThingsOfOthers(account: Account) {
  const id = account.id('loadbalancer');
  const empty = { listeners: {}, backendSets: {}, certificates: {}, ruleSets: {}, ipAddresses: [], networkSecurityGroupIds: [] };
  const place = { compartmentId: compartment, subnetIds: [balancerSubnet], isPrivate: true, timeCreated: account.time() };
  account.put('balancer', { ...empty, ...place, id, kind: 'lb', displayName: theirs, lifecycleState: 'ACTIVE', creation: '' });
  const group = account.id('networksecuritygroup');
  account.put('group', {
    id: group,
    compartmentId: compartment,
    vcnId: vcn,
    displayName: theirs,
    lifecycleState: 'AVAILABLE',
    etag: '1',
  });
  const list = account.must('list', balancerList);
  const range = { destinationPortRange: { min: 80, max: 80 } };
  const rule = { protocol: '6', isStateless: false, source: '192.0.2.0/24', tcpOptions: range, description: theirs };
  account.put('list', { ...list, ingressSecurityRules: [...list.ingressSecurityRules, rule] });
  const rules = () => account.must('list', balancerList).ingressSecurityRules.filter(({ description }) => description === theirs);
  const now = (): unknown => structuredClone([account.get('balancer', id), account.get('group', group), rules()]);
  const before = now();
  return {
    before,
    remove() {
      const after = now();
      account.delete('balancer', id);
      account.delete('group', group);
      return after;
    },
  };
}

export async function ociChaosCloud({ clock, seed }: ChaosCloudOptions): Promise<ChaosCloud> {
  const server = await startTestServer({ clock, rng: seededRng(seed) });
  const { account } = server;
  const wire = watchWire(server);
  const rng = seededRng(seed + 1);
  let bought = 0;
  /** Backends are known by their addresses, also by those that they had before. */
  const names = new Map<string, string>();
  const vnicOf = (id: string) => {
    const attachment = account.of('attachment').find(({ instanceId }) => instanceId === id);
    return account.get('vnic', attachment?.vnicId ?? '');
  };
  return {
    providerName: 'oci',
    mixedProtocols: false,
    lacks: ['routes', 'affinity', 'UDP'],
    annotations: [{ [policy]: 'IP_HASH' }, { [policy]: null }, { [annotation.ruleMode]: 'NSG' }, { [annotation.ruleMode]: null }],
    async open() {
      const door = await server.openDoor();
      const config = { ...configFor(server), endpoint: door.url };
      const context = { config, configDir: '/', clock, rng: seededRng(rng.int(1e9)), logger: silentLogger };
      return { cloud: await createProvider(context, {}), kill: () => void door.close() };
    },
    startFaults: () => void (server.faults.rates = { ...rates }),
    stopFaults: () => void (server.faults.rates = { ...noRates }),
    machines: () =>
      account.of('instance').map(({ id, displayName = '', shape, availabilityDomain, lifecycleState }) => ({
        name: displayName,
        id: `oci://${id}`,
        type: shape,
        zone: availabilityDomain.split(':')[1] ?? '',
        addresses: [vnicOf(id)?.privateIp ?? ''],
        running: lifecycleState === 'RUNNING',
      })),
    buy(name) {
      const { privateIp } = account.addInstance(name, { availabilityDomain: domains[bought++ % domains.length] ?? '' });
      names.set(privateIp, name);
    },
    terminate: (name) => account.removeInstance(name),
    setRunning: (name, running) => account.setState(name, running ? 'RUNNING' : 'STOPPED'),
    readdress(name, address) {
      const vnic = vnicOf(account.instanceNamed(name).id);
      if (vnic) account.put('vnic', { ...vnic, privateIp: address });
      names.set(address, name);
    },
    addThingsOfOthers: () => addThingsOfOthers(account),
    balancersOf: (uid) =>
      account
        .of('balancer')
        .filter((one) => isThere(one) && one.displayName.endsWith(uid))
        .map(({ id }) => id),
    balancerDifferences: (services, hosts) =>
      balancerDifferences(account, (address) => names.get(address) ?? address, services, hosts),
    routes: () => [],
    calls: () => {
      const { counts } = server.faults;
      return { total: server.count(), failed: Object.values(counts).reduce((sum, count) => sum + count, 0) };
    },
    outside: () => wire.quiet(),
    async close() {
      wire.close();
      await server.close();
    },
  };
}
