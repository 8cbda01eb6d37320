// The operations of the API, with their paths and types. A question about one thing gives undefined where there is none; deleting what is gone
// succeeds.
import { fineIfAbsent, undefinedIfAbsent, withTexts } from 'sagong/cloud-provider/kit';
import type { ApiClient } from './client.ts';
import type {
  BalancerConfig,
  BalancerNode,
  ConfigInterface,
  ConfigRequest,
  Filter,
  Firewall,
  FirewallDevice,
  FirewallRules,
  Linode,
  LinodeInterface,
  NodeBalancer,
  NodeBalancerRequest,
  NodeRequest,
  Subnet,
  Vpc,
  VpcIp,
} from './types.ts';

const verbs = (client: ApiClient, signal?: AbortSignal) => ({
  find: <T>(name: string, path: string): Promise<T | undefined> => client.get<T>(name, path, signal).catch(undefinedIfAbsent),
  list: <T>(name: string, path: string, filter?: Filter) => client.list<T>(name, path, filter, signal),
  post: <T>(name: string, path: string, body: unknown) => client.change<T>(name, 'POST', path, body, signal),
  put: <T>(name: string, path: string, body: unknown) => client.change<T>(name, 'PUT', path, body, signal),
  remove: (name: string, path: string): Promise<void> =>
    client.change<void>(name, 'DELETE', path, undefined, signal).catch(fineIfAbsent),
});

function balancerApi({ find, list, post, put, remove }: ReturnType<typeof verbs>) {
  const config = (balancer: number, id: number): string => `nodebalancers/${balancer}/configs/${id}`;
  return {
    balancer: (id: number) => find<NodeBalancer>('GetNodeBalancer', `nodebalancers/${id}`),
    balancers: async (filter?: Filter) =>
      withTexts(await list<NodeBalancer>('ListNodeBalancers', 'nodebalancers', filter), 'label'),
    createBalancer: (body: NodeBalancerRequest) => post<NodeBalancer>('CreateNodeBalancer', 'nodebalancers', body),
    updateBalancer: (id: number, body: Partial<Pick<NodeBalancer, 'client_conn_throttle' | 'tags'>>) =>
      put<NodeBalancer>('UpdateNodeBalancer', `nodebalancers/${id}`, body),
    deleteBalancer: (id: number) => remove('DeleteNodeBalancer', `nodebalancers/${id}`),

    configs: (balancer: number) => list<BalancerConfig>('ListNodeBalancerConfigs', `nodebalancers/${balancer}/configs`),
    createConfig: (balancer: number, body: ConfigRequest & { nodes: NodeRequest[] }) =>
      post<BalancerConfig>('CreateNodeBalancerConfig', `nodebalancers/${balancer}/configs`, body),
    updateConfig: (balancer: number, id: number, body: ConfigRequest) =>
      put<BalancerConfig>('UpdateNodeBalancerConfig', config(balancer, id), body),
    rebuildConfig: (balancer: number, id: number, body: ConfigRequest & { nodes: NodeRequest[] }) =>
      post<BalancerConfig>('RebuildNodeBalancerConfig', `${config(balancer, id)}/rebuild`, body),
    deleteConfig: (balancer: number, id: number) => remove('DeleteNodeBalancerConfig', config(balancer, id)),
    nodes: (balancer: number, id: number) => list<BalancerNode>('ListNodeBalancerNodes', `${config(balancer, id)}/nodes`),
    deleteNode: (balancer: number, id: number, node: number) =>
      remove('DeleteNodeBalancerNode', `${config(balancer, id)}/nodes/${node}`),
  };
}

/** The API for one caller, whose calls end with `signal`. */
export function linodeApi(client: ApiClient, signal?: AbortSignal) {
  const own = verbs(client, signal);
  const { find, list, post, put, remove } = own;
  return {
    ...balancerApi(own),
    profile: () => client.get<unknown>('GetProfile', 'profile', signal),

    linode: (id: number) => find<Linode>('GetInstance', `linode/instances/${id}`),
    linodes: async (filter?: Filter) => withTexts(await list<Linode>('ListInstances', 'linode/instances', filter), 'label'),

    firewalls: (filter?: Filter) => list<Firewall>('ListFirewalls', 'networking/firewalls', filter),
    firewallsOf: (balancer: number) => list<Firewall>('ListNodeBalancerFirewalls', `nodebalancers/${balancer}/firewalls`),
    createFirewall: (body: Omit<Firewall, 'id'>) => post<Firewall>('CreateFirewall', 'networking/firewalls', body),
    setRules: (firewall: number, body: FirewallRules) =>
      put<FirewallRules>('UpdateFirewallRules', `networking/firewalls/${firewall}/rules`, body),
    deleteFirewall: (id: number) => remove('DeleteFirewall', `networking/firewalls/${id}`),
    devices: (firewall: number) => list<FirewallDevice>('ListFirewallDevices', `networking/firewalls/${firewall}/devices`),
    attach: (firewall: number, balancer: number) =>
      post<FirewallDevice>('CreateFirewallDevice', `networking/firewalls/${firewall}/devices`, {
        id: balancer,
        type: 'nodebalancer',
      }),
    detach: (firewall: number, device: number) =>
      remove('DeleteFirewallDevice', `networking/firewalls/${firewall}/devices/${device}`),

    releaseAddress: (address: string) => remove('DeleteReservedIPAddress', `networking/reserved/ips/${address}`),

    vpcs: () => list<Vpc>('ListVPCs', 'vpcs'),
    vpc: (id: number) => find<Vpc>('GetVPC', `vpcs/${id}`),
    subnets: (vpc: number) => list<Subnet>('ListVPCSubnets', `vpcs/${vpc}/subnets`),
    vpcIps: (vpc: number) => list<VpcIp>('ListVPCIPAddresses', `vpcs/${vpc}/ips`),
    vpcIpv6s: (vpc: number) => list<VpcIp>('ListVPCIPv6Addresses', `vpcs/${vpc}/ipv6s`),

    configInterface: (linode: number, profile: number, id: number) =>
      find<ConfigInterface>('GetInstanceConfigInterface', `linode/instances/${linode}/configs/${profile}/interfaces/${id}`),
    setConfigInterface: (linode: number, profile: number, id: number, body: Partial<ConfigInterface>) =>
      put<ConfigInterface>(
        'UpdateInstanceConfigInterface',
        `linode/instances/${linode}/configs/${profile}/interfaces/${id}`,
        body,
      ),
    interface: (linode: number, id: number) =>
      find<LinodeInterface>('GetInterface', `linode/instances/${linode}/interfaces/${id}`),
    setInterface: (linode: number, id: number, body: Pick<LinodeInterface, 'vpc'>) =>
      put<LinodeInterface>('UpdateInterface', `linode/instances/${linode}/interfaces/${id}`, body),
  };
}

export type LinodeApi = ReturnType<typeof linodeApi>;
