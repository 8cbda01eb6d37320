// Whether an APIService can be used (k8s.io/kube-aggregator/pkg/controllers/status). Those without a Service are served here; for the others
// the Service is looked at. Requests are not handed on to other API servers yet, and the condition says so.
import type { APIService, APIServiceCondition } from '#api/apiregistration/v1';
import type { Service } from '#api/core/v1';
import type { EndpointSlice } from '#api/discovery/v1';
import { formatTime } from '#apimachinery/meta';
import { quote } from '#utils';
import type { ClusterWriter, ReadOnlyCluster } from '../contracts.ts';
import { isConflict, isNotFound } from '#apimachinery/errors';
import { apiServiceGroup } from './registration.ts';

type Finding = Pick<APIServiceCondition, 'status' | 'reason' | 'message'>;
const not = (reason: string, message: string): Finding => ({ status: 'False', reason, message });

export function findingOf({ spec }: APIService, cluster: ReadOnlyCluster): Finding {
  const reference = spec?.service;
  if (!reference) return { status: 'True', reason: 'Local', message: 'Local APIServices are always available' };
  const { name = '', namespace = '', port = 443 } = reference;
  const where = `service/${name} in ${quote(namespace)}`;
  const service = cluster.get<Service>('', 'services', namespace, name);
  if (!service) return not('ServiceNotFound', `${where} is not present`);
  if ((service.spec?.type ?? 'ClusterIP') === 'ClusterIP') {
    const served = service.spec?.ports?.find((one) => one.port === port);
    if (!served) return not('ServicePortError', `${where} is not listening on port ${port}`);
    const slices = cluster
      .list<EndpointSlice>('discovery.k8s.io', 'endpointslices', namespace)
      .filter(({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === name);
    if (slices.length === 0) return not('EndpointsNotFound', `cannot find endpointslices for ${where}`);
    const portName = served.name ?? '';
    const isActive = ({ endpoints, ports }: EndpointSlice): boolean =>
      (endpoints ?? []).some(({ conditions }) => conditions?.ready !== false) &&
      (ports ?? []).some((one) => (one.name ?? '') === portName);
    if (!slices.some(isActive))
      return not('MissingEndpoints', `endpointslices for ${where} have no addresses with port name ${quote(portName)}`);
  }
  return not('FailedDiscoveryCheck', `requests for other API servers are not handed on: ${where} was not asked`);
}

/** The APIService with what was found, or undefined when that is known already. */
function judged(service: APIService, finding: Finding, nowMs: number): APIService | undefined {
  const conditions = service.status?.conditions ?? [];
  const before = conditions.find(({ type }) => type === 'Available');
  if (before?.status === finding.status && before.reason === finding.reason && before.message === finding.message)
    return undefined;
  const changed = before?.status !== finding.status;
  const condition: APIServiceCondition = {
    type: 'Available',
    status: finding.status,
    lastTransitionTime: changed ? formatTime(nowMs) : before.lastTransitionTime,
    reason: finding.reason,
    message: finding.message,
  };
  const rest = conditions.filter((one) => one !== before);
  return { ...service, status: { ...service.status, conditions: [...rest, condition] } };
}

/** Writes what is found about these APIServices where it differs from their status. */
export async function judge(
  cluster: ReadOnlyCluster,
  writer: ClusterWriter,
  services: readonly APIService[],
  now: () => number,
): Promise<void> {
  await Promise.all(
    services.map(async (service) => {
      if (!judged(service, findingOf(service, cluster), now())) return;
      const change = (current: APIService) => judged(current, findingOf(current, cluster), now());
      try {
        await writer.update<APIService>(apiServiceGroup, 'apiservices', '', service.metadata.name ?? '', change, {
          subresource: 'status',
        });
      } catch (error) {
        if (!isNotFound(error) && !isConflict(error)) throw error;
      }
    }),
  );
}

/** Whether requests for this group version belong to another API server. */
export const isRemote = (cluster: ReadOnlyCluster, group: string, version: string): boolean =>
  cluster.get<APIService>(apiServiceGroup, 'apiservices', '', `${version}.${group}`)?.spec?.service !== undefined;
