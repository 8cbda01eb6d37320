// Detaching: never while the node says it has the volume mounted, unless the node is given up (pkg/controller/volume/attachdetach/reconciler).
import type { Node } from '#api/core/v1';
import { action, type Effect, type Ref, refKey } from '#controller-runtime';
import { nodes } from '#controller-runtime/platform';
import type { Step } from './attach.ts';
import { driverTimeoutMs, waitForUnmountMaxMs } from './limits.ts';
import type { Attempt, Present } from './view.ts';
import { isOutOfService, isReady, volumeAttachments } from './volumes.ts';

export interface DetachInput {
  nodeName: string;
  now: number;
  node: Node | undefined;
  present: Present;
  reported: boolean;
  inUse: boolean;
  /** Since when no pod needs it. */
  since: number;
  attempt: Attempt | undefined;
  /** `--disable-force-detach-on-timeout`. */
  neverOnTimeout: boolean;
  live: ReadonlyMap<string, unknown>;
}

export interface DetachStep extends Step {
  detaching?: boolean;
}

/** The action that counts a detachment that did not wait for the node. */
export const countForced = action<string>('countForcedDetach');

/** Takes one volume that no pod on the node needs off it. */
export function detach(input: DetachInput): DetachStep {
  const { now, node, present, reported, attempt } = input;
  const { attachment, uniqueName } = present;
  if (attachment?.metadata.deletionTimestamp && !reported) return { detaching: true };
  // What this process asked the driver for is not taken back while the driver works on it.
  const { attached, attachError } = attachment?.status ?? {};
  const workLeftMs = attempt && attempt.retryAt === undefined ? attempt.startedAt + driverTimeoutMs - now : 0;
  if (attachment && !attached && !attachError && !reported && attempt && workLeftMs > 0)
    return { attempt, wakeAfterMs: workLeftMs };
  const leftMs = input.since + waitForUnmountMaxMs - now;
  const expired = leftMs < 0 && !input.neverOnTimeout;
  const outOfService = isOutOfService(node);
  if (input.inUse && !outOfService && (isReady(node) || !expired))
    return {
      ...(leftMs >= 0 && !input.neverOnTimeout && { wakeAfterMs: leftMs + 1 }),
      because: `No pod needs ${uniqueName}, but the node has it mounted.`,
    };
  const isForced = expired || outOfService;
  if (node && !isForced) {
    // First the node must not begin to mount it any more, then it is asked once more, past the cache, whether it has.
    if (reported) return { report: false, because: `No pod needs ${uniqueName}: it is not promised to the node any longer.` };
    const ref: Ref = { resource: nodes, namespace: '', name: input.nodeName };
    if (attachment && !input.live.has(refKey(ref))) return { needsLive: [ref] };
    const fresh = input.live.get(refKey(ref)) as Node | undefined;
    if (fresh?.status?.volumesInUse?.includes(uniqueName)) return { because: `The node has just mounted ${uniqueName}.` };
  }
  const why = expired ? 'timeout' : 'out-of-service';
  const effects: Effect[] = [];
  if (attachment)
    effects.push({ op: 'delete', ref: { resource: volumeAttachments, namespace: '', name: attachment.metadata.name ?? '' } });
  if (isForced) effects.push(countForced.on(why));
  return {
    report: false,
    effects,
    detaching: attachment !== undefined,
    because: isForced
      ? `No pod needs ${uniqueName}, and the node is given up (${why}).`
      : `No pod needs ${uniqueName}, and the node does not have it mounted.`,
  };
}
