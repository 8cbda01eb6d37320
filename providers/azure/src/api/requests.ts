// What a request to Azure Resource Manager is about, by its method and path: the names under which calls are counted, limited and told in errors. Pure.

export interface RequestName {
  /** `loadBalancers`; `operations` for the progress of an operation. */
  type: string;
  /** `loadBalancers.createOrUpdate`. */
  call: string;
  /** `load_balancers_create_or_update`, as upstream counts it. */
  metric: string;
  group: string;
  subscription: string;
  isRead: boolean;
}

/** Upstream's words for types (cloud-provider-azure, `NewMetricContext` of its clients). */
const words: Readonly<Record<string, string>> = {
  loadbalancers: 'load_balancers',
  publicipaddresses: 'public_ip_addresses',
  networkinterfaces: 'interfaces',
  networksecuritygroups: 'nsg',
  routetables: 'route_tables',
  'virtualnetworks/subnets': 'subnets',
  virtualmachines: 'vm',
  virtualmachinescalesets: 'vmss',
  'virtualmachinescalesets/virtualmachines': 'vmssvm',
  'virtualmachinescalesets/networkinterfaces': 'interfaces',
  'virtualmachinescalesets/virtualmachines/networkinterfaces': 'interfaces',
};
const verbs: Readonly<Record<string, readonly [string, string]>> = {
  PUT: ['createOrUpdate', 'create_or_update'],
  PATCH: ['update', 'update'],
  DELETE: ['delete', 'delete'],
  POST: ['post', 'post'],
};
const pathPattern = /^\/subscriptions\/([^/]+)(?:\/resourceGroups\/([^/]+))?\/providers\/[^/]+\/(.+?)\/?$/i;

export function requestName(method: string, url: string): RequestName {
  const { pathname } = new URL(url);
  const [, subscription = '', group = '', rest = ''] = pathPattern.exec(pathname) ?? [];
  const isRead = method === 'GET' || method === 'HEAD';
  const base = { group: group.toLowerCase(), subscription, isRead };
  if (rest === '' || /^locations\/[^/]+\/operation/i.test(rest))
    return { ...base, type: 'operations', call: 'operations.get', metric: 'operations_get' };
  const parts = rest.split('/');
  const type = parts.filter((_, index) => index % 2 === 0).join('/');
  const [verb, metricVerb] = isRead
    ? parts.length % 2 === 0
      ? ['get', 'get']
      : ['list', 'list']
    : (verbs[method] ?? [method, method]);
  return { ...base, type, call: `${type}.${verb}`, metric: `${words[type.toLowerCase()] ?? type}_${metricVerb}` };
}
