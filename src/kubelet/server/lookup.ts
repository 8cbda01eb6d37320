// Which container a request means, and why it cannot be served (upstream kubelet_pods.go validateContainerLogStatus, server.go).
import type { ContainerStatus, Pod, PodStatus } from '#api/core/v1';
import { findContainer } from '#component-helpers/pod';
import { quote } from '#utils';
import type { ServedKubelet } from './served.ts';

/** A refusal with its HTTP status. */
export class RequestError extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.name = 'RequestError';
    this.status = status;
  }
}

/** The pod by name, and by uid where the path has one. Throws 404. */
export function findPod(kubelet: ServedKubelet, namespace: string, name: string, uid = ''): Pod {
  const pod = kubelet.workers
    .pods()
    .find(({ metadata }) => metadata.namespace === namespace && metadata.name === name && (uid === '' || metadata.uid === uid));
  const mirror = uid === '' ? undefined : kubelet.workers.mirrors().find(({ metadata }) => metadata.uid === uid);
  const found = pod ?? (mirror && findPod(kubelet, namespace, name));
  if (found === undefined) throw new RequestError(404, 'pod does not exist');
  return found;
}

export const statusOf = (kubelet: ServedKubelet, pod: Pod): PodStatus =>
  kubelet.statuses.get(pod.metadata.uid ?? '') ?? pod.status ?? {};

export const containerStatusOf = (status: PodStatus, name: string): ContainerStatus | undefined =>
  [
    ...(status.containerStatuses ?? []),
    ...(status.initContainerStatuses ?? []),
    ...(status.ephemeralContainerStatuses ?? []),
  ].find((candidate) => candidate.name === name);

const idOf = (containerId: string): string => containerId.slice(containerId.indexOf('://') + 3);

const waitingMessages: Record<string, string> = {
  ErrImagePull: "image can't be pulled",
  ImagePullBackOff: 'trying and failing to pull image',
};

/** Id of the container whose log is asked for. Throws 400 with upstream's text. */
export function logContainerId(pod: Pod, status: PodStatus, name: string, previous: boolean): string {
  const who = `container ${quote(name)} in pod ${quote(pod.metadata.name ?? '')}`;
  const refuse = (message: string): RequestError => new RequestError(400, message);
  if (findContainer(pod, name) === undefined)
    throw new RequestError(404, `container ${quote(name)} not found in pod ${quote(pod.metadata.name ?? '')}`);
  const found = containerStatusOf(status, name);
  if (found === undefined) throw refuse(`${who} is not available`);
  const last = found.lastState?.terminated?.containerID;
  if (previous) {
    if (!last) throw refuse(`previous terminated ${who} not found`);
    return idOf(last);
  }
  const { running, terminated, waiting } = found.state ?? {};
  if (running) return idOf(found.containerID ?? '');
  if (terminated || found.lastState?.terminated) {
    const id = terminated?.containerID || last;
    if (!id) throw refuse(`${who} is terminated`);
    return idOf(id);
  }
  const reason = waiting?.reason ?? '';
  throw refuse(
    waiting ? `${who} is waiting to start: ${waitingMessages[reason] ?? reason}` : `${who} is waiting to start - no logs yet`,
  );
}

/** The ID of the container that runs under this name. Throws 404 where none does. */
export function runningContainerId(pod: Pod, status: PodStatus, name: string): string {
  const found = containerStatusOf(status, name);
  if (findContainer(pod, name) === undefined || found?.state?.running === undefined)
    throw new RequestError(404, `container not found (${quote(name)})`);
  return idOf(found.containerID ?? '');
}
