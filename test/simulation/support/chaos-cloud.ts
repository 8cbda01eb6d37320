// What the chaos of a cluster and its cloud needs of a cloud: machines that come and go, faults, and how it differs from what users asked for. The
// cloud in memory is one; that of a vendor, behind its test server, is another.
import type { Node, Service } from '#api/core/v1';
import { keyOf } from '#apimachinery/meta';
import type { CloudProvider } from '#cloud-provider';
import { FakeCloud, fakeProvider, fakeProviderName, noFaults } from '#cloud-provider/fake';
import { seededRng } from '#utils';
import type { VirtualClock } from '#testing';

export interface ChaosMachine {
  name: string;
  /** Its provider ID. */
  id: string;
  type: string;
  /** Absent: the cloud has none. */
  zone?: string;
  addresses: string[];
  running: boolean;
}

export interface ReplicaCloud {
  cloud: CloudProvider;
  /** The process is gone without a word: from now on nothing of it reaches the cloud. */
  kill(): void;
}

export interface ChaosCloud {
  readonly providerName: string;
  /** Whether one Service may have ports of several protocols. */
  readonly mixedProtocols: boolean;
  /** What its load balancers do not do, or its network does not have. Default: it has all. */
  readonly lacks?: readonly ('affinity' | 'UDP' | 'routes' | 'IPv6')[];
  /** Kubelets are started with `--provider-id`; without it a Node is found by its name. */
  readonly kubeletsKnowProviderId?: boolean;
  /** Annotations that users set or remove, each a change of its own. */
  readonly annotations: readonly Readonly<Record<string, string | null>>[];
  /** Finalizers of its own, which only Services with a load balancer may carry. */
  readonly finalizers?: readonly string[];
  /** A provider as one replica of the manager has it. */
  open(): ReplicaCloud | Promise<ReplicaCloud>;
  startFaults(): void;
  stopFaults(): void;
  machines(): ChaosMachine[];
  buy(name: string): void;
  terminate(name: string): void;
  setRunning(name: string, running: boolean): void;
  readdress(name: string, address: string): void;
  /** Things of another cluster; `remove` takes them away and gives them as they are then. */
  addThingsOfOthers(): { before: unknown; remove(): unknown };
  /** Ids of the load balancers that one Service has. */
  balancersOf(uid: string): string[];
  /** How its load balancers differ from what these Services ask for, each as a sentence. */
  balancerDifferences(services: readonly Service[], hosts: readonly string[]): string[];
  /** `<node> <range> <leads nowhere>`. */
  routes(): string[];
  calls(): { total: number; failed: number };
  /** Waits for requests on the wire. Undefined: there are none. */
  outside?(): Promise<void> | undefined;
  close?(): Promise<void>;
}

export interface ChaosCloudOptions {
  clock: VirtualClock;
  seed: number;
}

export function compare(what: string, found: readonly unknown[], wanted: readonly unknown[]): string[] {
  const [a, b] = [found, wanted].map((values) => values.map((value) => JSON.stringify(value)).sort());
  const [has, should] = [new Set(a), new Set(b)];
  return [
    ...[...has].filter((one) => !should.has(one)).map((one) => `${what} too many: ${one}`),
    ...[...should].filter((one) => !has.has(one)).map((one) => `${what} missing: ${one}`),
    ...(a?.length === b?.length ? [] : [`${a?.length} of ${what}, not ${b?.length}`]),
  ];
}

const faults = {
  ...noFaults,
  errorRate: 0.2,
  partialRate: 0.05,
  lostAnswerRate: 0.03,
  throttleRate: 0.05,
  throttleMs: 3_000,
  latencyMs: 20,
  latencyJitterMs: 400,
  stepMs: 150,
  lagMs: 2_000,
};

/** The cloud in memory. */
export function memoryChaosCloud({ clock, seed }: ChaosCloudOptions): ChaosCloud {
  const cloud = new FakeCloud({ clock, rng: seededRng(seed), uniqueNames: false });
  const { balancers, routes, instances, gate } = cloud;
  return {
    providerName: fakeProviderName,
    mixedProtocols: true,
    annotations: [],
    open: () => ({ cloud: fakeProvider(cloud), kill() {} }),
    startFaults: () => void (gate.faults = { ...faults }),
    stopFaults: () => void (gate.faults = { ...noFaults }),
    machines: () =>
      [...instances.values()].map(({ name, id, type, zone, addresses, state }) => ({
        name,
        id: `${fakeProviderName}://${id}`,
        type,
        zone,
        addresses: addresses.map(({ address }) => address),
        running: state === 'running',
      })),
    buy: (name) => void cloud.addInstance(name),
    terminate: (name) => cloud.removeInstance(name),
    setRunning(name, running) {
      const instance = cloud.instanceOf(name);
      if (instance) instance.state = running ? 'running' : 'stopped';
    },
    readdress(name, address) {
      const instance = cloud.instanceOf(name);
      if (instance) instance.addresses = instance.addresses.map((one) => (one.type === 'InternalIP' ? { ...one, address } : one));
    },
    addThingsOfOthers() {
      const balancer = cloud.addBalancer('another-cluster', 'theirs', 'x/y', 'z');
      const route = { name: 'vpn', cluster: 'kubernetes', targetNode: '', targetNodeAddresses: [], createdMs: 0 };
      routes.set('vpn', { ...route, destinationCidr: '192.168.0.0/16' });
      const now = (): unknown => structuredClone([balancers.get(balancer.id), routes.get('vpn')]);
      const before = now();
      return {
        before,
        remove() {
          const after = now();
          balancers.delete(balancer.id);
          routes.delete('vpn');
          return after;
        },
      };
    },
    balancersOf: (uid) => [...balancers.values()].filter(({ serviceUid }) => serviceUid === uid).map(({ id }) => id),
    balancerDifferences(services, hosts) {
      const wanted = services.map(({ metadata, spec, status }) => ({
        service: `${keyOf(metadata)} ${metadata.uid}`,
        ports: (spec?.ports ?? []).map(({ protocol, port, nodePort }) => `${protocol}:${port}:${nodePort ?? 0}`),
        ranges: spec?.loadBalancerSourceRanges ?? ['0.0.0.0/0'],
        affinity: spec?.sessionAffinity,
        healthCheck: spec?.healthCheckNodePort ?? 0,
        address: status?.loadBalancer?.ingress?.[0]?.ip,
        hosts,
      }));
      const found = [...balancers.values()].map((one) => ({
        service: `${one.service} ${one.serviceUid}`,
        ports: one.listeners,
        ranges: one.sourceRanges,
        affinity: one.affinity,
        healthCheck: one.healthCheckNodePort,
        address: one.address,
        hosts: one.backends,
      }));
      return compare('load balancers', found, wanted);
    },
    routes: () => [...routes.values()].map((one) => `${one.targetNode} ${one.destinationCidr} ${one.blackhole ?? false}`),
    calls: () => ({ total: gate.calls.length, failed: gate.calls.filter(({ failed }) => failed !== undefined).length }),
  };
}

/** Nodes that load balancers send to. */
export const hostsOf = (nodes: readonly Node[], excludeLabel: string): string[] =>
  nodes
    .filter(({ metadata }) => !metadata.labels?.[excludeLabel])
    .map(({ metadata }) => metadata.name ?? '')
    .sort();
