// Network load balancers, layer 4 (https://docs.oracle.com/iaas/api/#/en/networkloadbalancer/20200501/).
import type { models, NetworkLoadBalancerClient } from 'oci-networkloadbalancer';
import { type BalancerApi, byAge, newRetryToken } from './balancer-api.ts';
import { withTexts } from 'sagong/cloud-provider/kit';
import type { ApiClient } from './client.ts';
import type { Balancer, PieceChange, WorkRequest } from './types.ts';

const balancerOf = (one: models.NetworkLoadBalancer | models.NetworkLoadBalancerSummary): Balancer => ({
  kind: 'nlb',
  id: one.id,
  compartmentId: one.compartmentId,
  displayName: one.displayName,
  lifecycleState: one.lifecycleState,
  timeCreated: String(one.timeCreated),
  isPrivate: one.isPrivate ?? false,
  ipAddresses: one.ipAddresses as Balancer['ipAddresses'],
  subnetIds: [one.subnetId],
  networkSecurityGroupIds: one.networkSecurityGroupIds ?? [],
  listeners: (one.listeners ?? {}) as Balancer['listeners'],
  backendSets: (one.backendSets ?? {}) as Balancer['backendSets'],
  certificates: {},
  ruleSets: {},
  ...(one.nlbIpVersion && { nlbIpVersion: one.nlbIpVersion }),
});

const states: Readonly<Record<string, WorkRequest['state']>> = {
  SUCCEEDED: 'succeeded',
  FAILED: 'failed',
  CANCELED: 'failed',
};
type OciWorkRequest = models.WorkRequest | models.WorkRequestSummary;
const balancerIdIn = ({ resources }: OciWorkRequest): string | undefined =>
  resources.find(({ entityType }) => /load_?balancer/i.test(entityType))?.identifier;
function workRequestOf(one: OciWorkRequest): WorkRequest {
  const balancerId = balancerIdIn(one);
  const { id, operationType: type, status, compartmentId } = one;
  return { id, type, state: states[status] ?? 'waiting', compartmentId, ...(balancerId && { balancerId }) };
}

type Begun = Promise<{ opcWorkRequestId?: string }>;

function changeWith(client: NetworkLoadBalancerClient, networkLoadBalancerId: string, change: PieceChange): Begun {
  const opcRetryToken = newRetryToken();
  const { name } = change;
  if (change.piece === 'listener') {
    if (change.verb === 'delete') return client.deleteListener({ networkLoadBalancerId, listenerName: name });
    const details = change.details as models.UpdateListenerDetails;
    const createListenerDetails = { name, ...details } as models.CreateListenerDetails;
    return change.verb === 'create'
      ? client.createListener({ networkLoadBalancerId, opcRetryToken, createListenerDetails })
      : client.updateListener({ networkLoadBalancerId, listenerName: name, updateListenerDetails: details });
  }
  if (change.piece === 'backendSet') {
    if (change.verb === 'delete') return client.deleteBackendSet({ networkLoadBalancerId, backendSetName: name });
    const details = change.details as models.UpdateBackendSetDetails;
    const createBackendSetDetails = { name, ...details } as models.CreateBackendSetDetails;
    return change.verb === 'create'
      ? client.createBackendSet({ networkLoadBalancerId, opcRetryToken, createBackendSetDetails })
      : client.updateBackendSet({ networkLoadBalancerId, backendSetName: name, updateBackendSetDetails: details });
  }
  throw new Error(`a network load balancer has no ${change.piece}`);
}

const resource = 'network_load_balancer';
const workRequests = 'network_load_balancer_work_request';

type WorkRequestApi = Pick<BalancerApi, 'workRequest' | 'workRequestErrors' | 'openWorkRequests'>;

