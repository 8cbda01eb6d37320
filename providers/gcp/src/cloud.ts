// What every part of the provider works with during one call.
import type { Clock, Logger } from 'sagong/cloud-provider';
import type { ClusterWriter, inTurn } from 'sagong/cloud-provider/kit';
import type { ComputeApi } from './api/compute.ts';
import type { FlagValues } from './config/flags.ts';
import type { Hosts } from './instances/hosts.ts';
import type { Zones } from './instances/zones.ts';
import type { GroupMembers } from './load-balancer/instance-groups.ts';
import type { Resources } from './resources.ts';
import type { Settings } from './settings.ts';
import type { Subnetworks } from './subnetworks.ts';

export interface Cloud {
  api: ComputeApi;
  settings: Settings;
  flags: FlagValues;
  /** Calls that end with the caller. */
  resources: Resources;
  signal?: AbortSignal;
  clusterId(): Promise<string>;
  zones: Zones;
  hosts: Hosts;
  groupMembers: GroupMembers;
  subnetworks: Subnetworks;
  writer: ClusterWriter;
  /** Work on what load balancers share goes one after the other, by the name of the thing. */
  turn: ReturnType<typeof inTurn>;
  clock: Clock;
  logger: Logger;
}
