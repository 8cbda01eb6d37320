// Azure for the chaos: its provider, over HTTP, on the local server of Azure Resource Manager, with nodes in a scale set.
import type { Service } from '#api/core/v1';
import { noRates } from '#cloud-provider/test-server';
import { seededRng, silentLogger } from '#utils';
import { annotation, prefix } from '../../../../providers/azure/src/load-balancer/annotations.ts';
import { isInternal } from '../../../../providers/azure/src/load-balancer/plan.ts';
import { ownsPiece, publicIpName } from '../../../../providers/azure/src/names.ts';
import { backendsOf, balancersIn, listenersOf } from '../../../../providers/azure/test-server/conformance-world.ts';
import { group, location, startTestServer, type TestServer } from '../../../../providers/azure/test-server/index.ts';
import { type Part, partsOf, type Resource } from '../../../../providers/azure/src/emulator/resource.ts';
import { openProvider } from '../../../../providers/azure/test-server/world.ts';
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
  operationMs: 2_000,
};
const cluster = 'kubernetes';
const scaleSet = 'workers';
const members = 'Microsoft.Compute/virtualMachineScaleSets/virtualMachines';
const isTheirs = (name: string | undefined): boolean => name?.startsWith('theirs') ?? false;
const field = (part: Part | Resource | undefined, name: string): unknown => part?.properties?.[name];

/** Each as `Allow Tcp 80 from Internet`, for an address. */
function securityOf({ subscription }: TestServer, address: unknown): string[] {
  const groups = subscription.of('Microsoft.Network/networkSecurityGroups');
  const both = (rule: Part, one: string, many: string): string[] =>
    [field(rule, one), ...((field(rule, many) as string[] | undefined) ?? [])].flatMap((value) => (value ? [String(value)] : []));
  return groups
    .flatMap((one) => partsOf(one, 'securityRules'))
    .filter((rule) => both(rule, 'destinationAddressPrefix', 'destinationAddressPrefixes').includes(String(address)))
    .flatMap((rule) =>
      both(rule, 'destinationPortRange', 'destinationPortRanges').map((port) => {
        const sources = both(rule, 'sourceAddressPrefix', 'sourceAddressPrefixes').sort().join();
        return `${String(field(rule, 'access'))} ${String(field(rule, 'protocol'))} ${port} from ${sources}`;
      }),
    )
    .sort();
}

/** Who is let in. Load balancers inside are open to their network without a rule. */
function securityWanted(service: Service): string[] {
  const ranges = service.spec?.loadBalancerSourceRanges ?? [];
  const sources = ranges.length > 0 ? ranges : ['Internet'];
  if (ranges.length === 0 && isInternal(service)) return [];
  const protocols: Readonly<Record<string, string>> = { TCP: 'Tcp', UDP: 'Udp' };
  return (service.spec?.ports ?? [])
    .map(({ protocol = 'TCP', port }) => `Allow ${protocols[protocol]} ${port} from ${sources.toSorted().join()}`)
    .sort();
}

function balancerDifferences(server: TestServer, services: readonly Service[], hosts: readonly string[]): string[] {
  const { subscription } = server;
  const shown = services.map((service) => {
    const internal = isInternal(service);
    const name = internal ? `${cluster}-internal` : cluster;
    const frontends = balancersIn(server).flatMap((balancer) =>
      partsOf(balancer, 'frontendIPConfigurations')
        .filter((part) => ownsPiece(service, part.name))
        .map((part) => ({ part, balancer })),
    );
    const [{ part, balancer } = {}] = frontends;
    const rules = partsOf(balancer, 'loadBalancingRules').filter((rule) => ownsPiece(service, rule.name));
    const ip = subscription.get((field(part, 'publicIPAddress') as { id: string } | undefined)?.id ?? '');
    const address = field(part, 'privateIPAddress') ?? field(ip, 'ipAddress');
    const probes = partsOf(balancer, 'probes').filter((probe) => ownsPiece(service, probe.name));
    const isLocal = service.spec?.externalTrafficPolicy === 'Local';
    const tcp = (service.spec?.ports ?? []).filter(({ protocol = 'TCP' }) => protocol === 'TCP');
    const wanted = {
      service: service.metadata.name,
      on: [name],
      address: service.status?.loadBalancer?.ingress?.[0]?.ip,
      ports: (service.spec?.ports ?? []).map(({ protocol, port }) => `${protocol} ${port}`).sort(),
      affinity: [service.spec?.sessionAffinity === 'ClientIP' ? 'SourceIP' : 'Default'],
      asked: (isLocal ? [service.spec?.healthCheckNodePort] : tcp.map(({ nodePort }) => nodePort)).map(Number).sort(),
      security: securityWanted(service),
      hosts,
    };
    const found = {
      service: service.metadata.name,
      on: frontends.map((one) => one.balancer.name),
      address,
      ports: listenersOf(server, service).sort(),
      affinity: [...new Set(rules.map((rule) => field(rule, 'loadDistribution')))],
      asked: probes.map((probe) => Number(field(probe, 'port'))).sort(),
      security: securityOf(server, address),
      hosts: backendsOf(server, service).sort(),
    };
    return { wanted, found };
  });
  const ips = subscription.of('Microsoft.Network/publicIPAddresses').map(({ name }) => name);
  const publicNames = services
    .filter((service) => !isInternal(service))
    .map((service) => publicIpName(cluster, service, 'IPv4', undefined));
  const pieces = balancersIn(server).flatMap((balancer) =>
    ['frontendIPConfigurations', 'loadBalancingRules', 'probes'].flatMap((list) =>
      partsOf(balancer, list).map(({ name }) => `${list} ${name}`),
    ),
  );
  const isOwned = (piece: string): boolean => services.some((service) => ownsPiece(service, piece.split(' ')[1]));
  return [
    ...compare(
      'load balancers',
      shown.map(({ found }) => found),
      shown.map(({ wanted }) => wanted),
    ),
    ...compare(
      'public IPs',
      ips.filter((name) => !isTheirs(name)),
      publicNames,
    ),
    ...pieces.filter((piece) => !isOwned(piece) && !isTheirs(piece.split(' ')[1])).map((piece) => `left over: ${piece}`),
  ];
}

