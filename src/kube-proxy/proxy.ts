// The shell: watches Services, EndpointSlices and the own Node, and brings the rules into the kernel whenever they change.
import type { Node, Service } from '#api/core/v1';
import { splitKey } from '#apimachinery/meta';
import type { EndpointSlice } from '#api/discovery/v1';
import type { EventRecorder, InformerFactory } from '#client';
import type { FlagTexts } from '#component-base';
import type { Clock, Exec, Logger, Timer } from '#utils';
import type { WireServer } from '#wire';
import { clearFlows } from './conntrack.ts';
import { HealthCheckServers, isHealthy, type ProxyHealth, serveHealthz } from './health.ts';
import type { Dataplane, DataplaneOptions, ProxyMode } from './dataplane.ts';
import {
  coalesceMs,
  healthzPort,
  metricsPort as defaultMetricsPort,
  minSyncPeriodMs,
  retryMs,
  rulesOfServiceMax,
  syncPeriodMs,
} from './limits.ts';
import { type ProxyMetrics, proxyMetrics, serveMetrics } from './metrics.ts';
import { kubeProxyFlags } from './flags.ts';
import { isProxiedSlice, serviceKeyOf } from './model.ts';
import { backEnds, removeRulesOfOthers } from './modes.ts';
import { type StaleFlows, Tracker, type TrackerSource } from './tracker.ts';

export interface KubeProxyOptions {
  nodeName: string;
  /** Default iptables. */
  mode?: ProxyMode | undefined;
  /** Traffic from here comes from pods. */
  clusterCidr?: string;
  masqueradeAll?: boolean;
  /** `--iptables-masquerade-bit`, 0 to 31. */
  masqueradeBit?: number;
  /** Address of /healthz; port 0 serves none. */
  healthzHost?: string;
  healthzPort?: number;
  /** Address of /metrics and /proxyMode; default 127.0.0.1:10249, port 0 serves none. */
  metricsHost?: string;
  metricsPort?: number;
  /** What /configz says. */
  configuration?: object;
  /** What /flagz says. */
  flags?: FlagTexts;
}

export interface KubeProxyDeps {
  informers: InformerFactory;
  exec: Exec;
  clock: Clock;
  logger: Logger;
  /** Of events.k8s.io, as `kube-proxy`. */
  recorder: EventRecorder;
}

export interface RunningKubeProxy {
  /** Resolves once the rules of everything known at the start are in the kernel. */
  readonly synced: Promise<void>;
  /** Stops syncing; with `cleanup` also removes all rules. */
  stop(options?: { cleanup?: boolean }): Promise<void>;
}

const zoneLabel = 'topology.kubernetes.io/zone';
const deletionTaint = 'ToBeDeletedByClusterAutoscaler';

/** Internal addresses before external ones, as upstream takes them. */
function addressOf({ status }: Node): string | undefined {
  const addresses = (status?.addresses ?? []).filter(({ address }) => !address.includes(':'));
  return ['InternalIP', 'ExternalIP'].flatMap((type) => addresses.filter((one) => one.type === type))[0]?.address;
}

/** What kube-proxy watches: Services and their slices, and the Node that it is on. */
const watched = (informers: InformerFactory, nodeName: string) => ({
  services: informers.informer<Service>({ group: '', version: 'v1', resource: 'services' }),
  slices: informers.informer<EndpointSlice>({ group: 'discovery.k8s.io', version: 'v1', resource: 'endpointslices' }),
  nodes: informers.informer<Node>(
    { group: '', version: 'v1', resource: 'nodes' },
    { fieldSelector: `metadata.name=${nodeName}` },
  ),
});
type Watched = ReturnType<typeof watched>;

function sourceOf({ services, slices }: Watched, logger: Logger): TrackerSource {
  slices.addIndexers({ service: (slice) => (isProxiedSlice(slice) ? [serviceKeyOf(slice)] : []) });
  return {
    service: (key) => {
      const { namespace, name } = splitKey(key);
      return services.lister.get(namespace, name);
    },
    slices: (key) => slices.lister.byIndex('service', key),
    leftOut: (key, ports) =>
      logger.error(`Service ${key} needs more than ${rulesOfServiceMax} rules: its last ${ports} ports are not served`),
  };
}

