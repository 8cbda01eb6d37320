// Where the cluster lives: from the configuration, and what it leaves out from the metadata service of the own instance.
import type { ComputeApi } from './api/compute.ts';
import type { GceConfig } from './config/schema.ts';
import type { Metadata } from './credentials/metadata.ts';
import { regionOf } from './links.ts';

export const defaultEndpoint = 'https://compute.googleapis.com/compute/v1/';

export interface Settings {
  project: string;
  /** The project of the network: firewalls, routes and subnetworks are there. */
  networkProject: string;
  zone: string;
  region: string;
  /** Whether instances may be in every zone of the region. */
  allZones: boolean;
  network: string;
  /** '' where it is to be found out. */
  subnetwork: string;
  nodeTags: readonly string[];
  instancePrefix: string;
  preferIpv6: boolean;
  alphaFeatures: readonly string[];
}

/** Where the API answers: `compute.googleapis.com` in Google's own universe, unless the configuration names another place. */
export const endpointOf = (config: GceConfig, universe: string): string =>
  config['api-endpoint'] ?? defaultEndpoint.replace('googleapis.com', universe);

const isNumber = (project: string): boolean => /^\d+$/.test(project);

export async function settingsOf(config: GceConfig, api: ComputeApi, metadata: Metadata): Promise<Settings> {
  const given = config['project-id'] ?? (await metadata.project());
  const zone = config['local-zone'] ?? (await metadata.zone());
  const region = regionOf(zone);
  const project = isNumber(given) ? await api.projectName(given) : given;
  const sharing = config['network-project-id'] ?? given;
  const networkProject = sharing === given ? project : isNumber(sharing) ? await api.projectName(sharing) : sharing;
  const networkName = config['network-name'] ?? (await metadata.network());
  const subnetworkName = config['subnetwork-name'] ?? '';
  const isLink = (name: string): boolean => name.includes('/');
  return {
    project,
    networkProject,
    zone,
    region,
    allZones: config.multizone || config.regional,
    network: isLink(networkName) ? networkName : api.link(networkProject, 'global', 'networks', networkName),
    subnetwork:
      subnetworkName === '' || isLink(subnetworkName)
        ? subnetworkName
        : api.link(networkProject, { region }, 'subnetworks', subnetworkName),
    nodeTags: config['node-tags'],
    instancePrefix: config['node-instance-prefix'],
    preferIpv6: config['stack-type'] === 'IPV6',
    alphaFeatures: config['alpha-features'],
  };
}
