// Which container of a pod a request is about (pkg/registry/core/pod, validateContainer).
import type { Pod } from '#api/core/v1';
import { badRequest, notFound } from '#apimachinery/errors';
import type { SpecialContext } from '../../special.ts';

const namesOf = ({ spec }: Pod): string[] =>
  [...(spec?.initContainers ?? []), ...(spec?.containers ?? []), ...(spec?.ephemeralContainers ?? [])].map(({ name }) => name);

/** The pod of the request; throws 404. */
export function podOf({ cluster, target: { namespace, name } }: SpecialContext): Pod {
  const pod = cluster.get<Pod>('', 'pods', namespace, name);
  if (!pod) throw notFound({ group: '', resource: 'pods' }, name);
  return pod;
}

/** The container asked for, or the only one. Throws 400. */
export function containerOf(pod: Pod, asked: string): string {
  const podName = pod.metadata.name ?? '';
  const names = namesOf(pod);
  if (asked !== '') {
    if (!names.includes(asked)) throw badRequest(`container ${asked} is not valid for pod ${podName}`);
    return asked;
  }
  const [only, ...more] = pod.spec?.containers ?? [];
  if (!only) throw badRequest(`a container name must be specified for pod ${podName}`);
  if (more.length === 0) return only.name;
  throw badRequest(`a container name must be specified for pod ${podName}, choose one of: [${names.join(' ')}]`);
}

/** The node the pod is on. Throws 400. */
export function nodeOf(pod: Pod): string {
  const node = pod.spec?.nodeName;
  if (!node) throw badRequest(`pod ${pod.metadata.name ?? ''} does not have a host assigned`);
  return node;
}
