// The operations of the APIs, by the names that the vendor's reference gives them: they begin each error and are the labels of metrics. A question
// about one thing gives undefined where there is none; deleting what is gone succeeds.
import { fineIfAbsent, thingIn, undefinedIfAbsent, withTexts } from 'sagong/cloud-provider/kit';
import type { ApiClient, Query } from './client.ts';
import type {
  Backend,
  Balancer,
  BalancerRequest,
  Eip,
  EipRequest,
  GroupRule,
  Instance,
  Listener,
  ListenerKind,
  ListenerName,
  ListenerSettings,
  RouteRequest,
  RouteTable,
  SecurityGroup,
  Subnet,
} from './types.ts';

function balancerApi(client: ApiClient, signal?: AbortSignal) {
  const blb = (path = '', query: Query = {}) => ({ service: 'blb', path: `v1/blb${path}`, query }) as const;
  const put = (name: string, path: string, query: Query, body: unknown) =>
    client.change<void>(name, { ...blb(path, query), method: 'PUT', body }, signal);
  return {
    balancers: async (query: Query = {}) =>
      withTexts(await client.list<Balancer>('DescribeLoadBalancers', 'blbList', blb('', query), signal), 'blbId', 'name'),
    balancer: (id: string) => client.get<Balancer>('DescribeLoadBalancerDetail', blb(`/${id}`), signal).catch(undefinedIfAbsent),
    /** With the same token it is the same one, for a day. */
    createBalancer: (body: BalancerRequest, clientToken: string) =>
      client.change<Pick<Balancer, 'blbId' | 'name' | 'address'>>(
        'CreateLoadBalancer',
        { ...blb('', { clientToken }), method: 'POST', body },
        signal,
      ),
    updateBalancer: (id: string, body: { name?: string; desc?: string }) => put('UpdateLoadBalancer', `/${id}`, {}, body),
    deleteBalancer: (id: string) =>
      client.change<void>('DeleteLoadBalancer', { ...blb(`/${id}`), method: 'DELETE' }, signal).catch(fineIfAbsent),

    allListeners: (id: string) =>
      client.list<ListenerName>('DescribeAllListeners', 'listenerList', blb(`/${id}/listener`), signal),
    listeners: (id: string, kind: ListenerKind) =>
      client.list<Listener>(`Describe${kind}Listeners`, 'listenerList', blb(`/${id}/${kind}listener`), signal),
    createListener: (id: string, kind: ListenerKind, body: Listener) =>
      client.change<void>(`Create${kind}Listener`, { ...blb(`/${id}/${kind}listener`), method: 'POST', body }, signal),
    updateListener: (id: string, kind: ListenerKind, port: number, body: ListenerSettings) =>
      put(`Update${kind}Listener`, `/${id}/${kind}listener`, { listenerPort: String(port) }, body),
    deleteListeners: (id: string, portTypeList: readonly { port: number; type: string }[]) =>
      put('DeleteListeners', `/${id}/listener`, { batchdelete: '' }, { portTypeList }).catch(fineIfAbsent),

    backends: (id: string) =>
      client.list<Backend>('DescribeBackendServers', 'backendServerList', blb(`/${id}/backendserver`), signal),
    addBackends: (id: string, backendServerList: readonly Backend[]) =>
      client.change<void>(
        'AddBackendServers',
        { ...blb(`/${id}/backendserver`), method: 'POST', body: { backendServerList } },
        signal,
      ),
    updateBackends: (id: string, backendServerList: readonly Backend[]) =>
      put('UpdateBackendServers', `/${id}/backendserver`, { update: '' }, { backendServerList }),
    groupsOf: async (id: string) => {
      const found = await client.get<{ blbSecurityGroups?: { securityGroupId: string }[] }>(
        'DescribeSecurityGroups',
        blb(`/${id}/securitygroup`),
        signal,
      );
      return found.blbSecurityGroups ?? [];
    },
    bindGroups: (id: string, securityGroupIds: readonly string[]) =>
      put('BindSecurityGroups', `/${id}/securitygroup`, { bind: '' }, { securityGroupIds }),
    unbindGroups: (id: string, securityGroupIds: readonly string[]) =>
      put('UnbindSecurityGroups', `/${id}/securitygroup`, { unbind: '' }, { securityGroupIds }).catch(fineIfAbsent),
    removeBackends: (id: string, backendServerList: readonly string[]) =>
      put('RemoveBackendServers', `/${id}/backendserver`, {}, { backendServerList }).catch(fineIfAbsent),
  };
}

