// Load balancers of Services: which kind serves one, and what is refused (k8s.io/cloud-provider LoadBalancer on cloud-provider-aws).
import { implementedElsewhere, type LoadBalancer, type Service } from 'sagong/cloud-provider';
import type { Cloud } from '../cloud.ts';
import { loadBalancerName } from '../naming.ts';
import { classicState, deleteClassic } from './classic/delete.ts';
import { describeClassic } from './classic/describe.ts';
import { ensureClassic, updateClassic } from './classic/ensure.ts';
import { deleteNetwork, networkState } from './network/delete.ts';
import { describeNetwork } from './network/describe.ts';
import { ensureNetwork, updateNetwork } from './network/ensure.ts';
import { checkService, kindOf, presentKind } from './validate.ts';

type OwnKind = 'classic' | 'network';
const otherKind = (kind: OwnKind): OwnKind => (kind === 'network' ? 'classic' : 'network');

/** The kinds that may have pieces: the one the annotation names, and the one the status shows, as somebody may have changed the annotation since. */
function kindsOf(service: Service): Set<OwnKind> {
  const kind = kindOf(service);
  if (kind === 'elsewhere') return new Set();
  return new Set([kind, presentKind(service) ?? otherKind(kind)]);
}

const remove = (cloud: Cloud, cluster: string, service: Service, kind: OwnKind): Promise<void> =>
  kind === 'network' ? deleteNetwork(cloud, cluster, service) : deleteClassic(cloud, loadBalancerName(service), service);

/** A Service without a status may have changed its kind before its load balancer was done: what there is of the other kind goes. */
async function removeFormer(cloud: Cloud, cluster: string, service: Service, kind: OwnKind): Promise<void> {
  if (presentKind(service) !== undefined) return;
  const name = loadBalancerName(service);
  const former = await (kind === 'network' ? describeClassic(cloud, name) : describeNetwork(cloud, name));
  if (former) await remove(cloud, cluster, service, otherKind(kind));
}

export function loadBalancer(during: (signal?: AbortSignal) => Cloud): LoadBalancer {
  return {
    getLoadBalancerName: (_cluster, service) => loadBalancerName(service),

    async getLoadBalancer(cluster, service, signal) {
      const cloud = during(signal);
      const name = loadBalancerName(service);
      for (const kind of kindsOf(service)) {
        const state = kind === 'network' ? await networkState(cloud, cluster, service) : await classicState(cloud, name);
        if (state) return state;
      }
      return undefined;
    },

    async ensureLoadBalancer(cluster, service, nodes, signal) {
      const kind = kindOf(service);
      if (kind === 'elsewhere') throw implementedElsewhere();
      checkService(service, kind);
      const cloud = during(signal);
      await removeFormer(cloud, cluster, service, kind);
      return kind === 'network' ? ensureNetwork(cloud, cluster, service, nodes) : ensureClassic(cloud, service, nodes);
    },

    async updateLoadBalancer(cluster, service, nodes, signal) {
      const kind = kindOf(service);
      if (kind === 'elsewhere') throw implementedElsewhere();
      checkService(service, kind);
      const cloud = during(signal);
      if (kind === 'network') await updateNetwork(cloud, cluster, service, nodes);
      else await updateClassic(cloud, loadBalancerName(service), service, nodes);
    },

    async ensureLoadBalancerDeleted(cluster, service, signal) {
      const cloud = during(signal);
      for (const kind of kindsOf(service)) await remove(cloud, cluster, service, kind);
    },
  };
}
