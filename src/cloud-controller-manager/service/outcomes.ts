// What follows from the cloud's answer to a change of a load balancer. Pure.
import type { LoadBalancerStatus, Service } from '#api/core/v1';
import { isImplementedElsewhere, retryAfterOf } from '#cloud-provider';
import type { Effect, Plan } from '#controller-runtime';
import { asService, normal, warning } from '../events.ts';
import { nodeNamesMax } from '../limits.ts';
import { type BalancerInput, noHostsEvent, releaseEffects, type ServiceMemory, syncFailure, writeStatus } from './reconcile.ts';
import { hostsKey } from './select.ts';

export type Outcome<T> = { value: T } | { error: unknown };

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Tells of the failure and tries again: after exactly the delay the cloud asked for, else after the back-off. */
function failed(effects: Effect[], error: unknown, message: string): Plan {
  const requeueAfterMs = retryAfterOf(error);
  return requeueAfterMs === undefined ? { effects, failure: message } : { effects, requeueAfterMs };
}

const syncFailed = (service: Service, error: unknown, message: string): Plan =>
  failed([warning(asService(service), 'SyncLoadBalancerFailed', syncFailure(message))], error, message);

const synced = ({ service, hosts }: BalancerInput): ServiceMemory => ({ service, ensured: true, hosts: hostsKey(hosts) });

export function afterEnsure(input: BalancerInput, outcome: Outcome<LoadBalancerStatus | undefined>): Plan {
  const { service } = input;
  if ('error' in outcome) {
    // Another controller's: nothing more to do until the Service changes.
    if (isImplementedElsewhere(outcome.error)) return { effects: [], remember: synced(input) };
    return syncFailed(service, outcome.error, `failed to ensure load balancer: ${textOf(outcome.error)}`);
  }
  if (!outcome.value) return syncFailed(service, undefined, 'service status returned by EnsureLoadBalancer is nil');
  const done = normal(asService(service), 'EnsuredLoadBalancer', 'Ensured load balancer');
  return { effects: [done, ...writeStatus(service, outcome.value)], remember: synced(input) };
}

export function afterDelete({ service }: BalancerInput, outcome: Outcome<void>): Plan {
  if ('error' in outcome && !isImplementedElsewhere(outcome.error))
    return syncFailed(service, outcome.error, `failed to delete load balancer: ${textOf(outcome.error)}`);
  return { effects: releaseEffects(service), remember: null };
}

export function afterDeleteVanished({ service }: BalancerInput, outcome: Outcome<void>): Plan {
  if ('error' in outcome && !isImplementedElsewhere(outcome.error)) {
    const message = `Error deleting load balancer: ${textOf(outcome.error)}`;
    return failed([warning(asService(service), 'DeleteLoadBalancerFailed', message)], outcome.error, message);
  }
  return { effects: [normal(asService(service), 'DeletedLoadBalancer', 'Deleted load balancer')], remember: null };
}

/** The old object's load balancer is gone: the new one's turn. */
export function afterDeletePrevious({ service }: BalancerInput, outcome: Outcome<void>): Plan {
  if ('error' in outcome && !isImplementedElsewhere(outcome.error))
    return syncFailed(service, outcome.error, `failed to delete load balancer: ${textOf(outcome.error)}`);
  return { effects: [], remember: null, requeueAfterMs: 0 };
}

function shownNames(input: BalancerInput): string {
  const names = input.hosts.map(({ metadata }) => metadata.name ?? '');
  const shown = names.slice(0, nodeNamesMax).sort();
  if (names.length > nodeNamesMax) shown.push(`<${names.length - nodeNamesMax} more>`);
  return `[${shown.join(' ')}]`;
}

/** `stillThere`: what the cloud said of the load balancer after the failure; a failure to ask counts as yes. */
export function afterUpdateHosts(input: BalancerInput, outcome: Outcome<void>, stillThere: boolean): Plan {
  const { service, hosts } = input;
  const remember = synced(input);
  if ('error' in outcome) {
    const { error } = outcome;
    if (isImplementedElsewhere(error) || !stillThere) return { effects: [], remember };
    const message = `Error updating load balancer with new hosts ${shownNames(input)} [node names limited, total number of nodes: ${hosts.length}], error: ${textOf(error)}`;
    // The Service's own turn is next, and makes the load balancer again: at once, as upstream, but for a delay that the cloud asks for.
    return {
      effects: [warning(asService(service), 'UpdateLoadBalancerFailed', message)],
      requeueAfterMs: retryAfterOf(error) ?? 0,
    };
  }
  const told =
    hosts.length === 0
      ? noHostsEvent(service)
      : normal(asService(service), 'UpdatedLoadBalancer', 'Updated load balancer with new hosts');
  return { effects: [told], remember };
}
