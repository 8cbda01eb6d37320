// The backend service of an internal load balancer: groups of instances, protocol, session affinity and health check.
import { sameSet, undefinedIfAbsent } from 'sagong/cloud-provider/kit';
import type { BackendService } from '../api/types.ts';
import type { Cloud } from '../cloud.ts';
import { instancePathIn, nameIn } from '../links.ts';
import { serviceDescription } from '../names.ts';
import { ensureResource } from './ensure-resource.ts';
import type { InternalPlan } from './plan.ts';

const groupsIn = ({ backends = [] }: BackendService): string[] => backends.map(({ group = '' }) => instancePathIn(group));

const wantedService = ({ api, settings }: Cloud, plan: InternalPlan, groups: readonly string[]): BackendService => ({
  name: plan.backendService,
  description: plan.sharesBackend ? '' : serviceDescription(plan.service),
  protocol: plan.ports.protocol,
  sessionAffinity: plan.affinity,
  loadBalancingScheme: 'INTERNAL',
  healthChecks: [api.link(settings.project, 'global', 'healthChecks', plan.healthCheck.name)],
  backends: groups.map((group) => ({ group })),
});

const same = (a: BackendService, b: BackendService): boolean =>
  a.protocol === b.protocol &&
  (a.description ?? '') === (b.description ?? '') &&
  (a.sessionAffinity || 'NONE') === (b.sessionAffinity || 'NONE') &&
  sameSet(a.healthChecks?.map(nameIn), b.healthChecks?.map(nameIn)) &&
  sameSet(groupsIn(a), groupsIn(b));

/** Makes it, or changes what differs; what is no part of the plan, as connection draining, stays. */
export function ensureBackendService(cloud: Cloud, plan: InternalPlan, groups: readonly string[]): Promise<boolean> {
  const wanted = wantedService(cloud, plan, groups);
  return ensureResource(cloud.resources.backendServices, wanted, (there) =>
    same(there, wanted) ? undefined : { ...wanted, ...(there.fingerprint && { fingerprint: there.fingerprint }) },
  );
}

export const backendServiceOf = ({ resources }: Cloud, name: string): Promise<BackendService | undefined> =>
  resources.backendServices.get(name).catch(undefinedIfAbsent);

/** Gives a backend service other groups of machines, and changes nothing else of it. */
export async function updateBackends(cloud: Cloud, there: BackendService, groups: readonly string[]): Promise<void> {
  const wanted = groups.map((group) => ({ group }));
  const compare = (now: BackendService) =>
    sameSet(groupsIn(now), groupsIn({ backends: wanted }))
      ? undefined
      : { backends: wanted, ...(now.fingerprint && { fingerprint: now.fingerprint }) };
  await ensureResource(cloud.resources.backendServices, there, compare);
}
