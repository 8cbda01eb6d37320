// Carries out what `podActions` planned, step by step, and says with events what it did (upstream kuberuntime_manager.go SyncPod,
// kuberuntime_container.go startContainer and killContainer).
import type { Container, Pod, ResourceRequirements } from '#api/core/v1';
import { findContainer, formatPod, isRestartableInitContainer } from '#component-helpers/pod';
import type { Clock, Logger } from '#utils';
import { latest, type PodRecord, recordIPs } from '../container/types.ts';
import type { PodEvents } from '../events.ts';
import { identity } from '../container/identity.ts';
import { HookTimeout, type LifecycleHooks } from '../hooks/hooks.ts';
import { type ImageManager, PullBackOff } from '../images/manager.ts';
import { gracePeriodSecondsMin } from '../limits.ts';
import type { NodeState } from '../node/state.ts';
import { crashLoopRule } from '../pod/actions.ts';
import { backOffKey } from '../pod/container-rules.ts';
import type { KillContainer, PodActions, StartContainer } from '../pod/plan.ts';
import { type BackOff, backOffNext } from '../pod/back-off.ts';
import { type ImageInfo, PodFailure, type PodRuntime, StartFailure } from '../container/runtime.ts';
import type { WaitingReason } from '../status/container-statuses.ts';
import { TerminationOrder } from './termination-order.ts';

export interface ExecutorDeps {
  runtime: PodRuntime;
  images: ImageManager;
  hooks: LifecycleHooks;
  events: PodEvents;
  clock: Clock;
  logger: Logger;
  /** Addresses of the node are those of pods on its network. */
  state: NodeState;
  /** Told when a new sandbox of the pod has its network, before any image is pulled: all that containers need is there. */
  onSandboxReady?: ((pod: Pod) => void) | undefined;
  /** Asked before containers of a pod start, with the addresses of the pod: rejects where its network is not fit for use yet. */
  podNetwork?: PodNetwork | undefined;
}

export type PodNetwork = (pod: Pod, ips: readonly string[]) => Promise<void>;

/** What one pod's worker remembers between syncs. */
export interface PodMemory {
  backOff: Map<string, BackOff>;
  reasons: Map<string, WaitingReason>;
  /** Resources last given to a container, by its id. */
  resources: Map<string, string>;
}

export interface SyncOutcome {
  /** Something was done: look again. */
  changed: boolean;
  /** Earliest time at which something can be tried again. */
  retryAtMs?: number;
  /** A start or a step failed; retried after the ordinary pause. */
  failed: boolean;
}

const earlier = (a: number | undefined, b: number): number => (a === undefined || b < a ? b : a);

/** How long one container may take to end (upstream's setTerminationGracePeriod). */
export function containerGraceSeconds(pod: Pod, container: Container | undefined, reason: KillContainer['reason']): number {
  if (pod.metadata.deletionGracePeriodSeconds !== undefined) return pod.metadata.deletionGracePeriodSeconds;
  const probe =
    reason === 'StartupProbe' ? container?.startupProbe : reason === 'LivenessProbe' ? container?.livenessProbe : undefined;
  return probe?.terminationGracePeriodSeconds ?? pod.spec?.terminationGracePeriodSeconds ?? gracePeriodSecondsMin;
}

export class PodExecutor {
  readonly #deps: ExecutorDeps;

  constructor(deps: ExecutorDeps) {
    this.#deps = deps;
  }

  /** Runs the plan. Rejects with PodFailure when a step for the whole pod fails. `stop` is asked between steps. */
  async run(pod: Pod, record: PodRecord, actions: PodActions, memory: PodMemory, stop: () => boolean): Promise<SyncOutcome> {
    const outcome: SyncOutcome = { changed: false, failed: false };
    const { events, runtime } = this.#deps;
    if (actions.createSandbox?.replaced)
      events.pod(pod, 'Normal', 'SandboxChanged', 'Pod sandbox changed, it will be killed and re-created.');
    if (actions.killPod) {
      outcome.changed = record.sandboxes.some(({ ready }) => ready) || record.containers.some(({ state }) => state === 'running');
      await this.killPod(pod, record, undefined);
      if (actions.createSandbox) await this.#purgeInit(pod, record);
    } else {
      for (const kill of actions.kill) {
        outcome.changed = true;
        await this.kill(pod, kill);
      }
      await this.#resize(pod, record, memory, outcome);
    }
    if (actions.start.length === 0 && actions.createSandbox === undefined) return outcome;
    let sandboxId = record.sandboxes[0]?.id ?? '';
    let sandboxAttempt = record.sandboxes[0]?.attempt ?? 0;
    let podIPs: readonly string[] = recordIPs(record);
    if (actions.createSandbox) {
      sandboxAttempt = actions.createSandbox.attempt;
      sandboxId = await this.#createSandbox(pod, sandboxAttempt);
      outcome.changed = true;
      podIPs = recordIPs(await runtime.get(identity(pod)));
    }
    if (podIPs.length === 0 && pod.spec?.hostNetwork) podIPs = this.#deps.state.hostIPs();
    else if (actions.start.length > 0) await this.#networkOf(pod, podIPs);
    if (actions.createSandbox) this.#deps.onSandboxReady?.(pod);
    for (const start of actions.start) {
      if (stop()) return outcome;
      const started = await this.#start({ pod, record, start, sandboxId, sandboxAttempt, podIPs }, memory, outcome);
      if (!started && start.kind === 'init' && !isRestartableInitContainer(start.container)) return outcome;
    }
    return outcome;
  }

