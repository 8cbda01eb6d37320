// What the load balancers work with during one call.
import type { Clock, Logger } from 'sagong/cloud-provider';
import type { ClusterWriter, inTurn } from 'sagong/cloud-provider/kit';
import type { BaiduApi } from './api/baidu.ts';
import type { Settings } from './config/settings.ts';
import type { Finder } from './instances/finder.ts';
import type { Unsettled } from './load-balancer/unsettled.ts';

export interface Cloud {
  /** Calls that end with the caller. */
  api: BaiduApi;
  signal?: AbortSignal;
  settings: Settings;
  finder: Finder;
  unsettled: Unsettled;
  writer: ClusterWriter;
  /** Work on one Service goes one after the other. */
  turn: ReturnType<typeof inTurn>;
  clock: Clock;
  logger: Logger;
}
