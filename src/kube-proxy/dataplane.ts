// What carries traffic for Services: a folder each for iptables and nftables, of which one is used (`--proxy-mode`). A new one is a folder beside them and a
// line in modes.ts.
import type { Exec } from '#utils';
import type { ProxyNode, ServiceEndpoints, ServicePort } from './model.ts';

export type ProxyMode = 'iptables' | 'nftables';

export interface HealthCheckPort {
  /** `namespace/name`. */
  name: string;
  port: number;
}

export interface DataplaneOptions {
  /** Packets with this bit of their mark are masqueraded. */
  masqueradeMark: string;
  masqueradeAll: boolean;
  /** Traffic from here is from pods: not masqueraded on its way to a cluster address. Absent: nothing is known to be local. */
  clusterCidr?: string;
}

/** `R`: the rules of one service port; compared by their JSON, so that what did not change stays the same object. */
export interface Dataplane<R> {
  /** Pure. */
  rulesOf(port: ServicePort, endpoints: ServiceEndpoints, node: ProxyNode): R;
  /** Brings the rules into the kernel, only what changed unless `full`. After a failure the next call writes everything. */
  sync(rules: ReadonlyMap<string, R>, healthChecks: readonly HealthCheckPort[], full: boolean): Promise<void>;
}

/** What the folder of a mode exports. */
export interface BackEnd<R = unknown> {
  open(exec: Exec, options: DataplaneOptions): Promise<Dataplane<R>>;
  /** Takes all rules of this mode out of the kernel. Where its program is not installed, there are none. */
  remove(exec: Exec): Promise<void>;
}