function workRequestApi(api: Pick<ApiClient, 'networkBalancers' | 'read' | 'list'>, signal?: AbortSignal): WorkRequestApi {
  const { networkBalancers: client, read, list } = api;
  return {
    workRequest: async (workRequestId) =>
      workRequestOf((await read(`${workRequests}.get`, () => client.getWorkRequest({ workRequestId }), signal)).workRequest),
    async workRequestErrors({ id: workRequestId, compartmentId = '' }) {
      const all = await list<models.WorkRequestError>(
        `${workRequests}.list`,
        async (page) => {
          const answer = await client.listWorkRequestErrors({ workRequestId, compartmentId, ...page });
          return { items: answer.workRequestErrorCollection.items, opcNextPage: answer.opcNextPage };
        },
        signal,
      );
      return all.map(({ message }) => message);
    },
    async openWorkRequests({ id, compartmentId }) {
      const all = await list<models.WorkRequestSummary>(
        `${workRequests}.list`,
        async (page) => {
          const answer = await client.listWorkRequests({ compartmentId, ...page });
          return { items: answer.workRequestCollection.items, opcNextPage: answer.opcNextPage };
        },
        signal,
      );
      return all.map(workRequestOf).filter(({ state, balancerId }) => state === 'waiting' && balancerId === id);
    },
  };
}

export function networkApi({ networkBalancers: client, read, write, list }: ApiClient, signal?: AbortSignal): BalancerApi {
  const begin = async (call: string, begun: () => Begun): Promise<string> =>
    (await write(call, begun, signal)).opcWorkRequestId ?? '';
  return {
    kind: 'nlb',
    async list(compartmentId, displayName) {
      const all = await list<models.NetworkLoadBalancerSummary>(
        `${resource}.list`,
        async (page) => {
          const query = { compartmentId, ...(displayName && { displayName }), ...page };
          const answer = await client.listNetworkLoadBalancers(query);
          return { items: answer.networkLoadBalancerCollection.items, opcNextPage: answer.opcNextPage };
        },
        signal,
      );
      return withTexts(all.map(balancerOf), 'id', 'displayName')
        .filter((one) => one.lifecycleState !== 'DELETED' && (!displayName || one.displayName === displayName))
        .sort(byAge);
    },
    async get(networkLoadBalancerId) {
      const answer = await read(`${resource}.get`, () => client.getNetworkLoadBalancer({ networkLoadBalancerId }), signal);
      return balancerOf(answer.networkLoadBalancer);
    },
    async create({ subnetIds: [subnetId = ''], certificates: _none, ruleSets: _neither, ...rest }, opcRetryToken) {
      const details = { ...rest, subnetId } as unknown as models.CreateNetworkLoadBalancerDetails;
      const made = () => client.createNetworkLoadBalancer({ createNetworkLoadBalancerDetails: details, opcRetryToken });
      return begin(`${resource}.create`, made);
    },
    delete: (networkLoadBalancerId) =>
      begin(`${resource}.delete`, () => client.deleteNetworkLoadBalancer({ networkLoadBalancerId })),
    change: (id, change) =>
      begin(`${resource}_${change.piece === 'listener' ? 'listener' : 'backend_set'}.${change.verb}`, () =>
        changeWith(client, id, change),
      ),
    setGroups: (networkLoadBalancerId, networkSecurityGroupIds) =>
      begin(`${resource}.update`, () =>
        client.updateNetworkSecurityGroups({
          networkLoadBalancerId,
          updateNetworkSecurityGroupsDetails: { networkSecurityGroupIds },
        }),
      ),
    setShape: () => Promise.reject(new Error('a network load balancer has no shape')),
    setIpVersion: (networkLoadBalancerId, version) =>
      begin(`${resource}.update`, () => {
        const nlbIpVersion = version as models.NlbIpVersion;
        return client.updateNetworkLoadBalancer({
          networkLoadBalancerId,
          updateNetworkLoadBalancerDetails: { nlbIpVersion },
        });
      }),
    ...workRequestApi({ networkBalancers: client, read, list }, signal),
  };
}
