// Cluster DNS: names of services and pods, from watches on the apiserver; everything else is forwarded.
import type { InformerFactory } from '#client';
import type { Clock } from '#utils';
import { createResponder } from './answer.ts';
import { watchCluster } from './cluster-view.ts';
import { createForwarder, parseUpstream, type Upstream, upstreamsOf } from './forward.ts';
import { type DnsSockets, serveDns } from './server.ts';

export { parseUpstream, upstreamsOf, type Upstream, type DnsSockets };

export interface DnsOptions {
  sockets: DnsSockets;
  informers: InformerFactory;
  clock: Clock;
  /** `cluster.local`. */
  domain: string;
  /** Name servers for everything outside the domain. */
  upstreams: readonly Upstream[];
}

/** Serves cluster DNS. The informers are started by the caller. */
export function runDns({ sockets, informers, clock, domain, upstreams }: DnsOptions): { close(): void } {
  const respond = createResponder({ domain, view: watchCluster(informers), forwarder: createForwarder(upstreams, clock) });
  return serveDns(sockets, respond);
}
