// A provider over the test server, and a clock that only a test moves.
import type { Clock, CloudClient, CloudProvider, Logger, LoadBalancer, Node, Service } from 'sagong/cloud-provider';
import { retryAfterOf } from 'sagong/cloud-provider';
import { connectApi } from '../src/api/client.ts';
import { createCloud } from '../src/cloud.ts';
import { type Config, settingsFrom } from '../src/config.ts';
import { startTestServer, type TestServer } from './index.ts';

export const silent: Logger = { error() {}, warn() {}, info() {}, debug() {}, with: () => silent };

/** Reads the SDK, which is large, and makes a first request: the first test must not pay for them. */
export async function readSdk(): Promise<void> {
  const server = await startTestServer();
  const api = await connectApi({ accessToken: server.token, apiUrl: server.url, clock: testClock() });
  await api.regions();
  await server.close();
}
export const sdkTimeoutMs = 60_000;

export interface TestClock extends Clock {
  /** Lets time pass; what is due fires in order. */
  advance(ms: number): void;
  /** Timers that are set. */
  pending(): number;
}

export function testClock(startMs = 1_700_000_000_000): TestClock {
  let nowMs = startMs;
  let timers: { atMs: number; fire: () => void }[] = [];
  const set = (delayMs: number, fire: () => void) => {
    const timer = { atMs: nowMs + Math.max(0, delayMs), fire };
    timers.push(timer);
    return {
      cancel: () => {
        timers = timers.filter((other) => other !== timer);
      },
    };
  };
  return {
    now: () => nowMs,
    monotonic: () => nowMs,
    setTimer: set,
    sleep: (delayMs, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason as Error);
        const timer = set(delayMs, resolve);
        signal?.addEventListener(
          'abort',
          () => {
            timer.cancel();
            reject(signal.reason as Error);
          },
          { once: true },
        );
      }),
    advance(ms) {
      const endMs = nowMs + ms;
      for (;;) {
        const [next] = timers.filter(({ atMs }) => atMs <= endMs).sort((a, b) => a.atMs - b.atMs);
        if (!next) break;
        nowMs = next.atMs;
        timers = timers.filter((timer) => timer !== next);
        next.fire();
      }
      nowMs = endMs;
    },
    pending: () => timers.length,
  };
}

/** Waits for what real sockets bring; rejects with the condition's last error after five seconds. */
export async function eventually(condition: () => unknown, between: () => void = () => {}): Promise<void> {
  const endMs = performance.now() + 5_000;
  for (;;) {
    try {
      await condition();
      return;
    } catch (error) {
      if (performance.now() > endMs) throw error;
    }
    between();
    await new Promise((resolve) => {
      setTimeout(resolve, 5);
    });
  }
}

/** The load balancers as the service controller asks for them: again, for as long as they say so. */
export function settling(inner: LoadBalancer): LoadBalancer {
  const again = async <T>(work: () => Promise<T>, left = 5): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (left === 0 || retryAfterOf(error) === undefined) throw error;
      return again(work, left - 1);
    }
  };
  return {
    getLoadBalancer: (cluster, service, signal) => inner.getLoadBalancer(cluster, service, signal),
    getLoadBalancerName: (cluster, service) => inner.getLoadBalancerName(cluster, service),
    ensureLoadBalancer: (cluster, service, nodes, signal) =>
      again(() => inner.ensureLoadBalancer(cluster, service, nodes, signal)),
    updateLoadBalancer: (cluster, service, nodes, signal) =>
      again(() => inner.updateLoadBalancer(cluster, service, nodes, signal)),
    ensureLoadBalancerDeleted: (cluster, service, signal) => inner.ensureLoadBalancerDeleted(cluster, service, signal),
  };
}

export interface TestWorld {
  server: TestServer;
  clock: TestClock;
  /** Another provider over the same account. */
  open(config?: Partial<Config>): Promise<CloudProvider>;
  close(): Promise<void>;
}

export async function openWorld(env: Readonly<Record<string, string>> = {}, perHour = 1_000_000): Promise<TestWorld> {
  const clock = testClock();
  const server = await startTestServer({ now: () => clock.now(), rateLimits: { perHour, perMinute: perHour } });
  return {
    server,
    clock,
    open: (config = {}) =>
      createCloud(
        settingsFrom(
          { metadataURL: server.url, accessToken: server.token, apiURL: `${server.url}/`, region: 'nyc3', ...config },
          env,
        ),
        { clock, logger: silent },
      ),
    close: () => server.close(),
  };
}

/** A cluster that holds Services and takes patches and events: what `initialize` is given. */
export interface TestCluster {
  services: Map<string, Service>;
  events: { reason?: string; message?: string }[];
  patches: unknown[];
  /** Fails every patch while it is set. */
  refusePatches: boolean;
  client(name: string): CloudClient;
}

export function testCluster(...services: Service[]): TestCluster {
  const cluster: TestCluster = {
    services: new Map(services.map((service) => [service.metadata.name ?? '', service])),
    events: [],
    patches: [],
    refusePatches: false,
    client: () => client,
  };
  const none = (): Promise<never> => Promise.reject(new Error('not needed'));
  const client: CloudClient = {
    resource: (resource) => ({
      get: none,
      update: none,
      list: () => Promise.resolve({ items: [...cluster.services.values()] as never[] }),
      create(object) {
        if (resource.resource === 'events') cluster.events.push(object as never);
        return Promise.resolve(object);
      },
    }),
    transport: {
      call(call) {
        if (cluster.refusePatches || !call.patch) return Promise.reject(new Error('services is forbidden'));
        const { metadata } = call.patch.body as { metadata: { annotations: Record<string, string> } };
        const service = cluster.services.get(call.name ?? '');
        if (service)
          cluster.services.set(call.name ?? '', {
            ...service,
            metadata: { ...service.metadata, annotations: { ...service.metadata.annotations, ...metadata.annotations } },
          });
        cluster.patches.push({ type: call.patch.type, path: `${call.namespace}/${call.name}`, ...metadata });
        return Promise.resolve({} as never);
      },
      watch: none,
      raw: none,
      close() {},
    },
  };
  return cluster;
}

/** A Service of type LoadBalancer with one port. */
export const serviceWith = (annotations: Record<string, string> = {}, spec: Partial<Service['spec']> = {}): Service => ({
  metadata: { name: 'web', namespace: 'default', uid: '5a0c5d2e-1111-4222-8333-944445555666', annotations },
  spec: {
    type: 'LoadBalancer',
    externalTrafficPolicy: 'Cluster',
    ports: [{ name: 'http', protocol: 'TCP', port: 80, nodePort: 30_080 }],
    ...spec,
  },
  status: { loadBalancer: {} },
});

export const nodeWith = (name: string, addresses: Record<string, string>, providerID = ''): Node => ({
  metadata: { name },
  spec: { ...(providerID && { providerID }) },
  status: { addresses: Object.entries(addresses).map(([address, type]) => ({ type, address })) },
});
