// Linode for the chaos: its provider, over HTTP, on the local server of its API, with nodes in a VPC.
import type { Service } from '#api/core/v1';
import { noRates } from '#cloud-provider/test-server';
import { seededRng, silentLogger } from '#utils';
import { prefix } from '../../../../providers/linode/src/annotations.ts';
import { balancerLabel, serviceTag } from '../../../../providers/linode/src/names.ts';
import { createProvider } from '../../../../providers/linode/src/provider.ts';
import { Configs } from '../../../../providers/linode/src/emulator/configs.ts';
import { region, startTestServer, type TestServer } from '../../../../providers/linode/test-server/index.ts';
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
  throttleSeconds: 2,
  latencyMs: 20,
  latencyJitterMs: 300,
  lagMs: 1_000,
};
/** On things of another cluster. */
const theirs = 'of-others';
const vpcName = 'k8s';
const throttle = `${prefix}throttle`;
const checkType = `${prefix}check-type`;

const isSticky = ({ spec }: Service): boolean => spec?.sessionAffinity === 'ClientIP';

/** What a Service asks of each port, as `TCP 80 30001 roundrobin`. */
const portsWanted = (service: Service): string[] =>
  (service.spec?.ports ?? []).map(({ protocol, port, nodePort }) => {
    const isUdp = protocol === 'UDP';
    const affinity = isUdp ? (isSticky(service) ? 'source_ip' : 'session') : isSticky(service) ? 'source' : 'roundrobin';
    const check = service.metadata.annotations?.[checkType] ?? (isUdp ? 'none' : 'connection');
    return [protocol, port, nodePort, affinity, check].join(' ');
  });

function balancerDifferences({ account }: TestServer, services: readonly Service[], hosts: readonly string[]): string[] {
  const configs = new Configs(account);
  const balancers = account.of('balancer').filter(({ tags }) => !tags.includes(theirs));
  const firewalls = account.of('firewall').filter(({ tags }) => !tags.includes(theirs));
  const wanted = services.map((service) => ({
    label: balancerLabel('ccm', service),
    isTagged: true,
    address: service.status?.loadBalancer?.ingress?.[0]?.ip,
    throttle: Number(service.metadata.annotations?.[throttle] ?? 0),
    // Without nodes a config does not say which node port it was for.
    ports: portsWanted(service)
      .map((port) => (hosts.length > 0 ? port : port.replace(/^(\w+ \d+) \d+/, '$1 ')))
      .sort(),
    ranges: service.spec?.loadBalancerSourceRanges ?? [],
    hosts,
  }));
  const found = balancers.map(({ id, label, tags, ipv4, client_conn_throttle }) => {
    const own = configs.of(id);
    const nodes = own.map((config) => configs.nodesOf(config.id));
    const attached = account.of('device').filter(({ balancer }) => balancer === id);
    const rules = attached.flatMap(({ firewall }) => account.get('firewall', firewall)?.rules.inbound ?? []);
    const names = nodes.map((some) => some.map((node) => node.label).sort());
    return {
      label,
      isTagged: services.some((service) => balancerLabel('ccm', service) === label && tags.includes(serviceTag(service))),
      address: ipv4,
      throttle: client_conn_throttle,
      ports: own
        .map(({ protocol, port, algorithm, stickiness, check }, index) => {
          const nodePort = nodes[index]?.[0]?.address.split(':').at(-1) ?? '';
          return [protocol.toUpperCase(), port, nodePort, protocol === 'udp' ? stickiness : algorithm, check].join(' ');
        })
        .sort(),
      ranges: [...new Set(rules.flatMap(({ addresses }) => addresses.ipv4 ?? []))],
      hosts: names.every((some) => some.join() === hosts.join()) ? hosts : names,
    };
  });
  const guarded = services.filter(({ spec }) => spec?.loadBalancerSourceRanges?.length);
  return [
    ...compare('load balancers', found, wanted),
    ...compare(
      'firewalls',
      firewalls.map(({ label }) => label),
      guarded.map((service) => balancerLabel('ccm', service)),
    ),
  ];
}

