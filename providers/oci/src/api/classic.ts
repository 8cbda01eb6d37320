// Load balancers, layer 7 (https://docs.oracle.com/iaas/api/#/en/loadbalancer/20170115/).
import type { LoadBalancerClient, models } from 'oci-loadbalancer';
import { type BalancerApi, byAge, newRetryToken } from './balancer-api.ts';
import { withTexts } from 'sagong/cloud-provider/kit';
import type { ApiClient } from './client.ts';
import type { Balancer, PieceChange, WorkRequest } from './types.ts';

/** Times are texts in the SDK's answers, whatever its types say. */
const balancerOf = (one: models.LoadBalancer): Balancer => ({
  kind: 'lb',
  id: one.id,
  compartmentId: one.compartmentId,
  displayName: one.displayName,
  lifecycleState: one.lifecycleState,
  timeCreated: String(one.timeCreated),
  isPrivate: one.isPrivate ?? false,
  ipAddresses: one.ipAddresses ?? [],
  subnetIds: one.subnetIds ?? [],
  networkSecurityGroupIds: one.networkSecurityGroupIds ?? [],
  listeners: (one.listeners ?? {}) as Balancer['listeners'],
  backendSets: (one.backendSets ?? {}) as Balancer['backendSets'],
  certificates: (one.certificates ?? {}) as Balancer['certificates'],
  ruleSets: one.ruleSets ?? {},
  shapeName: one.shapeName,
  ...(one.shapeDetails && { shapeDetails: one.shapeDetails }),
});

const states: Readonly<Record<string, WorkRequest['state']>> = { SUCCEEDED: 'succeeded', FAILED: 'failed' };
const workRequestOf = ({ id, loadBalancerId, type, lifecycleState }: models.WorkRequest): WorkRequest => ({
  id,
  ...(loadBalancerId && { balancerId: loadBalancerId }),
  type,
  state: states[lifecycleState] ?? 'waiting',
});

type Begun = Promise<{ opcWorkRequestId?: string }>;

function changeWith(client: LoadBalancerClient, loadBalancerId: string, change: PieceChange): Begun {
  const opcRetryToken = newRetryToken();
  const { name } = change;
  if (change.verb === 'delete') {
    if (change.piece === 'listener') return client.deleteListener({ loadBalancerId, listenerName: name });
    if (change.piece === 'backendSet') return client.deleteBackendSet({ loadBalancerId, backendSetName: name });
    if (change.piece === 'ruleSet') return client.deleteRuleSet({ loadBalancerId, ruleSetName: name });
    return client.deleteCertificate({ loadBalancerId, certificateName: name });
  }
  const isNew = change.verb === 'create';
  if (change.piece === 'listener')
    return isNew
      ? client.createListener({ loadBalancerId, opcRetryToken, createListenerDetails: { name, ...change.details } })
      : client.updateListener({ loadBalancerId, listenerName: name, updateListenerDetails: change.details });
  if (change.piece === 'backendSet') {
    const details = change.details as models.UpdateBackendSetDetails;
    return isNew
      ? client.createBackendSet({ loadBalancerId, opcRetryToken, createBackendSetDetails: { name, ...details } })
      : client.updateBackendSet({ loadBalancerId, backendSetName: name, updateBackendSetDetails: details });
  }
  if (change.piece === 'ruleSet') {
    const details = change.details as models.UpdateRuleSetDetails;
    return isNew
      ? client.createRuleSet({ loadBalancerId, opcRetryToken, createRuleSetDetails: { name, ...details } })
      : client.updateRuleSet({ loadBalancerId, ruleSetName: name, updateRuleSetDetails: details });
  }
  return client.createCertificate({ loadBalancerId, opcRetryToken, createCertificateDetails: change.details });
}

const resources = {
  listener: 'load_balancer_listener',
  backendSet: 'load_balancer_backend_set',
  ruleSet: 'load_balancer_rule_set',
  certificate: 'load_balancer_certificate',
} as const;

export function classicApi({ balancers: client, read, write, list }: ApiClient, signal?: AbortSignal): BalancerApi {
  const begin = async (call: string, begun: () => Begun): Promise<string> =>
    (await write(call, begun, signal)).opcWorkRequestId ?? '';
  return {
    kind: 'lb',
    async list(compartmentId, displayName) {
      const all = await list(
        'load_balancer.list',
        (page) => client.listLoadBalancers({ compartmentId, ...(displayName && { displayName }), ...page }),
        signal,
      );
      return withTexts(all.map(balancerOf), 'id', 'displayName')
        .filter((one) => one.lifecycleState !== 'DELETED' && (!displayName || one.displayName === displayName))
        .sort(byAge);
    },
    get: async (loadBalancerId) =>
      balancerOf((await read('load_balancer.get', () => client.getLoadBalancer({ loadBalancerId }), signal)).loadBalancer),
    create(balancer, opcRetryToken) {
      const createLoadBalancerDetails = balancer as unknown as models.CreateLoadBalancerDetails;
      return begin('load_balancer.create', () => client.createLoadBalancer({ createLoadBalancerDetails, opcRetryToken }));
    },
    delete: (loadBalancerId) => begin('load_balancer.delete', () => client.deleteLoadBalancer({ loadBalancerId })),
    change: (id, change) => begin(`${resources[change.piece]}.${change.verb}`, () => changeWith(client, id, change)),
    setGroups: (loadBalancerId, networkSecurityGroupIds) =>
      begin('load_balancer.update', () =>
        client.updateNetworkSecurityGroups({
          loadBalancerId,
          updateNetworkSecurityGroupsDetails: { networkSecurityGroupIds },
        }),
      ),
    setShape: (loadBalancerId, shapeName, shapeDetails) =>
      begin('load_balancer_shape.update', () =>
        client.updateLoadBalancerShape({
          loadBalancerId,
          updateLoadBalancerShapeDetails: { shapeName, ...(shapeDetails && { shapeDetails }) },
        }),
      ),
    setIpVersion: () => Promise.reject(new Error('a load balancer keeps its IP version')),
    workRequest: async (workRequestId) =>
      workRequestOf(
        (await read('load_balancer_work_request.get', () => client.getWorkRequest({ workRequestId }), signal)).workRequest,
      ),
    async workRequestErrors({ id: workRequestId }) {
      const { workRequest } = await read(
        'load_balancer_work_request.get',
        () => client.getWorkRequest({ workRequestId }),
        signal,
      );
      return workRequest.errorDetails.map(({ message }) => message);
    },
    async openWorkRequests({ id: loadBalancerId }) {
      const all = await list(
        'load_balancer_work_request.list',
        (page) => client.listWorkRequests({ loadBalancerId, ...page }),
        signal,
      );
      return all.map(workRequestOf).filter(({ state }) => state === 'waiting');
    },
  };
}
