// Cluster DNS: names of services and pods, from watches on the apiserver; everything else is forwarded.
import type { InformerFactory } from '#client';
import type { Clock } from '#utils';
import { createResponder, type Resolve } from './answer.ts';
import { watchCluster } from './cluster-view.ts';
import { createForwarder, parseUpstream, type Upstream, upstreamsOf } from './forward.ts';
import { type DnsSockets, serveDns, type Serves } from './server.ts';
import { resolve } from './zone.ts';

export { type Corefile, parseCorefile } from './corefile.ts';
export { parseUpstream, upstreamsOf, type Upstream, type DnsSockets, type Resolve };
export type { Answer, RecordType, Resource } from './zone.ts';

export interface DnsOptions {
  sockets: DnsSockets;
  informers: InformerFactory;
  clock: Clock;
  /** `cluster.local`. */
  domain: string;
  /** Name servers for everything outside the domain. */
  upstreams: readonly Upstream[];
  /** Default: everybody. */
  serves?: Serves;
}

export interface NameServerOptions {
  sockets: DnsSockets;
  serves?: Serves | undefined;
  resolve: Resolve;
  /** The name of the server's own zone. */
  domain: string;
  upstreams: readonly Upstream[];
  clock: Clock;
}

/** Serves the names that `resolve` knows; all others are asked of the upstreams. */
export const serveNames = ({ sockets, resolve, domain, upstreams, clock, serves }: NameServerOptions): { close(): void } =>
  serveDns(sockets, createResponder({ domain, resolve, forwarder: createForwarder(upstreams, clock) }), serves);

/** Serves cluster DNS. The informers are started by the caller. */
export function runDns({ informers, ...options }: DnsOptions): { close(): void } {
  const view = watchCluster(informers);
  return serveNames({ ...options, resolve: (name, type) => resolve(name, type, view, options.domain) });
}
