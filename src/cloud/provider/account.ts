// What the parts of the provider share: the client, and the network they work in.
import type { Clock, Logger } from '#utils';
import type { CloudClient as CloudApi } from '../client/index.ts';
import type { LocalCloudConfig } from './config.ts';

export type { CloudClient as CloudApi } from '../client/index.ts';

export interface ProviderContext {
  api: CloudApi;
  config: LocalCloudConfig;
  clock: Clock;
  logger: Logger;
}
