// Keeps the rules of every service port up to date as Services and EndpointSlices change: only what a change touches is computed anew,
// so that unchanged ports keep the very same rule objects. Pure.
import type { Service } from '#api/core/v1';
import type { EndpointSlice } from '#api/discovery/v1';
import type { Dataplane } from './dataplane.ts';
import { rulesOfServiceMax } from './limits.ts';
import { chooseEndpoints, portEndpoints, type ProxyNode, rulesCount, type ServicePort, servicePorts } from './model.ts';

interface TrackedPort<R> {
  port: ServicePort;
  rules: R;
  /** Endpoints traffic may be on right now, by `ip:port`. */
  endpoints: Map<string, { ip: string; port: number }>;
  localEndpoints: number;
}

/** What must be forgotten by connection tracking: UDP has no end of connection. */
export interface StaleFlows {
  clusterIp: string;
  externalIps: string[];
  nodePort: number;
  /** The endpoint that went; absent: every flow to the service (it had none before). */
  endpoint?: { ip: string; port: number };
}

export interface TrackerSource {
  service(key: string): Service | undefined;
  slices(key: string): readonly EndpointSlice[];
  /** A Service has more than the rules that one may have: its last ports are not served. */
  leftOut(key: string, ports: number): void;
}

export class Tracker<R> {
  readonly #source: TrackerSource;
  readonly #dataplane: Pick<Dataplane<R>, 'rulesOf'>;
  #node: ProxyNode;
  readonly #ports = new Map<string, Map<string, TrackedPort<R>>>();
  readonly #dirty = new Set<string>();

  constructor(source: TrackerSource, dataplane: Pick<Dataplane<R>, 'rulesOf'>, node: ProxyNode) {
    this.#source = source;
    this.#dataplane = dataplane;
    this.#node = node;
  }
  /** A Service (`namespace/name`) or one of its slices changed. */
  touch(serviceKey: string): void {
    this.#dirty.add(serviceKey);
  }
  /** Zone, name or address of the node changed: every choice of endpoints may have, and who is let through to load balancers. */
  setNode(node: ProxyNode): void {
    if (node.zone === this.#node.zone && node.name === this.#node.name && node.address === this.#node.address) return;
    this.#node = node;
    for (const key of this.#ports.keys()) this.#dirty.add(key);
  }
  get isDirty(): boolean {
    return this.#dirty.size > 0;
  }
  /** Computes what changed; gives the flows that connection tracking must forget once the new rules are in place. */
  update(): StaleFlows[] {
    const stale: StaleFlows[] = [];
    for (const key of this.#dirty) stale.push(...this.#updateService(key));
    this.#dirty.clear();
    return stale;
  }
  /** Rules of all ports. The map is fresh, its values are shared. */
  rules(): Map<string, R> {
    const rules = new Map<string, R>();
    for (const ports of this.#ports.values()) for (const [id, tracked] of ports) rules.set(id, tracked.rules);
    return rules;
  }
  healthChecks(): { name: string; namespace: string; serviceName: string; port: number; localEndpoints: number }[] {
    const found = new Map<number, ReturnType<Tracker<R>['healthChecks']>[number]>();
    for (const ports of this.#ports.values())
      for (const { port, localEndpoints } of ports.values())
        if (port.healthCheckNodePort > 0 && port.externalLocal)
          found.set(port.healthCheckNodePort, {
            name: `${port.namespace}/${port.serviceName}`,
            namespace: port.namespace,
            serviceName: port.serviceName,
            port: port.healthCheckNodePort,
            localEndpoints: Math.max(localEndpoints, found.get(port.healthCheckNodePort)?.localEndpoints ?? 0),
          });
    return [...found.values()];
  }

  #updateService(key: string): StaleFlows[] {
    const before = this.#ports.get(key) ?? new Map<string, TrackedPort<R>>();
    const now = new Map<string, TrackedPort<R>>();
    const service = this.#source.service(key);
    const slices = service ? this.#source.slices(key) : [];
    const ports = service ? servicePorts(service) : [];
    let count = 0;
    for (const [index, port] of ports.entries()) {
      const endpoints = chooseEndpoints(portEndpoints(slices, port, this.#node), this.#node);
      count += rulesCount(port, endpoints);
      if (count > rulesOfServiceMax) {
        this.#source.leftOut(key, ports.length - index);
        break;
      }
      const rules = this.#dataplane.rulesOf(port, endpoints, this.#node);
      const id = `${port.name}/${port.protocol}`;
      const old = before.get(id);
      const same = old && JSON.stringify(old.rules) === JSON.stringify(rules);
      const reached = new Map(
        [...endpoints.cluster, ...endpoints.local].map(({ address, ip, port: at }) => [address, { ip, port: at }]),
      );
      // Load balancers are to go where new connections are welcome: pods that are about to end do not count, though they may be used.
      const localEndpoints = endpoints.local.filter(({ ready }) => ready).length;
      now.set(id, { port, rules: same ? old.rules : rules, endpoints: reached, localEndpoints });
    }
    if (now.size > 0) this.#ports.set(key, now);
    else this.#ports.delete(key);
    return staleFlows(before, now);
  }
}

type Reached = Pick<TrackedPort<unknown>, 'port' | 'endpoints'>;

function staleFlows(before: ReadonlyMap<string, Reached>, now: ReadonlyMap<string, Reached>): StaleFlows[] {
  const stale: StaleFlows[] = [];
  for (const [id, { port, endpoints }] of before) {
    if (port.protocol !== 'UDP') continue;
    const left = now.get(id)?.endpoints;
    for (const [address, endpoint] of endpoints) if (!left?.has(address)) stale.push({ ...frontEnd(port), endpoint });
  }
  for (const [id, { port, endpoints }] of now)
    if (port.protocol === 'UDP' && endpoints.size > 0 && (before.get(id)?.endpoints.size ?? 0) === 0) stale.push(frontEnd(port));
  return stale;
}

const frontEnd = ({ clusterIp, externalIps, loadBalancerIps, nodePort }: ServicePort): StaleFlows => ({
  clusterIp,
  externalIps: [...externalIps, ...loadBalancerIps],
  nodePort,
});
