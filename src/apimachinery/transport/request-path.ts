// Paths and queries of the Kubernetes API (https://kubernetes.io/docs/reference/using-api/api-concepts/).
import type { ApiCall, CallOptions, DeleteOptions, WatchCall } from './index.ts';

type Target = Pick<ApiCall, 'group' | 'version' | 'resource' | 'namespace' | 'name' | 'subresource'>;

/** `/api/v1/namespaces/ns/pods/name/sub` or `/apis/group/version/...`. */
function resourcePath({ group, version, resource, namespace, name, subresource }: Target): string {
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const parts = [
    namespace ? `namespaces/${encodeURIComponent(namespace)}` : '',
    resource,
    name ? encodeURIComponent(name) : '',
    subresource ?? '',
  ];
  return [root, ...parts.filter((part) => part !== '')].join('/');
}

const plain = [
  'labelSelector',
  'fieldSelector',
  'resourceVersion',
  'resourceVersionMatch',
  'limit',
  'continue',
  'fieldManager',
  'fieldValidation',
] as const;

function baseQuery(options: CallOptions): URLSearchParams {
  const query = new URLSearchParams();
  for (const key of plain) {
    const value = options[key];
    if (value !== undefined && value !== '' && value !== 0) query.set(key, String(value));
  }
  if (options.dryRun) query.set('dryRun', 'All');
  if (options.force) query.set('force', 'true');
  return query;
}

const withQuery = (path: string, query: URLSearchParams): string => (query.size === 0 ? path : `${path}?${query.toString()}`);

export const callPath = (call: ApiCall): string => withQuery(resourcePath(call), baseQuery(call.options ?? {}));

export function watchPath(call: WatchCall): string {
  const { allowWatchBookmarks, sendInitialEvents, timeoutSeconds, ...options } = call.options ?? {};
  const query = baseQuery(options);
  query.set('watch', 'true');
  if (allowWatchBookmarks) query.set('allowWatchBookmarks', 'true');
  if (sendInitialEvents) {
    query.set('sendInitialEvents', 'true');
    query.set('resourceVersionMatch', 'NotOlderThan');
  }
  if (timeoutSeconds) query.set('timeoutSeconds', String(timeoutSeconds));
  return withQuery(resourcePath(call), query);
}

export const httpMethod = {
  get: 'GET',
  list: 'GET',
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
  deletecollection: 'DELETE',
} as const;

/** The body of a call: its media type and JSON value, or nothing. */
export function callBody(call: ApiCall): { type: string; value: unknown } | undefined {
  if (call.patch) return { type: call.patch.type, value: call.patch.body };
  if (call.verb === 'delete' || call.verb === 'deletecollection')
    return call.deleteOptions && { type: 'application/json', value: deleteBody(call.deleteOptions) };
  return call.object === undefined ? undefined : { type: 'application/json', value: call.object };
}

const deleteBody = (options: DeleteOptions): Record<string, unknown> => ({ apiVersion: 'v1', kind: 'DeleteOptions', ...options });
