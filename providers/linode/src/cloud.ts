// What the load balancers work with during one call.
import type { Clock, CloudClient, Logger } from 'sagong/cloud-provider';
import type { ClusterWriter, inTurn, Unsettled } from 'sagong/cloud-provider/kit';
import type { LinodeApi } from './api/linode.ts';
import type { FlagValues } from './config/flags.ts';
import type { Settings } from './config/settings.ts';
import type { Finder } from './instances/finder.ts';
import type { Vpcs } from './vpcs.ts';

export interface Cloud {
  /** Calls that end with the caller. */
  api: LinodeApi;
  signal?: AbortSignal;
  settings: Settings;
  flags: FlagValues;
  finder: Finder;
  vpcs: Vpcs;
  unsettled: Unsettled;
  writer: ClusterWriter;
  /** Of the cluster, for Secrets with certificates; undefined before the lease is won. */
  client(): CloudClient | undefined;
  /** Work on one Service goes one after the other. */
  turn: ReturnType<typeof inTurn>;
  clock: Clock;
  logger: Logger;
}
