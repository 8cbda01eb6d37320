// The conditions the kubelet owns (upstream pkg/kubelet/status/generate.go).
import type { Container, ContainerStatus, Pod, PodCondition } from '#api/core/v1';
import { findCondition, isRestartableInitContainer } from '#component-helpers/pod';
import { quote } from '#utils';
import type { PodRecord } from '../container/types.ts';
import { sandboxChanged } from '../pod/container-rules.ts';
import type { Phase } from './phase.ts';

/** Condition types written by the kubelet alone; others found on the pod are kept. */
export const kubeletConditions: readonly string[] = [
  'PodScheduled',
  'Ready',
  'Initialized',
  'ContainersReady',
  'PodReadyToStartContainers',
  'PodResizePending',
  'PodResizeInProgress',
  'AllContainersRestarting',
];

type Verdict = Pick<PodCondition, 'status' | 'reason' | 'message'>;

const no = (reason: string, message?: string): Verdict => ({ status: 'False', reason, ...(message && { message }) });
const yes: Verdict = { status: 'True' };

/** A list as Go prints one. */
const goList = (names: readonly string[]): string => `[${names.join(' ')}]`;

const notYet = (unknown: readonly string[], unready: readonly string[], what: string): string =>
  [
    ...(unknown.length > 0 ? [`containers with unknown status: ${goList(unknown)}`] : []),
    ...(unready.length > 0 ? [`containers with ${what} status: ${goList(unready)}`] : []),
  ].join(', ');

/** Names without a status, and names whose status does not pass. */
function sort(
  containers: readonly Container[],
  statuses: readonly ContainerStatus[],
  passes: (container: Container, status: ContainerStatus) => boolean,
): { unknown: string[]; failing: string[] } {
  const unknown: string[] = [];
  const failing: string[] = [];
  for (const container of containers) {
    const status = statuses.find(({ name }) => name === container.name);
    if (status === undefined) unknown.push(container.name);
    else if (!passes(container, status)) failing.push(container.name);
  }
  return { unknown, failing };
}

export function containersReady(pod: Pod, statuses: readonly ContainerStatus[] | undefined, phase: Phase): Verdict {
  if (statuses === undefined) return no('UnknownContainerStatuses');
  const serving = [...(pod.spec?.initContainers ?? []).filter(isRestartableInitContainer), ...(pod.spec?.containers ?? [])];
  const { unknown, failing } = sort(serving, statuses, (_, { ready }) => ready);
  if (phase === 'Succeeded' && unknown.length === 0) return no('PodCompleted');
  if (phase === 'Failed') return no('PodFailed');
  const message = notYet(unknown, failing, 'unready');
  return message === '' ? yes : no('ContainersNotReady', message);
}

function podReady(pod: Pod, conditions: readonly PodCondition[], ready: Verdict): Verdict {
  if (ready.status !== 'True') return ready;
  const messages = (pod.spec?.readinessGates ?? []).flatMap(({ conditionType }) => {
    const gate = findCondition(conditions, conditionType);
    if (gate === undefined) return [`corresponding condition of pod readiness gate ${quote(conditionType)} does not exist.`];
    if (gate.status === 'True') return [];
    return [`the status of pod readiness gate ${quote(conditionType)} is not "True", but ${gate.status}`];
  });
  return messages.length === 0 ? yes : no('ReadinessGatesNotReady', messages.join(', '));
}

const started = ({ state, lastState, started: hasStarted }: ContainerStatus): boolean =>
  state?.running !== undefined || state?.terminated !== undefined || lastState?.terminated !== undefined || hasStarted === true;

function initialized(pod: Pod, statuses: readonly ContainerStatus[] | undefined, phase: Phase): Verdict {
  const containers = pod.spec?.initContainers ?? [];
  if (statuses === undefined && containers.length > 0) return no('UnknownContainerStatuses');
  const { unknown, failing } = sort(containers, statuses ?? [], (container, status) =>
    isRestartableInitContainer(container) ? status.started === true : status.ready,
  );
  if (phase === 'Succeeded' && unknown.length === 0) return { status: 'True', reason: 'PodCompleted' };
  const regular = new Set((pod.spec?.containers ?? []).map(({ name }) => name));
  if ((statuses ?? []).some((status) => regular.has(status.name) && started(status))) return yes;
  const message = notYet(unknown, failing, 'incomplete');
  return message === '' ? yes : no('ContainersNotInitialized', message);
}

export interface ConditionInput {
  pod: Pod;
  record: PodRecord;
  /** Init statuses, then regular ones. */
  statuses: ContainerStatus[];
  phase: Phase;
  /** Conditions of others, for readiness gates. */
  foreign: readonly PodCondition[];
}

/** The kubelet's conditions in upstream's order, without transition times. */
export function ownConditions({ pod, record, statuses, phase, foreign }: ConditionInput): PodCondition[] {
  const generation = pod.metadata.generation;
  const condition = (type: string, verdict: Verdict): PodCondition => ({
    type,
    ...(generation !== undefined && { observedGeneration: generation }),
    ...verdict,
  });
  const ready = containersReady(pod, statuses, phase);
  return [
    condition('PodReadyToStartContainers', sandboxChanged(pod, record).changed ? { status: 'False' } : yes),
    condition('Initialized', initialized(pod, statuses, phase)),
    condition('Ready', podReady(pod, foreign, ready)),
    condition('ContainersReady', ready),
    condition('PodScheduled', yes),
  ];
}
