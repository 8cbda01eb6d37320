// The zones in which instances of the cluster may be: the one of the configuration, or with `multizone` or `regional` all of its region.
import type { Clock } from 'sagong/cloud-provider';
import { createCache } from 'sagong/cloud-provider/kit';
import type { ComputeApi } from '../api/compute.ts';
import { zonesTtlMs } from '../limits.ts';
import { nameIn } from '../links.ts';
import { resourcesOf } from '../resources.ts';
import type { Settings } from '../settings.ts';

export interface Zones {
  /** Where Nodes are looked for. */
  managed(signal?: AbortSignal): Promise<readonly string[]>;
  /** All zones of the region, whatever the configuration says. */
  ofRegion(signal?: AbortSignal): Promise<readonly string[]>;
}

export function createZones(api: ComputeApi, settings: Settings, clock: Clock): Zones {
  const cache = createCache({
    clock,
    ttlMs: zonesTtlMs,
    async read(region, signal) {
      const zones = await resourcesOf(api, settings, signal).zones.list(`region eq .*/regions/${region}`);
      return zones
        .filter((zone) => nameIn(zone.region) === region)
        .map(({ name = '' }) => name)
        .sort();
    },
  });
  const ofRegion = (signal?: AbortSignal): Promise<readonly string[]> => cache.get(settings.region, signal);
  return {
    ofRegion,
    managed: async (signal) => (settings.allZones ? ofRegion(signal) : [settings.zone]),
  };
}
