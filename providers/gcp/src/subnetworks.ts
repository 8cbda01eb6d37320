// Where addresses of internal load balancers come from when nobody says so: in a network of mode auto, its subnetwork of the region
// (cloud-provider-gcp gce.go, initializeSubnetworkURLAndIsLegacyNetwork).
import type { Clock, Logger } from 'sagong/cloud-provider';
import { createCache } from 'sagong/cloud-provider/kit';
import type { ComputeApi } from './api/compute.ts';
import type { Subnetwork } from './api/types.ts';
import { zonesTtlMs } from './limits.ts';
import { nameIn } from './links.ts';
import { resourcesOf } from './resources.ts';
import type { Settings } from './settings.ts';

export interface DefaultSubnetwork {
  /** '' where there is none, or several. */
  link: string;
  /** A network without subnetworks, of the time before 2016. */
  legacy: boolean;
}
export interface Subnetworks {
  default(signal?: AbortSignal): Promise<DefaultSubnetwork>;
}

/** Auto mode takes all its ranges from 10.128.0.0/9. */
const inAutoRange = ({ ipCidrRange = '' }: Subnetwork): boolean => {
  const [first, second] = ipCidrRange.split('.').map(Number);
  return first === 10 && second !== undefined && second >= 128 && Number(ipCidrRange.split('/')[1]) >= 9;
};

export function createSubnetworks(api: ComputeApi, settings: Settings, deps: { clock: Clock; logger: Logger }): Subnetworks {
  const { clock, logger } = deps;

  async function find(signal: AbortSignal): Promise<DefaultSubnetwork> {
    const { networks, subnetworks } = resourcesOf(api, settings, signal);
    const name = nameIn(settings.network);
    const network = await networks.get(name);
    if (network.IPv4Range) return { link: '', legacy: true };
    if (!network.autoCreateSubnetworks) {
      logger.warn('the network is of mode custom: internal load balancers need subnetwork-name', { network: name });
      return { link: '', legacy: false };
    }
    const all = await subnetworks.list(`network eq .*/${name}$`);
    const own = all.filter((one) => nameIn(one.network) === name && inAutoRange(one));
    if (own.length !== 1) logger.warn('no single subnetwork in the automatic range', { network: name, found: own.length });
    return { link: own.length === 1 ? (own[0]?.selfLink ?? '') : '', legacy: false };
  }
  const cache = createCache({ clock, ttlMs: zonesTtlMs, read: (_key, signal) => find(signal) });
  return {
    default: async (signal) =>
      settings.subnetwork === '' ? cache.get('', signal) : { link: settings.subnetwork, legacy: false },
  };
}
