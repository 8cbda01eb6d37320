// Google Cloud for the chaos: its provider, over HTTP, on the local server of its API.
import type { Service } from '#api/core/v1';
import { defaultLoadBalancerName } from '#cloud-provider';
import { noRates } from '#cloud-provider/test-server';
import { seededRng, silentLogger } from '#utils';
import { annotation, isInternal } from '../../../../providers/gcp/src/annotations.ts';
import { createProvider } from '../../../../providers/gcp/src/provider.ts';
import { backendsOf, leftoversOf, listenersOf } from '../../../../providers/gcp/test-server/conformance-world.ts';
import {
  nameIn,
  pathIn,
  project,
  type Resource,
  region,
  startTestServer,
  type TestServer,
  zones,
} from '../../../../providers/gcp/test-server/index.ts';
import { defaultConfig } from '../../../../providers/gcp/test-server/world.ts';
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
const finalizers = ['gke.networking.io/l4-netlb-v1', 'gke.networking.io/l4-ilb-v1'];

/** Pieces of a load balancer that are its own, and those that it shares with others. */
function piecesOf(service: Service, hasHosts: boolean): { own: string[]; shared: RegExp[] } {
  const name = defaultLoadBalancerName(service);
  const isLocal = service.spec?.externalTrafficPolicy === 'Local';
  const firewall = hasHosts ? [`firewall k8s-fw-${name}`] : [];
  const own = [`forwardingRule ${name}`, ...firewall];
  if (isInternal(service)) {
    own.push(`backendService ${name}`, ...(isLocal ? [`healthCheck ${name}`, `firewall ${name}-hc`] : []));
    return { own, shared: [/^(healthCheck|firewall) k8s-[0-9a-f]+-node(-hc)?$/, /^instanceGroup /] };
  }
  own.push(`targetPool ${name}`, ...(isLocal ? [`httpHealthCheck ${name}`, `firewall k8s-${name}-http-hc`] : []));
  return { own, shared: [/^(httpHealthCheck|firewall) k8s-[0-9a-f]+-node(-http-hc)?$/] };
}

function balancerDifferences(server: TestServer, services: readonly Service[], hosts: readonly string[]): string[] {
  const { projects } = server;
  const ruleOf = (name: string): Resource | undefined => projects.of('forwardingRule').find((rule) => rule.name === name);
  const firewallOf = (name: string): Resource | undefined => projects.of('firewall').find((one) => one.name === `k8s-fw-${name}`);
  const poolOf = (rule: Resource | undefined) => projects.get(pathIn(rule?.['target'] ?? rule?.['backendService'], project));
  const shown = services.map((service) => {
    const { metadata, spec, status } = service;
    const name = defaultLoadBalancerName(service);
    const rule = ruleOf(name);
    const [check] = (poolOf(rule)?.['healthChecks'] as string[] | undefined) ?? [];
    const wanted = {
      service: metadata.name,
      scheme: isInternal(service) ? 'INTERNAL' : 'EXTERNAL',
      address: status?.loadBalancer?.ingress?.[0]?.ip,
      ports: (spec?.ports ?? []).map(({ protocol, port }) => `${protocol} ${port}`).sort(),
      ranges: (spec?.loadBalancerSourceRanges ?? ['0.0.0.0/0']).toSorted(),
      affinity: spec?.sessionAffinity === 'ClientIP' ? 'CLIENT_IP' : 'NONE',
      asked: spec?.healthCheckNodePort ?? 10_256,
      hosts,
    };
    const found = {
      service: metadata.name,
      scheme: rule?.['loadBalancingScheme'],
      address: rule?.['IPAddress'],
      ports: listenersOf(server, name).sort(),
      ranges: ((firewallOf(name)?.['sourceRanges'] as string[] | undefined) ?? []).toSorted(),
      affinity: poolOf(rule)?.['sessionAffinity'],
      asked: portOf(projects.get(pathIn(check, project))),
      hosts: backendsOf(server, name).sort(),
    };
    return { wanted, found };
  });
  const pieces = services.map((service) => piecesOf(service, hosts.length > 0));
  const shared = pieces.flatMap((piece) => piece.shared);
  const expected = new Set(pieces.flatMap(({ own }) => own));
  const there = leftoversOf(server).map(({ kind, name }) => `${kind.replace('compute#', '')} ${name}`);
  return [
    ...compare(
      'load balancers',
      shown.map(({ found }) => found),
      shown.map(({ wanted }) => wanted),
    ),
    ...there
      .filter((piece) => !expected.has(piece) && !shared.some((pattern) => pattern.test(piece)))
      .map((piece) => `left over: ${piece}`),
    ...[...expected].filter((piece) => !there.includes(piece)).map((piece) => `missing: ${piece}`),
  ];
}

