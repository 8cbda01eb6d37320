// The heart of the kubelet: what to do for a pod, decided from its spec, what the runtime has of it and the time (upstream
// kuberuntime_manager.go computePodActions and doBackOff). Pure; `#kubelet/pod-workers` carries the plan out.
import type { Container, Pod } from '#api/core/v1';
import { containerShouldRestart, formatPod, isHostNetworkPod } from '#component-helpers/pod';
import { formatDurationMs } from '#apimachinery/duration';
import { hashContainer } from '../container/hash.ts';
import { type ContainerRecord, latest, type PodRecord } from '../container/types.ts';
import { crashLoopBackoffInitialMs, crashLoopBackoffMaxMs } from '../limits.ts';
import { type BackOff, type BackOffRule, backOffUntil } from './back-off.ts';
import { initActions } from './init-actions.ts';
import type { ProbeResults } from './probe-results.ts';

export type KillReason = '' | 'StartupProbe' | 'LivenessProbe' | 'FailedPostStartHook' | 'Unknown';

export interface KillContainer {
  id: string;
  name: string;
  message: string;
  reason: KillReason;
}

/** One container to start, or to wait for when it crashed too recently. */
export interface StartContainer {
  kind: 'init' | 'regular' | 'ephemeral';
  container: Container;
  restartCount: number | undefined;
  /** The container that crashed before, which the back-off counts from. */
  crashed?: ContainerRecord;
  /** Set while backing off: when to try, and what the status says meanwhile. */
  backOff?: { untilMs: number; message: string };
}

export interface PodActions {
  /** Stop everything and the sandbox: it has to be made anew, or nothing is left to run. */
  killPod: boolean;
  /** Make a sandbox with this attempt number; `replaced` when there was another before. */
  createSandbox?: { attempt: number; replaced: boolean };
  kill: KillContainer[];
  start: StartContainer[];
}

export interface ActionContext {
  probes: ProbeResults;
  /** Crash back-off by `backOffKey`. */
  backOff: ReadonlyMap<string, BackOff>;
  rule?: BackOffRule;
}

export const crashLoopRule: BackOffRule = { initialMs: crashLoopBackoffInitialMs, maxMs: crashLoopBackoffMaxMs };

/** Back-off is per container definition: a changed image starts afresh. */
export const backOffKey = (container: Container): string => `${container.name}_${hashContainer(container)}`;

/** Whether the pod needs a new sandbox (upstream util.PodSandboxChanged). */
export function sandboxChanged(pod: Pod, record: PodRecord): { changed: boolean; attempt: number; id: string } {
  const newest = record.sandboxes[0];
  if (newest === undefined) return { changed: true, attempt: 0, id: '' };
  const again = { changed: true, attempt: newest.attempt + 1, id: newest.id };
  if (!newest.ready || record.sandboxes.filter(({ ready }) => ready).length > 1) return again;
  if (newest.hostNetwork !== isHostNetworkPod(pod)) return { ...again, id: '' };
  if (!newest.hostNetwork && newest.ips.length === 0) return again;
  return { changed: false, attempt: newest.attempt, id: newest.id };
}

/** Whether a container that does not run is to be started (upstream ShouldContainerBeRestarted). */
export function shouldRestart(container: Container, pod: Pod, record: PodRecord): boolean {
  if (pod.metadata.deletionTimestamp !== undefined) return false;
  const status = latest(record, container.name);
  if (status === undefined) return true;
  if (status.state === 'running') return false;
  if (status.state !== 'exited') return true;
  return pod.spec === undefined || containerShouldRestart(container, pod.spec, status.exitCode);
}

const succeeded = (record: PodRecord, container: Container): boolean => {
  const status = latest(record, container.name);
  return status?.state === 'exited' && status.exitCode === 0;
};

export const anyRegularCreated = (pod: Pod, record: PodRecord): boolean =>
  (pod.spec?.containers ?? []).some(({ name }) => {
    const state = latest(record, name)?.state;
    return state !== undefined && state !== 'unknown';
  });

/** What to do when the sandbox is gone or was never there: everything starts from the beginning, unless the pod is done. */
function recreate(
  pod: Pod,
  record: PodRecord,
  attempt: number,
  id: string,
): Pick<PodActions, 'createSandbox'> & { first: Container[] } {
  const spec = pod.spec;
  if (spec === undefined) return { first: [] };
  if (spec.restartPolicy === 'Never' && attempt !== 0 && record.containers.length > 0) return { first: [] };
  const toStart = spec.containers.filter((container) => {
    const policy = container.restartPolicy ?? spec.restartPolicy;
    return !(policy === 'OnFailure' && succeeded(record, container));
  });
  if (toStart.length === 0 && anyRegularCreated(pod, record)) return { first: [] };
  return { createSandbox: { attempt, replaced: id !== '' }, first: spec.initContainers?.length ? [] : toStart };
}