function eipApi(client: ApiClient, signal?: AbortSignal) {
  const of = (path = '', query: Query = {}) => ({ service: 'eip', path: `v1/eip${path}`, query }) as const;
  const put = (name: string, address: string, query: Query, body?: unknown) =>
    client.change<void>(name, { ...of(`/${address}`, query), method: 'PUT', ...(body !== undefined && { body }) }, signal);
  const eips = (query: Query = {}) => client.list<Eip>('ListEips', 'eipList', of('', query), signal);
  return {
    eips,
    eip: async (address: string) => (await eips({ eip: address })).find(({ eip }) => eip === address),
    createEip: (body: EipRequest, clientToken: string) =>
      client.change<Pick<Eip, 'eip'>>('CreateEip', { ...of('', { clientToken }), method: 'POST', body }, signal),
    bindEip: (address: string, instanceId: string) => put('BindEip', address, { bind: '' }, { instanceType: 'BLB', instanceId }),
    unbindEip: (address: string) => put('UnbindEip', address, { unbind: '' }).catch(fineIfAbsent),
    resizeEip: (address: string, newBandwidthInMbps: number) => put('ResizeEip', address, { resize: '' }, { newBandwidthInMbps }),
    deleteEip: (address: string) =>
      client.change<void>('DeleteEip', { ...of(`/${address}`), method: 'DELETE' }, signal).catch(fineIfAbsent),
  };
}

function networkApi(client: ApiClient, signal?: AbortSignal) {
  const of = (path: string, query: Query = {}) => ({ service: 'vpc', path: `v1/${path}`, query }) as const;
  return {
    routeTable: (vpcId: string) => client.get<RouteTable>('GetRouteTable', of('route', { vpcId }), signal),
    createRoute: (body: RouteRequest) =>
      client.change<{ routeRuleId: string }>('CreateRouteRule', { ...of('route/rule'), method: 'POST', body }, signal),
    deleteRoute: (id: string) =>
      client.change<void>('DeleteRouteRule', { ...of(`route/rule/${id}`), method: 'DELETE' }, signal).catch(fineIfAbsent),
    subnet: async (id: string) => {
      const found = client.get('GetSubnet', of(`subnet/${id}`), signal).then((answer) => thingIn<Subnet>(answer, 'subnet'));
      return found.catch(undefinedIfAbsent);
    },
    subnets: (vpcId: string) => client.list<Subnet>('ListSubnets', 'subnets', of('subnet', { vpcId }), signal),
  };
}

function groupApi(client: ApiClient, signal?: AbortSignal) {
  const of = (path = '', query: Query = {}) => ({ service: 'bcc', path: `v2/securityGroup${path}`, query }) as const;
  const put = (name: string, id: string, query: Query, rule: GroupRule) =>
    client.change<void>(name, { ...of(`/${id}`, query), method: 'PUT', body: { rule } }, signal);
  return {
    groups: (vpcId: string) => client.list<SecurityGroup>('ListSecurityGroups', 'securityGroups', of('', { vpcId }), signal),
    createGroup: (body: Omit<SecurityGroup, 'id'>, clientToken: string) =>
      client.change<{ securityGroupId: string }>(
        'CreateSecurityGroup',
        { ...of('', { clientToken }), method: 'POST', body },
        signal,
      ),
    authorizeRule: (id: string, rule: GroupRule) => put('AuthorizeSecurityGroupRule', id, { authorizeRule: '' }, rule),
    revokeRule: (id: string, rule: GroupRule) => put('RevokeSecurityGroupRule', id, { revokeRule: '' }, rule).catch(fineIfAbsent),
    deleteGroup: (id: string) =>
      client.change<void>('DeleteSecurityGroup', { ...of(`/${id}`), method: 'DELETE' }, signal).catch(fineIfAbsent),
  };
}

/** The API for one caller, whose calls end with `signal`. */
export function baiduApi(client: ApiClient, signal?: AbortSignal) {
  return {
    ...balancerApi(client, signal),
    ...eipApi(client, signal),
    ...networkApi(client, signal),
    ...groupApi(client, signal),
    instances: async (query: Query = {}) => {
      const request = { service: 'bcc', path: 'v2/instance', query } as const;
      return withTexts(await client.list<Instance>('ListInstances', 'instances', request, signal), 'id', 'name');
    },
    instance: async (id: string) => {
      const request = { service: 'bcc', path: `v2/instance/${encodeURIComponent(id)}` } as const;
      const found = client.get('GetInstance', request, signal).then((answer) => thingIn<Instance>(answer, 'instance'));
      return found.catch(undefinedIfAbsent);
    },
  };
}
export type BaiduApi = ReturnType<typeof baiduApi>;