class KubeProxy<R> implements RunningKubeProxy, ProxyHealth {
  readonly synced: Promise<void>;
  readonly #deps: KubeProxyDeps;
  readonly #metrics: ProxyMetrics;
  readonly #dataplane: Dataplane<R>;
  readonly #nodeName: string;
  readonly #tracker: Tracker<R>;
  readonly #checks: HealthCheckServers;
  #node: Node | undefined;
  #isApplied = false;
  #stale: StaleFlows[] = [];
  #timer: (Timer & { atMs: number }) | undefined;
  #running: Promise<void> | undefined;
  #stopped = false;
  #lastSyncMs: number | undefined;
  #lastFullSyncMs = 0;
  #pendingSinceMs: number | undefined;
  #markSynced: () => void = () => {};

  constructor(nodeName: string, dataplane: Dataplane<R>, deps: KubeProxyDeps, metrics: ProxyMetrics) {
    this.#deps = deps;
    this.#metrics = metrics;
    this.#dataplane = dataplane;
    this.#nodeName = nodeName;
    const sources = watched(deps.informers, nodeName);
    this.#tracker = new Tracker(sourceOf(sources, deps.logger), dataplane, { name: nodeName, zone: '' });
    this.#checks = new HealthCheckServers(() => isHealthy(this, deps.clock.monotonic()), deps.logger);
    this.synced = new Promise((resolve) => {
      this.#markSynced = resolve;
    });
    this.#follow(sources);
    void deps.informers.waitForSync().then(() => this.#schedule(0));
  }
  pendingSinceMs(): number | undefined {
    return this.#pendingSinceMs;
  }
  lastSyncMs(): number | undefined {
    return this.#lastSyncMs;
  }
  nodeEligible(): boolean {
    const taints = this.#node?.spec?.taints ?? [];
    return this.#node?.metadata.deletionTimestamp === undefined && !taints.some(({ key }) => key === deletionTaint);
  }
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    this.#checks.close();
    await this.#running;
  }

  #follow({ services, slices, nodes }: Watched): void {
    const name = this.#nodeName;
    const touch = (key: string): void => {
      this.#tracker.touch(key);
      this.#pendingSinceMs ??= this.#deps.clock.monotonic();
      this.#metrics.queued(this.#deps.clock.now());
      if (services.hasSynced() && slices.hasSynced()) this.#schedule(coalesceMs);
    };
    const onService = ({ metadata }: Service): void => touch(`${metadata.namespace}/${metadata.name}`);
    // A slice may change hands, or be no longer ours: whom it served loses it.
    const onSlice = (...slices: EndpointSlice[]): void => new Set(slices.filter(isProxiedSlice).map(serviceKeyOf)).forEach(touch);
    const onNode = (node: Node | undefined): void => {
      this.#node = node;
      this.#tracker.setNode({ name, zone: node?.metadata.labels?.[zoneLabel] ?? '', address: node && addressOf(node) });
      if (this.#tracker.isDirty) this.#schedule(coalesceMs);
    };
    services.addHandler({ onAdd: onService, onUpdate: onService, onDelete: onService });
    slices.addHandler({ onAdd: (slice) => onSlice(slice), onUpdate: onSlice, onDelete: onSlice });
    nodes.addHandler({ onAdd: onNode, onUpdate: onNode, onDelete: () => onNode(undefined) });
  }
  /** One sync at a time; bursts become one, and syncs keep their distance. */
  #schedule(delayMs: number): void {
    if (this.#stopped || this.#running) return;
    const nowMs = this.#deps.clock.monotonic();
    const earliestMs = (this.#lastSyncMs ?? Number.NEGATIVE_INFINITY) + minSyncPeriodMs;
    const atMs = Math.max(nowMs + delayMs, earliestMs);
    if (this.#timer) {
      if (this.#timer.atMs <= atMs) return;
      this.#timer.cancel();
    }
    const timer = this.#deps.clock.setTimer(atMs - nowMs, () => {
      this.#timer = undefined;
      this.#running = this.#sync().finally(() => {
        this.#running = undefined;
        this.#schedule(this.#tracker.isDirty || !this.#isApplied ? coalesceMs : syncPeriodMs);
      });
    });
    this.#timer = { atMs, cancel: () => timer.cancel() };
  }
  async #sync(): Promise<void> {
    const { exec, logger, clock } = this.#deps;
    const startedMs = clock.monotonic();
    const full = !this.#isApplied || clock.monotonic() - this.#lastFullSyncMs >= syncPeriodMs;
    this.#stale.push(...this.#tracker.update());
    const rules = this.#tracker.rules();
    const checks = this.#tracker.healthChecks();
    try {
      await this.#dataplane.sync(rules, checks, full);
      if (full) this.#lastFullSyncMs = clock.monotonic();
      this.#isApplied = true;
      this.#lastSyncMs = clock.monotonic();
      this.#metrics.synced(full ? 'full' : 'partial', clock.now(), (this.#lastSyncMs - startedMs) / 1000);
      this.#pendingSinceMs = this.#tracker.isDirty ? this.#lastSyncMs : undefined;
      await clearFlows(exec, this.#stale.splice(0), logger);
      this.#checks.sync(checks);
      this.#markSynced();
    } catch (error) {
      // The next sync writes everything: what is in the kernel now is not known.
      this.#isApplied = false;
      this.#metrics.failed(full ? 'full' : 'partial');
      logger.error('failed to sync rules', { error: String(error) });
      if (!this.#stopped) await clock.sleep(retryMs);
    }
  }
}