function routesOf({ subscription }: TestServer): string[] {
  const tables = subscription.of('Microsoft.Network/routeTables');
  return tables
    .flatMap((table) => partsOf(table, 'routes'))
    .filter(({ name }) => !isTheirs(name))
    .map((route) => `${route.name?.split('____')[0]} ${String(field(route, 'addressPrefix'))} false`);
}

/** A public IP, and a rule that lets somebody in. */
function addThingsOfOthers({ subscription }: TestServer) {
  const ip = subscription.addPublicIp(group, 'theirs', location).id;
  const table = subscription.addSecurityGroup(group, 'theirs-nsg', location).id;
  const now = (): unknown => structuredClone([subscription.get(ip), subscription.get(table)]);
  const before = now();
  return {
    before,
    remove() {
      const after = now();
      subscription.delete(ip);
      subscription.delete(table);
      return after;
    },
  };
}

export async function azureChaosCloud({ clock, seed }: ChaosCloudOptions): Promise<ChaosCloud> {
  const server = await startTestServer({ clock, rng: seededRng(seed) });
  const { subscription } = server;
  const wire = watchWire(server);
  const rng = seededRng(seed + 1);
  subscription.addScaleSet(scaleSet, location);
  const cardOf = (machine: Resource): Resource | undefined => subscription.get(`${machine.id}/networkInterfaces/nic`);
  let bought = 0;
  return {
    providerName: 'azure',
    mixedProtocols: true,
    annotations: [
      { [prefix + annotation.internal]: 'true' },
      { [prefix + annotation.internal]: null },
      { [prefix + annotation.idleTimeout]: '9' },
      { [prefix + annotation.idleTimeout]: null },
    ],
    async open() {
      const door = await server.openDoor();
      const cloud = await openProvider(
        server,
        { clock, rng: seededRng(rng.int(1e9)) },
        { url: door.url, config: { vmType: 'vmss', putVMSSVMBatchSize: 4 }, logger: silentLogger },
      );
      return { cloud, kill: () => void door.close() };
    },
    startFaults: () => void (server.faults.rates = { ...rates }),
    stopFaults: () => void (server.faults.rates = { ...noRates }),
    machines: () =>
      subscription.of(members).map((machine) => {
        const name = (machine.properties['osProfile'] as { computerName: string }).computerName;
        return {
          name,
          id: `azure://${machine.id}`,
          type: String(machine.sku?.name),
          zone: `${location}-${machine.zones?.[0]}`,
          addresses: [
            ...partsOf(cardOf(machine), 'ipConfigurations').map((config) => String(field(config, 'privateIPAddress'))),
            name,
          ],
          running: machine.properties['power'] === 'running',
        };
      }),
    buy: (name) => void subscription.addMember(scaleSet, name, location, { zone: String((bought++ % 3) + 1), ipv6: true }),
    terminate: (name) => subscription.removeMachine(name),
    setRunning: (name, running) => subscription.setPower(name, running ? 'running' : 'deallocated'),
    readdress(name, privateIPAddress) {
      const machine = subscription.machineNamed(name);
      const card = machine && cardOf(machine);
      if (!card) return;
      const ipConfigurations = partsOf(card, 'ipConfigurations').map((part, index) =>
        index > 0 ? part : { ...part, properties: { ...part.properties, privateIPAddress } },
      );
      subscription.put({ ...card, properties: { ...card.properties, ipConfigurations } });
    },
    addThingsOfOthers: () => addThingsOfOthers(server),
    balancersOf: (uid) =>
      balancersIn(server).flatMap((balancer) =>
        partsOf(balancer, 'frontendIPConfigurations').flatMap(({ name, id = '' }) =>
          ownsPiece({ metadata: { uid } }, name) ? [id] : [],
        ),
      ),
    balancerDifferences: (services, hosts) => balancerDifferences(server, services, hosts),
    routes: () => routesOf(server),
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