function routesOf({ account }: TestServer): string[] {
  return account.of('interface').flatMap(({ linode, ranges, ipv6Ranges }) => {
    const { label = '', tags = [] } = account.get('linode', linode) ?? {};
    return tags.includes(theirs) ? [] : [...ranges, ...ipv6Ranges].map((range) => `${label} ${range} false`);
  });
}

/** A NodeBalancer, a firewall, and a Linode with a range in the same VPC. */
function addThingsOfOthers({ account }: TestServer, subnet: number) {
  const linode = account.addLinode('theirs', region, { subnet, tags: [theirs] });
  const { id: at } = account.of('interface').find((one) => one.linode === linode.id) ?? { id: 0 };
  account.put('interface', { ...account.must('interface', at), ranges: ['10.244.200.0/24'] });
  const id = account.id();
  const address = { hostname: 'theirs.example', ipv4: '172.234.250.1', ipv6: null };
  const rules = { inbound: [], inbound_policy: 'DROP' as const, outbound: [], outbound_policy: 'ACCEPT' as const };
  account.put('balancer', { id, label: 'theirs', region, ...address, client_conn_throttle: 3, tags: [theirs], vpcs: [] });
  account.put('firewall', { id, label: 'theirs', tags: [theirs], rules, status: 'enabled' });
  const now = (): unknown =>
    structuredClone([account.get('balancer', id), account.get('firewall', id), account.get('interface', at)]);
  const before = now();
  return {
    before,
    remove() {
      const after = now();
      account.delete('balancer', id);
      account.delete('firewall', id);
      account.removeLinode('theirs');
      return after;
    },
  };
}

export async function linodeChaosCloud({ clock, seed }: ChaosCloudOptions): Promise<ChaosCloud> {
  const server = await startTestServer({ clock, rng: seededRng(seed) });
  const { account } = server;
  const wire = watchWire(server);
  const rng = seededRng(seed + 1);
  const subnet = account.addSubnet(account.addVpc(vpcName, region).id, 'default', '10.9.0.0/16', 'fd00:10:244::/48').id;
  const flags = { vpcNames: [vpcName], routeController: true };
  return {
    providerName: 'linode',
    mixedProtocols: true,
    annotations: [{ [throttle]: '7' }, { [throttle]: null }, { [checkType]: 'none' }, { [checkType]: null }],
    async open() {
      const door = await server.openDoor();
      const env = { LINODE_API_TOKEN: server.token, LINODE_REGION: region, LINODE_URL: door.url };
      const context = { config: {}, configDir: '/', clock, rng: seededRng(rng.int(1e9)), logger: silentLogger, flags };
      return { cloud: await createProvider(context, env), kill: () => void door.close() };
    },
    startFaults: () => void (server.faults.rates = { ...rates }),
    stopFaults: () => void (server.faults.rates = { ...noRates }),
    machines: () =>
      account
        .of('linode')
        .filter(({ tags }) => !tags.includes(theirs))
        .map(({ id, label, type, ipv4, ipv6, status }) => {
          const { address = '', slaac = [] } = account.of('interface').find((one) => one.linode === id) ?? {};
          return {
            name: label,
            id: `linode://${id}`,
            type: type ?? '',
            addresses: [label, address, ...ipv4, ...slaac, ipv6?.split('/')[0] ?? ''],
            running: status === 'running',
          };
        }),
    buy: (name) => void account.addLinode(name, region, { subnet, generation: rng.int(2) ? 'linode' : 'legacy_config' }),
    terminate: (name) => account.removeLinode(name),
    setRunning: (name, running) => account.setStatus(name, running ? 'running' : 'offline'),
    readdress(name, address) {
      const id = account.linodeNamed(name)?.id;
      const there = account.of('interface').find(({ linode }) => linode === id);
      if (there) account.put('interface', { ...there, address });
    },
    addThingsOfOthers: () => addThingsOfOthers(server, subnet),
    balancersOf: (uid) => {
      const service = { metadata: { uid } };
      const isIts = (one: { label: string; tags: string[] }): boolean =>
        one.label === balancerLabel('ccm', service) || one.tags.includes(serviceTag(service));
      return account.of('balancer').flatMap((one) => (isIts(one) ? [String(one.id)] : []));
    },
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
