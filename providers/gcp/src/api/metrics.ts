// The labels of `cloudprovider_gce_api_request_*` as cloud-provider-gcp has them (metrics.go and its callers): an operation's name is made of the
// kind and a verb, and a change is counted with the operation that it waits for.
import type { Place } from './types.ts';

export const metricLabels = ['request', 'region', 'zone', 'version'];
const none = '<n/a>';

const kinds: Readonly<Record<string, string>> = {
  addresses: 'address',
  backendServices: 'backendservice',
  firewalls: 'firewall',
  forwardingRules: 'forwardingrule',
  healthChecks: 'healthcheck',
  httpHealthChecks: 'healthcheck',
  instanceGroups: 'instancegroup',
  targetPools: 'targetpool',
};
const verbs: Readonly<Record<string, string>> = {
  'addresses.insert': 'reserve',
  'firewalls.patch': 'Patch',
  'backendServices.patch': 'update',
  'healthChecks.patch': 'update',
  'httpHealthChecks.patch': 'update',
  insert: 'create',
  addInstance: 'add_instances',
  removeInstance: 'remove_instances',
  addInstances: 'add_instances',
  removeInstances: 'remove_instances',
  listInstances: 'list_instances',
};

/** The value of `request` for a method of the API, as `forwardingrule_create` for `forwardingRules.insert`. */
export function requestLabel(collection: string, method: string): string {
  const verb = verbs[`${collection}.${method}`] ?? verbs[method] ?? method;
  return `${kinds[collection] ?? collection}_${verb}${collection === 'httpHealthChecks' ? '_legacy' : ''}`;
}

export const labelsOf = (collection: string, method: string, place: Place): string[] => [
  requestLabel(collection, method),
  typeof place === 'object' && 'region' in place ? place.region : none,
  typeof place === 'object' && 'zone' in place ? place.zone : none,
  'v1',
];
