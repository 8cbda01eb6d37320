// Reads what other API servers serve and keeps it, for the merged discovery documents (k8s.io/kube-aggregator/pkg/apiserver,
// handler_discovery.go). What cannot be read any more is shown without resources and marked as stale.
import type { Clock } from '#utils';
import { remoteDiscoveryBytesMax, remoteDiscoveryMs, remoteDiscoveryTimeoutMs } from '../limits.ts';
import type { AggregatedResource, RemoteVersion } from '../endpoints/remote-apis.ts';
import { fromLegacy, isAggregatedType, resourcesByVersion } from './documents.ts';
import { aggregatorUser, type Headers, identityHeaders } from './identity.ts';
import { keyedLoop } from './keyed-loop.ts';
import type { Remote, RemoteConnections, RemoteTable } from './remotes.ts';

/** A document as it was read from one Service, which may serve several group versions. */
interface Read {
  etag: string;
  versions: ReadonlyMap<string, readonly AggregatedResource[]>;
}

const accepted = ['v2', 'v2beta1']
  .map((version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`)
  .join(',');
const serviceKey = ({ service: { namespace, name, port } }: Remote): string => `${namespace}/${name}:${port}`;
const stale: RemoteVersion = { resources: [], freshness: 'Stale' };

export interface DiscoveryDeps {
  remotes: RemoteTable;
  connections: RemoteConnections;
  clock: Clock;
}

export class RemoteDiscovery {
  readonly #deps: DiscoveryDeps;
  readonly #read = new Map<string, Read>();
  readonly #versions = new Map<string, RemoteVersion>();

  constructor(deps: DiscoveryDeps) {
    this.#deps = deps;
  }

  /** Who serves the group version; undefined where no other API server does. */
  version(group: string, version: string): RemoteVersion | undefined {
    const { remotes } = this.#deps;
    const remote = remotes.of(group, version);
    return remote && (this.#versions.get(remote.name) ?? stale);
  }

  /** Resolves when every known APIService was read once, whether or not it could be. */
  async follow(signal: AbortSignal): Promise<void> {
    const { remotes, clock } = this.#deps;
    const loop = keyedLoop({ clock, signal, pauses: remoteDiscoveryMs, run: (name) => this.#sync(name) });
    remotes.onChange((name) => {
      if (remotes.get(name)) return void loop.add(name);
      loop.forget(name);
      this.#versions.delete(name);
      const used = new Set(remotes.all().map(serviceKey));
      for (const key of this.#read.keys()) if (!used.has(key)) this.#read.delete(key);
    });
    await Promise.all(remotes.all().map(({ name }) => loop.add(name)));
  }

  async #sync(name: string): Promise<void> {
    const remote = this.#deps.remotes.get(name);
    if (!remote) return;
    try {
      const resources = await this.#resourcesOf(remote);
      if (this.#deps.remotes.get(name)) this.#versions.set(name, { resources, freshness: 'Current' });
    } catch (error) {
      if (this.#deps.remotes.get(name)) this.#versions.set(name, stale);
      throw error;
    }
  }

  async #resourcesOf(remote: Remote): Promise<readonly AggregatedResource[]> {
    const key = serviceKey(remote);
    const known = this.#read.get(key);
    const answer = await this.#get(remote, '/apis', {
      accept: accepted,
      ...(known && known.etag !== '' && { 'if-none-match': known.etag }),
    });
    const mine = (versions: Read['versions']) => versions.get(`${remote.group}/${remote.version}`) ?? [];
    if (answer.status === 304 && known) return mine(known.versions);
    if (answer.status === 503) throw new Error(`service ${key} returned non-success response code: 503`);
    if (answer.status === 200 && isAggregatedType(answer.type)) {
      const read = { etag: answer.etag, versions: resourcesByVersion(answer.text) };
      this.#read.set(key, read);
      return mine(read.versions);
    }
    const path = remote.group === '' ? `/api/${remote.version}` : remote.path;
    const legacy = await this.#get(remote, path, { accept: 'application/json' });
    if (legacy.status !== 200) throw new Error(`failed to download legacy discovery for ${path}: ${legacy.status}`);
    return fromLegacy(legacy.text);
  }

  async #get(
    remote: Remote,
    path: string,
    headers: Headers,
  ): Promise<{ status: number; text: string; type: string; etag: string }> {
    const { client } = this.#deps.connections.to(remote);
    const signal = AbortSignal.timeout(remoteDiscoveryTimeoutMs);
    const answer = await client.request({ path, headers: { ...headers, ...identityHeaders(aggregatorUser) }, signal });
    const text = await answer.text(remoteDiscoveryBytesMax);
    return {
      status: answer.status,
      text,
      type: answer.headers['content-type'] ?? '',
      etag: answer.headers.etag ?? '',
    };
  }
}
