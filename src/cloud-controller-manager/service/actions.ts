// What the service loop asks the cloud to do. Pure: index.ts does it, outcomes.ts says what follows.
import { action } from '#controller-runtime';
import type { BalancerInput } from './reconcile.ts';

export const ensureBalancer = action<BalancerInput>('ensure');
export const updateHosts = action<BalancerInput>('updateHosts');
/** Removes the load balancer of a Service that wants none any more. */
export const deleteBalancer = action<BalancerInput>('delete');
/** Removes that of a Service that went without our finalizer. */
export const deleteVanished = action<BalancerInput>('deleteVanished');
/** Removes that of an earlier Service of the same name. */
export const deletePrevious = action<BalancerInput>('deletePrevious');
