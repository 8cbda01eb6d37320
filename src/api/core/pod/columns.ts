// The row of `kubectl get pods` (pkg/printers/internalversion, printPod).
import type { Container, ContainerStatus, Pod } from '#api/core/v1';
import { firstOfEach } from '#utils';
import type { Printer } from '../../kind.ts';
import { age, ago, columns, orNone, wideColumns } from '../../common/printing.ts';
import { isSidecar } from './containers.ts';

interface Summary {
  reason: string;
  ready: number;
  restarts: number;
  /** RFC 3339 of the last restart. */
  restarted: string | undefined;
}

const later = (left: string | undefined, right: string | undefined): string | undefined =>
  right !== undefined && (left === undefined || Date.parse(left) < Date.parse(right)) ? right : left;

const lastEnd = (status: ContainerStatus): string | undefined => status.lastState?.terminated?.finishedAt ?? undefined;

/** What one init container says of the pod; undefined: it is through, or up as a sidecar. */
function initReason({ state }: ContainerStatus, position: number, total: number): string {
  const ended = state?.terminated;
  if (ended) {
    if (ended.reason) return `Init:${ended.reason}`;
    return ended.signal ? `Init:Signal:${ended.signal}` : `Init:ExitCode:${ended.exitCode}`;
  }
  const waiting = state?.waiting?.reason;
  return waiting && waiting !== 'PodInitializing' ? `Init:${waiting}` : `Init:${position}/${total}`;
}

interface InitSummary extends Summary {
  initializing: boolean;
  sidecarRestarts: number;
  sidecarRestarted: string | undefined;
}

function summarizeInit({ spec, status }: Pod, reason: string): InitSummary {
  const summary: InitSummary = {
    reason,
    ready: 0,
    restarts: 0,
    restarted: undefined,
    initializing: false,
    sidecarRestarts: 0,
    sidecarRestarted: undefined,
  };
  const containers = new Map((spec?.initContainers ?? []).map((container): [string, Container] => [container.name, container]));
  for (const [index, one] of (status?.initContainerStatuses ?? []).entries()) {
    const sidecar = isSidecar(containers.get(one.name));
    summary.restarts += one.restartCount ?? 0;
    summary.restarted = later(summary.restarted, lastEnd(one));
    if (sidecar) {
      summary.sidecarRestarts += one.restartCount ?? 0;
      summary.sidecarRestarted = later(summary.sidecarRestarted, lastEnd(one));
    }
    if (one.state?.terminated && !one.state.terminated.exitCode) continue;
    if (sidecar && one.started) {
      if (one.ready) summary.ready++;
      continue;
    }
    summary.reason = initReason(one, index, spec?.initContainers?.length ?? 0);
    summary.initializing = true;
    break;
  }
  return summary;
}

function endReason({ reason, signal, exitCode }: { reason?: string; signal?: number; exitCode: number }): string {
  if (reason) return reason;
  return signal ? `Signal:${signal}` : `ExitCode:${exitCode ?? 0}`;
}

function summarizeContainers({ status }: Pod, summary: Summary): void {
  let running = false;
  let failure = '';
  for (const one of [...(status?.containerStatuses ?? [])].reverse()) {
    summary.restarts += one.restartCount ?? 0;
    summary.restarted = later(summary.restarted, lastEnd(one));
    const { waiting, terminated } = one.state ?? {};
    if (waiting?.reason) summary.reason = waiting.reason;
    else if (terminated) {
      summary.reason = endReason(terminated);
      if (terminated.exitCode) failure = summary.reason;
    } else if (one.ready && one.state?.running) {
      running = true;
      summary.ready++;
    }
  }
  if (summary.reason !== 'Completed') return;
  const ready = status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True');
  if (running && ready) summary.reason = 'Running';
  else if (failure !== '') summary.reason = failure;
  else if (running) summary.reason = 'NotReady';
}

/** The status of a pod, its ready containers and its restarts as kubectl shows them. */
export function summarizePod(pod: Pod): Summary {
  const { metadata, status } = pod;
  let reason = status?.reason || status?.phase || '';
  if (status?.conditions?.some((condition) => condition.type === 'PodScheduled' && condition.reason === 'SchedulingGated'))
    reason = 'SchedulingGated';
  const summary = summarizeInit(pod, reason);
  const initialized = status?.conditions?.some(({ type, status: is }) => type === 'Initialized' && is === 'True');
  if (!summary.initializing || initialized) {
    summary.restarts = summary.sidecarRestarts;
    summary.restarted = summary.sidecarRestarted;
    summarizeContainers(pod, summary);
  }
  const over = status?.phase === 'Failed' || status?.phase === 'Succeeded';
  if (metadata.deletionTimestamp && status?.reason === 'NodeLost') summary.reason = 'Unknown';
  else if (metadata.deletionTimestamp && !over) summary.reason = 'Terminating';
  return summary;
}

function readinessGates({ spec, status }: Pod): string {
  const gates = spec?.readinessGates ?? [];
  if (gates.length === 0) return '<none>';
  const conditions = firstOfEach(status?.conditions ?? [], ({ type }) => type);
  const open = gates.filter((gate) => conditions.get(gate.conditionType)?.status === 'True');
  return `${open.length}/${gates.length}`;
}

export const printer: Printer<Pod> = {
  columns: [
    ...columns('Name', 'Ready', 'Status', 'Restarts', 'Age'),
    ...wideColumns('IP', 'Node', 'Nominated Node', 'Readiness Gates'),
  ],
  cells(pod, now) {
    const { reason, ready, restarts, restarted } = summarizePod(pod);
    const total = (pod.spec?.containers?.length ?? 0) + (pod.spec?.initContainers ?? []).filter(isSidecar).length;
    return [
      pod.metadata.name ?? '',
      `${ready}/${total}`,
      reason,
      restarts !== 0 && restarted ? `${restarts} (${ago(restarted, now)} ago)` : String(restarts),
      age(pod.metadata, now),
      orNone(pod.status?.podIPs?.[0]?.ip),
      orNone(pod.spec?.nodeName),
      orNone(pod.status?.nominatedNodeName),
      readinessGates(pod),
    ];
  },
  conditions({ status }) {
    const completed = { type: 'Completed', status: 'True' };
    if (status?.phase === 'Succeeded')
      return [{ ...completed, reason: 'Succeeded', message: 'The pod has completed successfully.' }];
    return status?.phase === 'Failed' ? [{ ...completed, reason: 'Failed', message: 'The pod failed.' }] : [];
  },
};
