// What every part of the provider works with during one call.
import type { Clock, CloudClient, Logger } from 'sagong/cloud-provider';
import type { ClusterWriter, inTurn, Unsettled } from 'sagong/cloud-provider/kit';
import type { BalancerApi } from './api/balancer-api.ts';
import type { CoreApi } from './api/core.ts';
import type { BalancerKind } from './api/types.ts';
import type { Settings } from './config/settings.ts';
import type { Finder } from './instances/finder.ts';
import type { Claims } from './load-balancer/claims.ts';
import type { Subnets } from './subnets.ts';

export interface Cloud {
  /** Calls that end with the caller. */
  core: CoreApi;
  balancers(kind: BalancerKind): BalancerApi;
  signal?: AbortSignal;
  settings: Settings;
  subnets: Subnets;
  finder: Finder;
  claims: Claims;
  unsettled: Unsettled;
  writer: ClusterWriter;
  client(): CloudClient | undefined;
  /** Work on what load balancers share goes one after the other, by the name of the thing. */
  turn: ReturnType<typeof inTurn>;
  clock: Clock;
  logger: Logger;
}
