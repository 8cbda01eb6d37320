// Whether an APIService can be used (k8s.io/kube-aggregator/pkg/controllers/status): those without a Service are served here; for the others
// the Service is looked at, and then the server behind it is asked.
import type { APIService, APIServiceCondition } from '#api/apiregistration/v1';
import type { Service } from '#api/core/v1';
import { isConflict, isNotFound } from '#apimachinery/errors';
import { formatTime } from '#apimachinery/meta';
import { quote } from '#utils';
import type { ClusterWriter } from '../registry/writer.ts';
import type { ReadOnlyCluster } from '../storage/read-only-cluster.ts';
import { hasReadyEndpoint, slicesOf } from '../outbound/service-resolver.ts';
import { apiServiceGroup } from './registration.ts';

export type Finding = Pick<APIServiceCondition, 'status' | 'reason' | 'message'>;
const not = (reason: string, message: string): Finding => ({ status: 'False', reason, message });

export const local: Finding = { status: 'True', reason: 'Local', message: 'Local APIServices are always available' };
export const passed: Finding = { status: 'True', reason: 'Passed', message: 'all checks passed' };
export const failedDiscovery = (message: string): Finding => not('FailedDiscoveryCheck', message);

/** What the cluster's objects say; undefined: nothing speaks against asking the server. */
export function findingOf({ spec }: APIService, cluster: ReadOnlyCluster): Finding | undefined {
  const reference = spec?.service;
  if (!reference) return local;
  const { name = '', namespace = '', port = 443 } = reference;
  const where = `service/${name} in ${quote(namespace)}`;
  const service = cluster.get<Service>('', 'services', namespace, name);
  if (!service) return not('ServiceNotFound', `${where} is not present`);
  if ((service.spec?.type ?? 'ClusterIP') !== 'ClusterIP') return undefined;
  const served = service.spec?.ports?.find((one) => one.port === port);
  if (!served) return not('ServicePortError', `${where} is not listening on port ${port}`);
  const slices = slicesOf(cluster, namespace, name);
  if (slices.length === 0) return not('EndpointsNotFound', `cannot find endpointslices for ${where}`);
  const portName = served.name ?? '';
  return hasReadyEndpoint(slices, portName)
    ? undefined
    : not('MissingEndpoints', `endpointslices for ${where} have no addresses with port name ${quote(portName)}`);
}

/** The APIService with what was found, or undefined when that is known already. */
export function judged(service: APIService, finding: Finding, nowMs: number): APIService | undefined {
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

/** Writes the finding where it differs from the status. Answers whether an APIService that was available is so no more. */
export async function record(writer: ClusterWriter, name: string, finding: Finding, now: () => number): Promise<boolean> {
  let lost = false;
  const change = (current: APIService): APIService | undefined => {
    const was = current.status?.conditions?.some(({ type, status }) => type === 'Available' && status === 'True') ?? false;
    lost = was && finding.status !== 'True';
    return judged(current, finding, now());
  };
  try {
    await writer.update<APIService>(apiServiceGroup, 'apiservices', '', name, change, { subresource: 'status' });
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error;
    return false;
  }
  return lost;
}

/** Writes what is found about the APIServices that are served here. */
export async function judgeLocal(
  cluster: ReadOnlyCluster,
  writer: ClusterWriter,
  services: readonly APIService[],
  now: () => number,
): Promise<void> {
  const unknown = services.filter((service) => !service.spec?.service && judged(service, local, now()));
  await Promise.all(unknown.map(({ metadata: { name = '' } }) => record(writer, name, local, now)));
}