/** Why a running container has to go, if it has to. */
export function killMessage(
  container: Container,
  status: ContainerRecord,
  probes: ProbeResults,
  label: string,
): KillContainer | undefined {
  const kill = (why: string, reason: KillReason): KillContainer => ({
    id: status.id,
    name: status.name,
    message: `${label} ${container.name} ${why}`,
    reason,
  });
  if (status.hash !== hashContainer(container)) return kill('definition changed', '');
  if (probes.get(status.id, 'liveness') === 'failure') return kill('failed liveness probe', 'LivenessProbe');
  if (probes.get(status.id, 'startup') === 'failure') return kill('failed startup probe', 'StartupProbe');
  return undefined;
}

export const killUnknown = (status: ContainerRecord, label: string): KillContainer => ({
  id: status.id,
  name: status.name,
  message: `${label} is in "${status.state}" state, try killing it before restart`,
  reason: 'Unknown',
});

/** Regular containers: which to start, which to kill, and whether any is left. */
function regularActions(pod: Pod, record: PodRecord, context: ActionContext, actions: PodActions, start: Starter): void {
  let kept = 0;
  let starting = 0;
  for (const container of pod.spec?.containers ?? []) {
    const status = latest(record, container.name);
    if (status?.state !== 'running') {
      if (!shouldRestart(container, pod, record)) continue;
      starting++;
      if (status?.state === 'unknown') actions.kill.push(killUnknown(status, 'Container'));
      start('regular', container);
      continue;
    }
    const kill = killMessage(container, status, context.probes, 'Container');
    if (kill === undefined) {
      kept++;
      continue;
    }
    const restart = kill.reason === '' || (container.restartPolicy ?? pod.spec?.restartPolicy) !== 'Never';
    if (restart) {
      starting++;
      start('regular', container);
    }
    actions.kill.push(restart ? { ...kill, message: `${kill.message}, will be restarted` } : kill);
  }
  if (kept > 0 || starting > 0) return;
  actions.killPod = true;
  actions.start = actions.start.filter(({ kind }) => kind !== 'init');
}

export type Starter = (kind: StartContainer['kind'], container: Container) => void;

/** Adds a start, or a wait when the container crashed too recently. */
function starter(pod: Pod, record: PodRecord, context: ActionContext, now: number, into: StartContainer[]): Starter {
  return (kind, container) => {
    const crashed = record.containers.find(({ name, state }) => name === container.name && state === 'exited');
    const previous = latest(record, container.name);
    const entry = context.backOff.get(backOffKey(container));
    const untilMs = crashed && backOffUntil(entry, crashed.finishedAtMs, now, context.rule ?? crashLoopRule);
    const start: StartContainer = { kind, container, restartCount: previous && previous.restartCount + 1, crashed };
    if (untilMs !== undefined) {
      const delay = formatDurationMs(entry?.delayMs ?? 0);
      start.backOff = {
        untilMs,
        message: `back-off ${delay} restarting failed container=${container.name} pod=${formatPod(pod)}`,
      };
    }
    into.push(start);
  };
}

/** Decides the next steps for a pod that is to run. */
export function podActions(pod: Pod, record: PodRecord, now: number, context: ActionContext): PodActions {
  const { changed, attempt, id } = sandboxChanged(pod, record);
  const actions: PodActions = { killPod: changed, kill: [], start: [] };
  const start = starter(pod, record, context, now, actions.start);
  if (changed) {
    const { createSandbox, first } = recreate(pod, record, attempt, id);
    if (createSandbox === undefined) return actions;
    actions.createSandbox = createSandbox;
    const init = pod.spec?.initContainers?.[0];
    if (init) start('init', init);
    else for (const container of first) start('regular', container);
    return actions;
  }
  for (const container of pod.spec?.ephemeralContainers ?? [])
    if (latest(record, container.name) === undefined) start('ephemeral', container);
  const initialized = initActions(pod, record, context, actions, start);
  if (actions.killPod || !initialized) return actions;
  regularActions(pod, record, context, actions, start);
  return actions;
}
