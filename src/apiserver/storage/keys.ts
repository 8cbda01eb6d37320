// Where objects live in the store: upstream's key layout (k8s.io/kubernetes pkg/kubeapiserver, SpecialDefaultResourcePrefixes), so that an
// etcd written by an upstream apiserver can be served, and the other way round.

export const registryPrefix = '/registry/';

const special: Record<string, string> = {
  '/replicationcontrollers': 'controllers',
  '/endpoints': 'services/endpoints',
  '/nodes': 'minions',
  '/services': 'services/specs',
  'networking.k8s.io/ingresses': 'ingress',
  'apiextensions.k8s.io/customresourcedefinitions': 'apiextensions.k8s.io/customresourcedefinitions',
  'apiregistration.k8s.io/apiservices': 'apiregistration.k8s.io/apiservices',
};

/** `/registry/pods/`: the prefix of every key of a built-in resource. */
export const builtinPrefix = (group: string, resource: string): string =>
  `${registryPrefix}${special[`${group}/${resource}`] ?? resource}/`;

/** The prefix of a custom resource's keys, which have its group: `/registry/example.com/widgets/`. */
export const customPrefix = (group: string, resource: string): string => `${registryPrefix}${group}/${resource}/`;

export const objectKey = (prefix: string, namespace: string, name: string): string =>
  namespace === '' ? prefix + name : `${prefix}${namespace}/${name}`;

/** The namespace and name in what follows the prefix of a key. */
export function keyParts(prefix: string, key: string, namespaced: boolean): { namespace: string; name: string } {
  const rest = key.slice(prefix.length);
  if (!namespaced) return { namespace: '', name: rest };
  const slash = rest.indexOf('/');
  return slash < 0 ? { namespace: '', name: rest } : { namespace: rest.slice(0, slash), name: rest.slice(slash + 1) };
}

/** What is stored under a key, by the prefixes of built-in resources; undefined: no object of the API. Groups of custom resources have a dot. */
export function resourceOfKey(
  builtin: ReadonlyMap<string, { group: string; resource: string }>,
  key: string,
): { group: string; resource: string } | undefined {
  const first = key.indexOf('/', registryPrefix.length);
  if (first < 0) return undefined;
  const second = key.indexOf('/', first + 1);
  const found = (second < 0 ? undefined : builtin.get(key.slice(0, second + 1))) ?? builtin.get(key.slice(0, first + 1));
  if (found || second < 0) return found;
  const group = key.slice(registryPrefix.length, first);
  return group.includes('.') ? { group, resource: key.slice(first + 1, second) } : undefined;
}
