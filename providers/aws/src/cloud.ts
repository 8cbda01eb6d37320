// What every part of the provider works with. Parts are functions that take it first; `api` ends with the signal of the call they serve.
import type { Clock, Logger } from 'sagong/cloud-provider';
import type { Api } from './clients.ts';
import type { AwsConfig } from './config/schema.ts';
import type { Identity } from './identity.ts';
import type { BackendInstances } from './instances/backends.ts';
import type { InstanceFinder } from './instances/finder.ts';
import type { ZoneDetails } from './instances/zones.ts';

export interface Cloud {
  readonly config: AwsConfig;
  readonly identity: Identity;
  readonly api: Api;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal?: AbortSignal;
  readonly instances: InstanceFinder;
  readonly backends: BackendInstances;
  readonly zones: ZoneDetails;
}

export const sleep = ({ clock, signal }: Cloud, delayMs: number): Promise<void> => clock.sleep(delayMs, signal);
