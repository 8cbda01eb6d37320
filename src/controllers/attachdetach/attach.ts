// Attaching: a VolumeAttachment asks the driver, its status has the answer, and events of the pods report it (pkg/volume/util/operationexecutor,
// pkg/volume/csi).
import type { Pod } from '#api/core/v1';
import type { VolumeAttachment } from '#api/storage/v1';
import { type Effect, type Ref, refKey } from '#controller-runtime';
import { quote } from '#utils';
import { driverTimeoutMs, firstLookMs, retryBaseMs, retryMaxMs } from './limits.ts';
import type { Attempt, Elsewhere, Wanted } from './view.ts';
import { attachmentName, volumeAttachments } from './volumes.ts';

/** What is to happen with one volume. */
export interface Step {
  effects?: Effect[];
  /** Whether node status is to list it; absent: as it is. */
  report?: boolean;
  attempt?: Attempt;
  needsLive?: Ref[];
  wakeAfterMs?: number;
  /** Whether pods have the event that it is attached elsewhere. */
  told?: boolean;
  because?: string;
}

export interface AttachInput {
  nodeName: string;
  now: number;
  wanted: Wanted;
  attachment: VolumeAttachment | undefined;
  /** Node status lists it. */
  reported: boolean;
  /** This process asked for the detachment that is under way. */
  detaching: boolean;
  attempt: Attempt | undefined;
  told: boolean;
  /** Node status is believed where the attachment says otherwise (`--disable-attach-detach-reconcile-sync`). */
  trustReported: boolean;
  nodeExists: boolean;
  live: ReadonlyMap<string, unknown>;
}

const tell = (pods: readonly Pod[], type: 'Normal' | 'Warning', reason: string, message: string): Effect[] =>
  pods.map((pod) => ({
    op: 'event',
    regarding: { ...pod, apiVersion: 'v1', kind: 'Pod' },
    type,
    reason,
    message,
    afterSuccess: true,
  }));

const failed = (volume: string, why: string): string => `AttachVolume.Attach failed for volume ${quote(volume)} : ${why}`;

function fail({ now, wanted: { volume } }: AttachInput, attempt: Attempt, why: string): Step {
  const failures = attempt.failures + 1;
  const delayMs = Math.min(retryBaseMs * 2 ** (failures - 1), retryMaxMs) + firstLookMs;
  return {
    attempt: { ...attempt, failures, retryAt: now + delayMs },
    effects: tell(attempt.pods, 'Warning', 'FailedAttachVolume', failed(volume.name, why)),
    wakeAfterMs: delayMs,
    because: `${volume.name}: ${why}; tried again later.`,
  };
}

/** The attachment exists, but the driver has not attached it. */
function waitForDriver(input: AttachInput, attachment: VolumeAttachment): Step {
  const { now, attempt, wanted } = input;
  const { volume } = wanted;
  if (attempt?.retryAt !== undefined && attempt.retryAt > now) return { attempt, wakeAfterMs: attempt.retryAt - now };
  const current: Attempt =
    attempt && attempt.retryAt === undefined ? attempt : { startedAt: now, failures: attempt?.failures ?? 0, pods: wanted.pods };
  if (attachment.metadata.deletionTimestamp) return fail(input, current, 'volume attachment is being deleted');
  const problem = attachment.status?.attachError;
  if (problem) return fail(input, current, problem.message ?? '');
  const leftMs = current.startedAt + driverTimeoutMs - now;
  if (leftMs <= 0)
    return fail(
      input,
      current,
      `timed out waiting for external-attacher of ${volume.driver} CSI driver to attach volume ${volume.handle}`,
    );
  return { attempt: current, wakeAfterMs: leftMs, because: `${volume.name} waits for ${volume.driver} to attach it.` };
}

/** Whether the volume is on its way onto or off that node, so that its pods need not hear of it: a time in ms, or undefined. */
function movingForMs({ attachment, pods, inUse }: Elsewhere, now: number): number | undefined {
  if (!attachment) return driverTimeoutMs;
  const { metadata, status } = attachment;
  const since = Date.parse(metadata.deletionTimestamp ?? metadata.creationTimestamp ?? '');
  const leftMs = since + driverTimeoutMs - now;
  if (metadata.deletionTimestamp) return status?.detachError || leftMs <= 0 ? undefined : leftMs;
  if (pods.length === 0 && !inUse) return driverTimeoutMs;
  return status?.attached || status?.attachError || leftMs <= 0 ? undefined : leftMs;
}