  /** Running containers whose resources in the spec have changed get the new ones, by restart where their policy says so. */
  async #resize(pod: Pod, record: PodRecord, memory: PodMemory, outcome: SyncOutcome): Promise<void> {
    for (const id of memory.resources.keys())
      if (!record.containers.some((known) => known.id === id)) memory.resources.delete(id);
    for (const container of [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])]) {
      const running = latest(record, container.name);
      if (running?.state !== 'running') continue;
      const wanted = JSON.stringify(container.resources ?? {});
      const known = memory.resources.get(running.id);
      memory.resources.set(running.id, wanted);
      if (known === undefined || known === wanted) continue;
      outcome.changed = true;
      if (resizeNeedsRestart(container, JSON.parse(known) as ResourceRequirements)) {
        const message = `Container ${container.name} resize requires restart`;
        await this.kill(pod, { id: running.id, name: container.name, message, reason: '' });
        continue;
      }
      try {
        await this.#deps.runtime.resizeContainer(running.id, pod, container);
      } catch (error) {
        memory.resources.set(running.id, known);
        throw new PodFailure('ResizeError', `Pod resize error: ${(error as Error).message}`, { cause: error });
      }
    }
  }

  /** Stops containers in parallel, sidecars after those they serve, then the sandboxes. */
  async killPod(pod: Pod, record: PodRecord, graceSeconds: number | undefined): Promise<void> {
    const running = record.containers.filter(({ state }) => state === 'running' || state === 'unknown');
    const names = running.map(({ name }) => name);
    const order = new TerminationOrder(pod, names, this.#deps.clock);
    await Promise.all(
      running.map(({ id, name }) =>
        this.kill(pod, { id, name, message: `Stopping container ${name}`, reason: '' }, { graceSeconds, order }),
      ),
    );
    await stopSandboxes(this.#deps.runtime, record);
  }

  /** Runs the preStop hook and stops one container, in its turn. */
  async kill(
    pod: Pod,
    { id, name, message, reason }: KillContainer,
    { graceSeconds: override, order }: { graceSeconds?: number; order?: TerminationOrder } = {},
  ): Promise<void> {
    const { events, runtime } = this.#deps;
    const container = findContainer(pod, name);
    if (container) events.container(pod, container, 'Normal', 'Killing', message);
    let graceSeconds = override ?? containerGraceSeconds(pod, container, reason);
    if (container?.lifecycle?.preStop && graceSeconds > 0) graceSeconds -= await this.#preStop(pod, container, id, graceSeconds);
    if (order) graceSeconds -= await order.waitForTurn(name, graceSeconds);
    try {
      await runtime.stopContainer(id, Math.max(graceSeconds, gracePeriodSecondsMin));
    } finally {
      order?.stopped(name);
    }
  }

  /** Answers the whole seconds the hook took. One that is not done in time has not failed. */
  async #preStop(pod: Pod, container: Container, id: string, graceSeconds: number): Promise<number> {
    const { clock, events, hooks, logger } = this.#deps;
    const began = clock.monotonic();
    const about = { pod: formatPod(pod), container: container.name };
    try {
      await hooks.run(pod, container, id, container.lifecycle?.preStop ?? {}, graceSeconds * 1000);
    } catch (error) {
      logger.info('PreStop hook failed', { ...about, error: String(error) });
      if (!(error instanceof HookTimeout)) events.container(pod, container, 'Warning', 'FailedPreStopHook', 'PreStopHook failed');
    }
    return Math.floor((clock.monotonic() - began) / 1000);
  }

  async #createSandbox(pod: Pod, attempt: number): Promise<string> {
    try {
      return await this.#deps.runtime.createSandbox(pod, attempt);
    } catch (error) {
      const transient = error instanceof PodFailure && error.transient;
      const message = `Failed to create pod sandbox: ${(error as Error).message}`;
      throw new PodFailure('FailedCreatePodSandBox', message, { cause: error, transient });
    }
  }

  async #networkOf(pod: Pod, ips: readonly string[]): Promise<void> {
    try {
      await this.#deps.podNetwork?.(pod, ips);
    } catch (error) {
      throw new PodFailure('NetworkNotReady', `network is not ready: ${(error as Error).message}`, { cause: error });
    }
  }

  /** Init containers run again in a new sandbox: their old traces go. */
  async #purgeInit(pod: Pod, record: PodRecord): Promise<void> {
    const names = new Set((pod.spec?.initContainers ?? []).map(({ name }) => name));
    for (const { id, name } of record.containers) if (names.has(name)) await this.#deps.runtime.removeContainer(id);
  }

  /** Starts one container unless it is backing off; answers whether it runs now. */
  async #start(step: StartStep, memory: PodMemory, outcome: SyncOutcome): Promise<boolean> {
    const { pod, start } = step;
    const { container } = start;
    const { events, clock } = this.#deps;
    if (start.backOff) {
      const message = `Back-off restarting failed container ${container.name} in pod ${formatPod(pod)}`;
      events.container(pod, container, 'Warning', 'BackOff', message);
      memory.reasons.set(container.name, { reason: 'CrashLoopBackOff', message: start.backOff.message });
      outcome.retryAtMs = earlier(outcome.retryAtMs, start.backOff.untilMs);
      return false;
    }
    if (start.crashed) {
      const key = backOffKey(container);
      memory.backOff.set(key, backOffNext(memory.backOff.get(key), start.crashed.finishedAtMs, clock.now(), crashLoopRule));
    }
    try {
      await this.#launch(step);
      memory.reasons.delete(container.name);
      outcome.changed = true;
      return true;
    } catch (error) {
      const reason = error instanceof StartFailure ? error.reason : 'RunContainerError';
      memory.reasons.set(container.name, { reason, message: (error as Error).message });
      if (error instanceof PullBackOff) outcome.retryAtMs = earlier(outcome.retryAtMs, error.retryAtMs);
      else outcome.failed = true;
      return false;
    }
  }

  async #launch({ pod, record, start, sandboxId, sandboxAttempt, podIPs }: StartStep): Promise<void> {
    const { container } = start;
    const { events, images, runtime } = this.#deps;
    const told = async <T>(work: () => Promise<T>): Promise<T> => {
      try {
        return await work();
      } catch (error) {
        const text = error instanceof StartFailure && imageReasons.has(error.reason) ? error.reason : (error as Error).message;
        events.container(pod, container, 'Warning', 'Failed', `Error: ${text}`);
        throw error;
      }
    };
    const image = await told(() => images.ensure(pod, container));
    const imageVolumes = await told(() => this.#imageVolumes(pod, container));
    const target = 'targetContainerName' in container ? String(container.targetContainerName ?? '') : '';
    const targetId = target === '' ? undefined : latest(record, target)?.id;
    const restartCount = start.restartCount ?? 0;
    const id = await told(() =>
      runtime.createContainer({ pod, container, sandboxId, sandboxAttempt, restartCount, image, imageVolumes, podIPs, targetId }),
    );
    events.container(pod, container, 'Normal', 'Created', 'Container created');
    await told(() => runtime.startContainer(id));
    events.container(pod, container, 'Normal', 'Started', 'Container started');
    await this.#postStart(pod, container, id);
  }

  /** Pulls the images that the container mounts as volumes. */
  async #imageVolumes(pod: Pod, { volumeMounts = [] }: Container): Promise<Map<string, ImageInfo>> {
    const found = new Map<string, ImageInfo>();
    for (const { name, image } of pod.spec?.volumes ?? [])
      if (image && volumeMounts.some((mount) => mount.name === name))
        found.set(name, await this.#deps.images.ensureVolume(pod, image));
    return found;
  }

  async #postStart(pod: Pod, container: Container, id: string): Promise<void> {
    const postStart = container.lifecycle?.postStart;
    if (postStart === undefined) return;
    try {
      await this.#deps.hooks.run(pod, container, id, postStart);
    } catch (error) {
      this.#deps.events.container(pod, container, 'Warning', 'FailedPostStartHook', 'PostStartHook failed');
      await this.kill(pod, { id, name: container.name, message: 'FailedPostStartHook', reason: 'FailedPostStartHook' });
      throw new StartFailure('PostStartHookError', (error as Error).message, { cause: error });
    }
  }
}

/**
 * Stops all sandboxes of a pod. One that is not ready is stopped again: the network that it failed to give back is taken down then. Rejects
 * with the first failure once each was tried.
 */
export async function stopSandboxes(runtime: Pick<PodRuntime, 'stopSandbox'>, { sandboxes }: PodRecord): Promise<void> {
  const failures: unknown[] = [];
  for (const { id } of sandboxes) await runtime.stopSandbox(id).catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

/** Whether a resource that changed is one the container cannot take while it runs. */
function resizeNeedsRestart({ resources, resizePolicy = [] }: Container, old: ResourceRequirements): boolean {
  return resizePolicy.some(({ resourceName: name, restartPolicy }) => {
    const changed = resources?.limits?.[name] !== old.limits?.[name] || resources?.requests?.[name] !== old.requests?.[name];
    return changed && restartPolicy === 'RestartContainer';
  });
}

interface StartStep {
  pod: Pod;
  record: PodRecord;
  start: StartContainer;
  sandboxId: string;
  sandboxAttempt: number;
  podIPs: readonly string[];
}

const imageReasons = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'ErrImageNeverPull',
  'InvalidImageName',
  'ImageInspectError',
  'RegistryUnavailable',
  'SignatureValidationFailed',
]);
