// The APIServices whose group versions other API servers serve, and the connections to those (k8s.io/kube-aggregator/pkg/apiserver,
// AddAPIService; controllers/status/remote, BuildTransportConfig).
import type { APIService } from '#api/apiregistration/v1';
import type { ClientTls, Dial, WireClient } from '#wire';
import { createWireClient } from '#wire';
import type { ReadOnlyCluster } from '../storage/read-only-cluster.ts';
import { remoteConnectionsMax } from '../limits.ts';
import { type ServiceResolver, serviceServerName } from '../outbound/service-resolver.ts';
import { apiServiceGroup } from './registration.ts';

/** One group version that another API server serves. */
export interface Remote {
  /** The name of the APIService. */
  name: string;
  group: string;
  version: string;
  service: { namespace: string; name: string; port: number };
  /** Its paths begin with this: `/apis/<group>/<version>`. */
  path: string;
  groupPriority: number;
  versionPriority: number;
  available: boolean;
  /** PEM; undefined: the system's authorities. */
  ca: string | undefined;
  insecure: boolean;
}

/** The server that an APIService names; undefined where this apiserver serves the API itself. */
export function remoteFrom({ metadata, spec, status }: APIService): Remote | undefined {
  if (!spec?.service) return undefined;
  const { group = '', version = '', caBundle, insecureSkipTLSVerify = false } = spec;
  const { namespace = '', name = '', port = 443 } = spec.service;
  return {
    name: metadata.name ?? '',
    group,
    version,
    service: { namespace, name, port },
    path: group === '' ? '/api' : `/apis/${group}/${version}`,
    groupPriority: spec.groupPriorityMinimum,
    versionPriority: spec.versionPriority,
    available: status?.conditions?.some(({ type, status: is }) => type === 'Available' && is === 'True') ?? false,
    ca: caBundle ? Buffer.from(caBundle, 'base64').toString('utf8') : undefined,
    insecure: insecureSkipTLSVerify,
  };
}

/** The APIServices of other servers as they are now; kept up to date by the cache's own changes. */
export class RemoteTable {
  readonly #byName = new Map<string, Remote>();
  readonly #handlers: ((name: string) => void)[] = [];

  /** Follows the APIServices until `signal` ends. */
  follow(cluster: ReadOnlyCluster, signal: AbortSignal): void {
    const take = (name: string, service: APIService | undefined): void => {
      const remote = service && remoteFrom(service);
      if (!remote && !this.#byName.has(name)) return;
      if (remote) this.#byName.set(name, remote);
      else this.#byName.delete(name);
      for (const handler of this.#handlers) handler(name);
    };
    const stop = cluster.onChange<APIService>(apiServiceGroup, 'apiservices', (now, before) =>
      take(now?.metadata.name ?? before?.metadata.name ?? '', now),
    );
    signal.addEventListener('abort', stop, { once: true });
    for (const service of cluster.list<APIService>(apiServiceGroup, 'apiservices')) take(service.metadata.name ?? '', service);
  }

  /** Called with the name of an APIService that came, changed or went. */
  onChange(handler: (name: string) => void): void {
    this.#handlers.push(handler);
  }

  get(name: string): Remote | undefined {
    return this.#byName.get(name);
  }

  of(group: string, version: string): Remote | undefined {
    return this.empty ? undefined : this.#byName.get(`${version}.${group}`);
  }

  get empty(): boolean {
    return this.#byName.size === 0;
  }

  all(): Remote[] {
    return [...this.#byName.values()];
  }

  /** The one that serves a path; the registration itself is never handed on. */
  serving(path: string): Remote | undefined {
    if (this.empty) return undefined;
    const [, root, group = '', version = ''] = path.split('/');
    if (root === 'api') return this.of('', 'v1');
    return root === 'apis' && group !== apiServiceGroup ? this.of(group, version) : undefined;
  }
}

export interface ConnectionOptions {
  resolve: ServiceResolver;
  /** The front proxy's client certificate; undefined: connections present none. */
  clientCertificate?: { cert: string; key: string };
  dial?: Dial;
}

/** Connections, one client for each address and trust; the ones not used for the longest time go first. */
export class RemoteConnections {
  readonly #options: ConnectionOptions;
  readonly #clients = new Map<string, WireClient>();

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /** Throws an Error when the Service leads nowhere. */
  to({ service, ca, insecure }: Remote): { client: WireClient; host: string } {
    const { resolve, clientCertificate, dial } = this.#options;
    const host = resolve(service.namespace, service.name, service.port);
    const serverName = serviceServerName(service.namespace, service.name);
    const key = JSON.stringify([host, serverName, ca, insecure]);
    let client = this.#clients.get(key);
    if (client) this.#clients.delete(key);
    const tls: ClientTls = {
      serverName,
      ...(insecure && { insecureSkipVerify: true }),
      ...(ca !== undefined && { ca }),
      ...clientCertificate,
    };
    client ??= createWireClient({ baseUrl: `https://${host}`, tls, ...(dial && { dial }) });
    this.#clients.set(key, client);
    if (this.#clients.size > remoteConnectionsMax) {
      const [oldest] = this.#clients.keys();
      this.#clients.get(oldest ?? '')?.closeIdle();
      this.#clients.delete(oldest ?? '');
    }
    return { client, host };
  }

  close(): void {
    for (const client of this.#clients.values()) client.close();
    this.#clients.clear();
  }
}
