// Resource IDs of Azure: `/subscriptions/<id>/resourceGroups/<group>/providers/<namespace>/<type>/<name>`, compared without case. Pure.

export interface ResourceId {
  subscription: string;
  group: string;
  /** `Microsoft.Network`. */
  namespace: string;
  /** `loadBalancers`, or `loadBalancers/probes` of a part. */
  type: string;
  /** Names, outermost first. */
  names: string[];
}

const pattern = /^\/subscriptions\/([^/]+)\/resourceGroups\/([^/]+)\/providers\/([^/]+)\/(.+)$/i;

/** Reads a resource ID; undefined where the text is no such ID. */
export function parseId(id: string | undefined): ResourceId | undefined {
  const [, subscription = '', group = '', namespace = '', rest = ''] = pattern.exec(id ?? '') ?? [];
  const parts = rest.split('/');
  if (subscription === '' || parts.some((part) => part === '')) return undefined;
  const types = parts.filter((_, index) => index % 2 === 0);
  return { subscription, group, namespace, type: types.join('/'), names: parts.filter((_, index) => index % 2 === 1) };
}

export const sameText = (a: string | undefined, b: string | undefined): boolean =>
  a !== undefined && b !== undefined && a.toLowerCase() === b.toLowerCase();

/** The name at the end of an ID; '' without one. */
export const lastOf = (id: string | undefined): string => id?.slice(id.lastIndexOf('/') + 1) ?? '';

export const resourceId = (subscription: string, group: string, namespace: string, ...path: readonly string[]): string =>
  `/subscriptions/${subscription}/resourceGroups/${group}/providers/${namespace}/${path.join('/')}`;
export const networkId = (subscription: string, group: string, ...path: readonly string[]): string =>
  resourceId(subscription, group, 'Microsoft.Network', ...path);
