// What carries traffic for Services: a folder each for iptables and nftables, of which one is used (`--proxy-mode`).
import type { ProxyNode, ServiceEndpoints, ServicePort } from './model.ts';

export type ProxyMode = 'iptables' | 'nftables';

export interface HealthCheckPort {
  /** `namespace/name`. */
  name: string;
  port: number;
}

/** `R`: the rules of one service port; compared by their JSON, so that what did not change stays the same object. */
export interface Dataplane<R> {
  readonly mode: ProxyMode;
  /** Pure. */
  rulesOf(port: ServicePort, endpoints: ServiceEndpoints, node: ProxyNode): R;
  /** Brings the rules into the kernel, only what changed unless `full`. After a failure the next call writes everything. */
  sync(rules: ReadonlyMap<string, R>, healthChecks: readonly HealthCheckPort[], full: boolean): Promise<void>;
  /** Takes all rules out of the kernel. */
  remove(): Promise<void>;
}
