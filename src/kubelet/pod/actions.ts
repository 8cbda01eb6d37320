// The heart of the kubelet: what to do for a pod, decided from its spec, what the runtime has of it and the time (upstream
// kuberuntime_manager.go computePodActions and doBackOff). Pure; `workers/executor.ts` carries the plan out.
import type { Container, Pod } from '#api/core/v1';
import { formatDurationMs } from '#apimachinery/duration';
import { formatPod } from '#component-helpers/pod';
import { latest, type PodRecord } from '../container/types.ts';
import { crashLoopBackoffInitialMs, crashLoopBackoffMaxMs } from '../limits.ts';
import { type BackOffRule, backOffUntil } from './back-off.ts';
import { anyRegularCreated, backOffKey, killMessage, killUnknown, sandboxChanged, shouldRestart } from './container-rules.ts';
import { initActions } from './init-actions.ts';
import type { ActionContext, PodActions, StartContainer, Starter } from './plan.ts';

export const crashLoopRule: BackOffRule = { initialMs: crashLoopBackoffInitialMs, maxMs: crashLoopBackoffMaxMs };

const succeeded = (record: PodRecord, container: Container): boolean => {
  const status = latest(record, container.name);
  return status?.state === 'exited' && status.exitCode === 0;
};

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