/**
 * Waits for a volume that only one node may have and that is attached elsewhere. Its pods get one event about that. All pods that use it are in one
 * namespace, that of its claim.
 */
function waitForOthers({ wanted, told, now }: AttachInput, holders: readonly Elsewhere[]): Step {
  const { volume, pods, elsewhere } = wanted;
  const moving = holders.map((holder) => movingForMs(holder, now));
  const because = `${volume.name} is for one node only, and is on ${holders.map(({ nodeName }) => nodeName).join(', ')}.`;
  const waits = moving.flatMap((leftMs) => leftMs ?? []);
  if (told || waits.length > 0) return { told, because, ...(!told && { wakeAfterMs: Math.min(...waits) }) };
  const names = elsewhere
    .filter(({ nodeName }) => holders.some((holder) => holder.nodeName === nodeName))
    .flatMap((other) => other.pods.map(({ metadata }) => metadata.name ?? ''))
    .sort();
  const why =
    names.length > 0
      ? `Volume is already used by pod(s) ${names.join(', ')}`
      : "Volume is already exclusively attached to one node and can't be attached to another";
  const message = `Multi-Attach error for volume ${quote(volume.name)} ${why}`;
  return { told: true, because, effects: tell(pods, 'Warning', 'FailedAttachVolume', message) };
}

function begin({ nodeName, now, wanted: { volume, pods }, attempt }: AttachInput): Step {
  const object: VolumeAttachment = {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'VolumeAttachment',
    metadata: { name: attachmentName(volume, nodeName) },
    spec: { nodeName, attacher: volume.driver, source: { persistentVolumeName: volume.name } },
  };
  const [first] = pods;
  const failure = {
    reason: 'FailedAttachVolume',
    message: failed(volume.name, 'kubernetes.io/csi: attacher.Attach failed: {error}'),
  };
  return {
    attempt: { startedAt: now, failures: attempt?.failures ?? 0, pods },
    effects: [
      {
        op: 'create',
        resource: volumeAttachments,
        object,
        ...(first && { events: { regarding: { ...first, apiVersion: 'v1', kind: 'Pod' }, failure } }),
      },
    ],
    wakeAfterMs: driverTimeoutMs,
    because: `A pod needs ${volume.name}: ${volume.driver} is asked to attach it.`,
  };
}

/** Brings one volume that pods on the node need towards it. */
export function attach(input: AttachInput): Step {
  const { attachment, reported, wanted, trustReported } = input;
  const { volume } = wanted;
  const isAttached = attachment?.status?.attached === true;
  const isDeleting = attachment?.metadata.deletionTimestamp !== undefined;
  // A node that is gone keeps what it has, and gets nothing new.
  if (!input.nodeExists) return {};
  if (reported && (isAttached || trustReported)) return { report: true };
  if (attachment && isAttached && !isDeleting) {
    const message = `AttachVolume.Attach succeeded for volume ${quote(volume.name)} `;
    return {
      report: true,
      effects: tell(input.attempt?.pods ?? wanted.pods, 'Normal', 'SuccessfulAttachVolume', message),
      because: `${volume.name} is attached.`,
    };
  }
  if (isDeleting && input.detaching)
    return { report: false, because: `${volume.name} is still being detached; after that it is attached again.` };
  if (attachment) return { report: false, ...waitForDriver(input, attachment) };
  const holders = wanted.elsewhere.filter((other) => other.attachment);
  if (holders.length > 0) return { report: false, ...waitForOthers(input, holders) };
  // Nobody has it, as far as the cache knows: those that want it too may have been given it a moment ago.
  const rivals = wanted.elsewhere.map(
    (other): Ref => ({ resource: volumeAttachments, namespace: '', name: attachmentName(volume, other.nodeName) }),
  );
  if (rivals.some((ref) => !input.live.has(refKey(ref)))) return { needsLive: rivals };
  if (rivals.some((ref) => input.live.get(refKey(ref)) !== undefined))
    return { report: false, wakeAfterMs: firstLookMs, because: `${volume.name} was just given to another node.` };
  return { report: false, ...begin(input) };
}
