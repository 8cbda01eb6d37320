// Load balancers of Services: which kind serves one, and what is refused (k8s.io/cloud-provider LoadBalancer on cloud-provider-aws).
import { implementedElsewhere, type LoadBalancer, type Service } from 'sagong/cloud-provider';
import type { Cloud } from '../cloud.ts';
import { loadBalancerName } from '../naming.ts';
import { classicState, deleteClassic } from './classic/delete.ts';
import { ensureClassic, updateClassic } from './classic/ensure.ts';
import { deleteNetwork, networkState } from './network/delete.ts';
import { ensureNetwork, updateNetwork } from './network/ensure.ts';
import { checkService, kindOf, presentKind } from './validate.ts';

/** The kinds that may have pieces: the one the annotation names, and the one the status shows when somebody changed the annotation since. */
function kindsOf(service: Service): Set<'classic' | 'network'> {
  const kind = kindOf(service);
  if (kind === 'elsewhere') return new Set();
  return new Set([kind, presentKind(service) ?? kind]);
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
      for (const kind of kindsOf(service))
        if (kind === 'network') await deleteNetwork(cloud, cluster, service);
        else await deleteClassic(cloud, loadBalancerName(service), service);
    },
  };
}