/** Services go on where their measures cannot be shown, as upstream's. */
async function metricsServer(
  {
    mode = 'iptables',
    metricsHost: host = '127.0.0.1',
    metricsPort: port = defaultMetricsPort,
    configuration = {},
    flags,
  }: KubeProxyOptions,
  { all: metrics }: ProxyMetrics,
  { clock, logger }: Pick<KubeProxyDeps, 'clock' | 'logger'>,
): Promise<WireServer | undefined> {
  if (port === 0) return undefined;
  return serveMetrics({ host, port, metrics, mode, configuration, flags, clock, logger }).catch((error: unknown) => {
    logger.error('metrics cannot be served', { error: String(error) });
    return undefined;
  });
}

const dataplaneOptions = ({ masqueradeBit, masqueradeAll = false, clusterCidr }: KubeProxyOptions): DataplaneOptions => ({
  masqueradeMark: `0x${(2 ** (masqueradeBit ?? kubeProxyFlags.masqueradeBit.default)).toString(16)}`,
  masqueradeAll,
  ...(clusterCidr && { clusterCidr }),
});

/** Starts kube-proxy. The informers are started by the caller, after this. */
export async function runKubeProxy(options: KubeProxyOptions, deps: KubeProxyDeps): Promise<RunningKubeProxy> {
  const { mode = 'iptables' } = options;
  const backEnd = backEnds[mode];
  const dataplane = await backEnd.open(deps.exec, dataplaneOptions(options));
  await removeRulesOfOthers(mode, deps.exec);
  const metrics = proxyMetrics(mode);
  const proxy = new KubeProxy(options.nodeName, dataplane, deps, metrics);
  const port = options.healthzPort ?? healthzPort;
  const healthz =
    port === 0
      ? undefined
      : await serveHealthz({
          health: proxy,
          clock: deps.clock,
          host: options.healthzHost ?? '0.0.0.0',
          port,
          logger: deps.logger,
        });
  const measured = await metricsServer(options, metrics, deps);
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: options.nodeName } };
  deps.recorder.event(node, 'Normal', 'Starting', '', { action: 'StartKubeProxy' });
  return {
    synced: proxy.synced,
    async stop({ cleanup = false } = {}) {
      await Promise.all([healthz?.close({ graceMs: 0 }), measured?.close({ graceMs: 0 })]);
      await proxy.stop();
      if (cleanup) await backEnd.remove(deps.exec);
    },
  };
}
