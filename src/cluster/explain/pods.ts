// Why a pod is not as its owner wants it. Pure.
import type { Container, ContainerState, ContainerStatus, Pod } from '#api/core/v1';
import { conditionOf } from '#component-helpers/workload';
import { countText, reasonText } from './words.ts';

const exitCodes: Readonly<Record<number, string>> = {
  126: 'the command cannot be executed',
  127: 'the command was not found',
  137: 'killed by SIGKILL',
  139: 'a segmentation fault',
  143: 'ended by SIGTERM',
};

function endedText({ exitCode = 0, reason, message }: NonNullable<ContainerState['terminated']>): string {
  if (reason === 'OOMKilled') return `exit code ${exitCode}: it used more memory than its limit (OOMKilled)`;
  const meaning = exitCodes[exitCode];
  const said = message ? `: ${message.trim()}` : '';
  return `exit code ${exitCode}${meaning ? ` (${meaning})` : reason && reason !== 'Error' ? ` (${reason})` : ''}${said}`;
}

const imageReasons = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
  'ImageInspectError',
  'RegistryUnavailable',
  'SignatureValidationFailed',
]);

function waitingText({ name, restartCount = 0, state, lastState }: ContainerStatus): string {
  const { reason = '', message } = state?.waiting ?? {};
  const { terminated } = lastState ?? {};
  if (reason === 'CrashLoopBackOff')
    return `container ${name} ends again and again (${countText(restartCount, 'restart')})${terminated ? `, last with ${endedText(terminated)}` : ''}; what it said: kubectl logs --previous -c ${name}`;
  if (imageReasons.has(reason)) return `container ${name} has no image: ${reasonText(reason, message)}`;
  if (reason === 'PodInitializing') return `container ${name} waits for the init containers`;
  if (reason === 'ContainerCreating' || reason === '') return `container ${name} is being made`;
  return `container ${name} cannot be started: ${reasonText(reason, message)}`;
}

function unreadyText(
  name: string,
  container: Container | undefined,
  { started, restartCount = 0, lastState }: ContainerStatus,
): string {
  const again =
    restartCount > 0 && lastState?.terminated
      ? ` (${countText(restartCount, 'restart')}, last with ${endedText(lastState.terminated)})`
      : '';
  if (container?.startupProbe && !started) return `container ${name} runs, and its startup probe has not succeeded yet${again}`;
  if (container?.readinessProbe) return `container ${name} runs and is not ready: its readiness probe does not succeed${again}`;
  return `container ${name} runs, and its kubelet does not call it ready yet${again}`;
}

function containerSentences(container: Container | undefined, status: ContainerStatus, isInit: boolean): string[] {
  const { state = {}, name, ready } = status;
  const what = isInit ? `init ${waitingText(status)}` : waitingText(status);
  if (state.running) return ready || isInit ? [] : [unreadyText(name, container, status)];
  if (!state.terminated) return [what];
  if ((state.terminated.exitCode ?? 0) === 0) return [];
  return [`${isInit ? 'init ' : ''}container ${name} ended with ${endedText(state.terminated)}`];
}

function unplacedSentences({ spec, status }: Pod): string[] {
  const gates = (spec?.schedulingGates ?? []).map(({ name }) => name);
  if (gates.length > 0) return [`is held back by scheduling gates: ${gates.join(', ')}; whoever put them there takes them away`];
  const scheduled = conditionOf(status?.conditions, 'PodScheduled');
  if (scheduled) return [`has no node: ${reasonText(scheduled.reason, scheduled.message)}`];
  const scheduler = spec?.schedulerName ?? 'default-scheduler';
  return [`has no node: no scheduler has looked at it yet (it asks for ${JSON.stringify(scheduler)})`];
}

function startedSentences({ spec, status }: Pod): string[] {
  const containers = new Map(
    [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].map((one) => [one.name, one as Container]),
  );
  const init = (status?.initContainerStatuses ?? []).flatMap((one) => containerSentences(containers.get(one.name), one, true));
  const main = (status?.containerStatuses ?? []).flatMap((one) => containerSentences(containers.get(one.name), one, false));
  const gates = (spec?.readinessGates ?? [])
    .map(({ conditionType }) => conditionType)
    .filter((type) => conditionOf(status?.conditions, type)?.status !== 'True');
  return [
    // While init containers run, the others can but wait for them.
    ...(init.length > 0 ? init : main),
    ...(gates.length > 0 ? [`its readiness gates are not True yet: ${gates.join(', ')}`] : []),
  ];
}

/** Sentences about what keeps a pod from being ready; none for one that is, or has ended well. */
export function podSentences(pod: Pod): string[] {
  const { phase, reason, message } = pod.status ?? {};
  if (phase === 'Succeeded') return [];
  const failed = phase === 'Failed' && (reason || message) ? [`has failed: ${reasonText(reason, message)}`] : [];
  if (!pod.spec?.nodeName) return [...failed, ...unplacedSentences(pod)];
  const started = startedSentences(pod);
  if (failed.length > 0 || started.length > 0) return [...failed, ...started];
  if (phase === 'Failed') return ['has failed'];
  const ready = conditionOf(pod.status?.conditions, 'Ready');
  if (phase === 'Pending') return [`is on node ${pod.spec.nodeName}, whose kubelet has not started it yet`];
  return ready && ready.status !== 'True' && ready.reason !== 'PodCompleted'
    ? [`is not ready: ${reasonText(ready.reason, ready.message)}`]
    : [];
}

/** Whether there is nothing to say about it. */
export const isWell = (pod: Pod): boolean => podSentences(pod).length === 0;

/** The pods that are not well, with the first reason of each. */
export function unwellPods(pods: readonly Pod[], max = 3): string[] {
  const unwell = pods.filter((pod) => !pod.metadata.deletionTimestamp && !isWell(pod));
  const shown = unwell.slice(0, max).map((pod) => `pod ${pod.metadata.name}: ${podSentences(pod)[0]}`);
  return unwell.length > max ? [...shown, `and ${unwell.length - max} more pods like that`] : shown;
}
