// The instances behind the Nodes of a load balancer, from a list of each zone that is kept for a while: hundreds of Services ask for the same ones.
import type { Clock, Logger, Node } from 'sagong/cloud-provider';
import { createCache } from 'sagong/cloud-provider/kit';
import type { ComputeApi } from '../api/compute.ts';
import { instancesTtlMs, namesShown } from '../limits.ts';
import { instanceNameOf } from '../names.ts';
import { resourcesOf } from '../resources.ts';
import type { Settings } from '../settings.ts';
import { zoneOfNode } from './provider-id.ts';
import type { Zones } from './zones.ts';

export interface Host {
  name: string;
  zone: string;
  tags: readonly string[];
}
export interface Hosts {
  /** The hosts of the Nodes whose instances exist. Rejects when there are Nodes and none of them has one: traffic does not go nowhere by mistake. */
  ofNodes(nodes: readonly Node[], signal?: AbortSignal): Promise<Host[]>;
  /** Somebody met an instance that does not exist any more. */
  forget(): void;
}

export interface HostsDeps {
  api: ComputeApi;
  settings: Settings;
  zones: Zones;
  clock: Clock;
  logger: Logger;
}

export function createHosts({ api, settings, zones, clock, logger }: HostsDeps): Hosts {
  const prefix = settings.instancePrefix;
  const lists = createCache({
    clock,
    ttlMs: instancesTtlMs,
    async read(key, signal) {
      const [zone = '', filter] = key.split(' filtered by ');
      const instances = await resourcesOf(api, settings, signal).instances(zone).list(filter);
      return new Map(instances.map(({ name = '', tags }): [string, Host] => [name, { name, zone, tags: tags?.items ?? [] }]));
    },
  });
  /** Names that were missing from a fresh list a moment ago: no other list is read for their sake. */
  const missing = createCache({ clock, ttlMs: instancesTtlMs, read: () => Promise.resolve(true) });

  /** The lists in which a Node may be. */
  async function keysOf(node: Node, signal?: AbortSignal): Promise<string[]> {
    const zone = zoneOfNode(node);
    const filter = prefix !== '' && node.metadata.name?.startsWith(prefix) ? ` filtered by name eq ${prefix}.*` : '';
    return (zone === undefined ? await zones.managed(signal) : [zone]).map((one) => one + filter);
  }
  async function hostOf(node: Node, signal?: AbortSignal): Promise<Host | undefined> {
    const name = instanceNameOf(node.metadata.name ?? '');
    const keys = await keysOf(node, signal);
    const look = async (): Promise<Host | undefined> => {
      for (const key of keys) {
        const host = (await lists.get(key, signal)).get(name);
        if (host) return host;
      }
      return undefined;
    };
    const host = await look();
    if (host || missing.peek(name)) return host;
    for (const key of keys) lists.forget(key);
    const later = await look();
    if (!later) await missing.get(name);
    return later;
  }
  return {
    async ofNodes(nodes, signal) {
      const found: Host[] = [];
      const lost: string[] = [];
      // One after the other: the first one reads the list of its zone for all.
      for (const node of nodes) {
        const host = await hostOf(node, signal);
        if (host) found.push(host);
        else lost.push(node.metadata.name ?? '');
      }
      const shown = `${lost.slice(0, namesShown).join(', ')}${lost.length > namesShown ? ` and ${lost.length - namesShown} more` : ''}`;
      if (found.length === 0 && lost.length > 0) throw new Error(`none of the instances of ${shown} exists`);
      if (lost.length > 0) logger.warn('instances of nodes do not exist', { nodes: shown });
      return found;
    },
    forget() {
      lists.forget();
      missing.forget();
    },
  };
}
