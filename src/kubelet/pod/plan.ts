// What the pod state machine takes and gives, as data.
import type { Container } from '#api/core/v1';
import type { ContainerRecord } from '../container/types.ts';
import type { BackOff, BackOffRule } from './back-off.ts';
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

export type Starter = (kind: StartContainer['kind'], container: Container) => void;
