// A provider over the test server, and a clock that only a test moves.
import type {
  Clock,
  CloudClient,
  CloudProvider,
  Logger,
  LoadBalancer,
  Node,
  ProviderMetrics,
  Service,
} from 'sagong/cloud-provider';
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
  /** How many sleep. */
  sleeping(): number;
}

export function testClock(startMs = 1_700_000_000_000): TestClock {
  let nowMs = startMs;
  let timers: { atMs: number; fire: () => void }[] = [];
  let sleepers = 0;
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
        sleepers += 1;
        const wake = (then: () => void) => {
          sleepers -= 1;
          signal?.removeEventListener('abort', onAbort);
          then();
        };
        const timer = set(delayMs, () => wake(resolve));
        const onAbort = () => {
          timer.cancel();
          wake(() => reject(signal?.reason as Error));
        };
        signal?.addEventListener('abort', onAbort, { once: true });
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
    sleeping: () => sleepers,
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

/** What the work comes to, while time goes by for as long as it takes: the waits between its tries. */
export async function afterTries<T>(clock: TestClock, work: Promise<T>): Promise<T> {
  let isOver = false;
  const over = () => (isOver = true);
  work.then(over, over);
  await eventually(
    () => {
      if (!isOver) throw new Error('the work has not ended');
    },
    () => clock.advance(1_000),
  );
  return work;
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

export interface TestWorld<Time extends Clock = TestClock> {
  server: TestServer;
  clock: Time;
  /** Another provider over the same account. */
  open(config?: Partial<Config>, metrics?: ProviderMetrics): Promise<CloudProvider>;
  close(): Promise<void>;
}

export const openWorld = (env: Readonly<Record<string, string>> = {}): Promise<TestWorld> => openWorldAt(testClock(), env);

export async function openWorldAt<Time extends Clock>(
  clock: Time,
  env: Readonly<Record<string, string>> = {},
): Promise<TestWorld<Time>> {
  const perHour = 1_000_000;
  const server = await startTestServer({ now: () => clock.now(), rateLimits: { perHour, perMinute: perHour } });
  return {
    server,
    clock,
    open: (config = {}, metrics = undefined) =>
      createCloud(
        settingsFrom(
          { metadataURL: server.url, accessToken: server.token, apiURL: `${server.url}/`, region: 'nyc3', ...config },
          env,
        ),
        { clock, logger: silent, ...(metrics && { metrics }) },
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
