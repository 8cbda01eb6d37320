// What every part of the provider works with. Parts are functions that take it first; `api` ends with the signal of the call they serve.
import type { Clock, Logger } from 'sagong/cloud-provider';
import type { Api } from './clients.ts';
import type { AwsConfig } from './config/schema.ts';
import type { Identity } from './identity.ts';
import type { BackendInstances } from './instances/backends.ts';
import type { InstanceFinder } from './instances/finder.ts';
import type { ZoneDetails } from './instances/zones.ts';
import type { AllTargetGroups } from './load-balancer/network/target-groups.ts';
import type { Network } from './subnets/network.ts';

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
  readonly network: Network;
  readonly targetGroups: AllTargetGroups;
  /** Rules of nodes are for all load balancers, and what is right depends on the others': they are read and changed in turn. */
  readonly nodeRules: Turns;
}

export type Turns = <T>(work: () => Promise<T>) => Promise<T>;

/** One work after the other, whatever becomes of it. */
export function inTurn(): Turns {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const turn = last.then(work);
    last = turn.catch(() => {});
    return turn;
  };
}

export const sleep = ({ clock, signal }: Cloud, delayMs: number): Promise<void> => clock.sleep(delayMs, signal);