/** The port that a health check asks, of either kind. */
const portOf = (check: Resource | undefined): unknown =>
  check?.['port'] ?? (check?.['httpHealthCheck'] as { port?: number } | undefined)?.port;

const routeShown = ({ projects }: TestServer, route: Resource): string => {
  const hop = route['nextHopInstance'];
  const isGone = hop !== undefined && projects.get(pathIn(hop, project)) === undefined;
  return `${nameIn(String(hop ?? ''))} ${String(route['destRange'])} ${isGone}`;
};

export async function gcpChaosCloud({ clock, seed }: ChaosCloudOptions): Promise<ChaosCloud> {
  const server = await startTestServer({ clock, rng: seededRng(seed) });
  const { projects } = server;
  const wire = watchWire(server);
  const rng = seededRng(seed + 1);
  let bought = 0;
  const tokens = { headers: () => Promise.resolve({ authorization: `Bearer ${server.token}` }), refused() {} };
  return {
    providerName: 'gce',
    mixedProtocols: false,
    annotations: [
      { [annotation.type]: 'Internal' },
      { [annotation.type]: null },
      { [annotation.type]: 'Internal', [annotation.globalAccess]: 'true' },
    ],
    async open() {
      const door = await server.openDoor();
      const config = { ...defaultConfig, 'api-endpoint': `${door.url}/compute/v1/` };
      const context = { config, configDir: '/', clock, rng: seededRng(rng.int(1e9)), logger: silentLogger };
      return { cloud: await createProvider(context, { tokens }), kill: () => void door.close() };
    },
    startFaults: () => void (server.faults.rates = { ...rates }),
    stopFaults: () => void (server.faults.rates = { ...noRates }),
    machines: () =>
      projects.of('instance').map((instance) => {
        const zone = nameIn(String(instance.zone));
        const [card] = instance['networkInterfaces'] as { networkIP: string; accessConfigs: { natIP: string }[] }[];
        return {
          name: instance.name,
          id: `gce://${project}/${zone}/${instance.name}`,
          type: nameIn(String(instance['machineType'])),
          zone,
          addresses: [card?.networkIP ?? '', card?.accessConfigs[0]?.natIP ?? ''],
          running: instance['status'] === 'RUNNING',
        };
      }),
    // A name that comes back is in another zone, so that the old provider ID leads nowhere.
    buy: (name) => void projects.addInstance(project, zones[bought++ % zones.length] as string, name, { tags: ['nodes'] }),
    terminate: (name) => projects.removeInstance(name),
    setRunning: (name, running) => projects.setStatus(name, running ? 'RUNNING' : 'TERMINATED'),
    readdress(name, networkIP) {
      const instance = projects.instanceNamed(name);
      const [card] = (instance?.['networkInterfaces'] as object[] | undefined) ?? [];
      if (instance)
        projects.resources.set(pathIn(instance.selfLink, project), { ...instance, networkInterfaces: [{ ...card, networkIP }] });
    },
    addThingsOfOthers() {
      const paths = [`projects/${project}/regions/${region}/targetPools/theirs`, `projects/${project}/global/routes/vpn`];
      projects.put(paths[0] as string, 'targetPool', { instances: [], healthChecks: [] });
      projects.put(paths[1] as string, 'route', { destRange: '192.168.0.0/16', description: 'theirs' });
      const now = (): unknown => structuredClone(paths.map((path) => projects.get(path)));
      const before = now();
      return {
        before,
        remove() {
          const after = now();
          for (const path of paths) projects.resources.delete(path);
          return after;
        },
      };
    },
    balancersOf: (uid) =>
      projects
        .of('forwardingRule')
        .filter(({ name }) => name === defaultLoadBalancerName({ metadata: { uid } }))
        .map(({ selfLink }) => selfLink),
    balancerDifferences: (services, hosts) => balancerDifferences(server, services, hosts),
    finalizers,
    routes: () => projects.of('route').map((route) => routeShown(server, route)),
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
