// What the loop sees of one node: the volumes its pods need, what is attached to it, and who else has or wants a volume for one node only.
import type { Node, PersistentVolume, Pod } from '#api/core/v1';
import type { VolumeAttachment } from '#api/storage/v1';
import type { Cache, ViewContext } from '#controller-runtime';
import { nodes, persistentVolumes, pods, podsByClaim, podsByNode } from '#controller-runtime/platform';
import { own } from '#utils';
import {
  attachableVolumes,
  attachedVolume,
  attachmentName,
  isCsiName,
  isManaged,
  needsVolumes,
  partsOf,
  reportedOf,
  type Volume,
  volumeAttachments,
} from './volumes.ts';

/** The name of the index of VolumeAttachments by their node. */
export const attachmentsByNode = 'attachmentNode';
export const attachmentsByVolume = 'attachmentVolume';

/** One attempt to attach a volume to a node. */
export interface Attempt {
  startedAt: number;
  failures: number;
  /** Set while it waits after a failure. */
  retryAt?: number;
  /** The pods that get the event about the outcome: those that were there when it began. */
  pods: readonly Pod[];
}

/** What is in no object; by unique name of the volume. */
export interface Memory {
  /** `volumesInUse` as last seen: a node that is gone still has its volumes mounted. */
  inUse?: readonly string[];
  attempts: Readonly<Record<string, Attempt>>;
  /** Since when a volume is to be detached. */
  unwantedSince: Readonly<Record<string, number>>;
  /** Detached by this process, not yet gone. */
  detaching: readonly string[];
  /** The pods that have the event that the volume is attached elsewhere. */
  told: readonly string[];
  /** Volumes by the name of their attachment: the persistent volume may go before it. */
  known: Readonly<Record<string, Volume>>;
}

/** Another node that has, or wants, a volume for one node only. */
export interface Elsewhere {
  nodeName: string;
  attachment: VolumeAttachment | undefined;
  /** Pods there that need the volume. */
  pods: readonly Pod[];
  /** The node says that it has the volume mounted. */
  inUse: boolean;
}

export interface Wanted {
  volume: Volume;
  pods: readonly Pod[];
  elsewhere: readonly Elsewhere[];
}

export interface Present {
  uniqueName: string;
  attachment: VolumeAttachment | undefined;
}

export interface AttachView {
  nodeName: string;
  node: Node | undefined;
  wanted: ReadonlyMap<string, Wanted>;
  /** Attachments of this loop on the node, and what the node is said to have without one. */
  present: ReadonlyMap<string, Present>;
  known: Readonly<Record<string, Volume>>;
  live: ViewContext['live'];
  memory: Memory;
}

export const emptyMemory: Memory = { attempts: {}, unwantedSince: {}, detaching: [], told: [], known: {} };

/** Pods that need the volume, with the nodes they are on. */
export function podsOf(volume: string, cache: Cache): Pod[] {
  const claim = cache.get<PersistentVolume>(persistentVolumes, '', volume)?.spec?.claimRef;
  return claim ? cache.byIndex<Pod>(pods, podsByClaim, `${claim.namespace}/${claim.name}`).filter(needsVolumes) : [];
}

function elsewhereOf(volume: Volume, nodeName: string, cache: Cache): Elsewhere[] {
  const attachments = new Map<string, VolumeAttachment>();
  for (const attachment of cache.byIndex<VolumeAttachment>(volumeAttachments, attachmentsByVolume, volume.name))
    if (attachedVolume(attachment, cache)) attachments.set(attachment.spec.nodeName, attachment);
  const users = podsOf(volume.name, cache);
  const names = new Set([...attachments.keys(), ...users.flatMap(({ spec }) => spec?.nodeName ?? [])]);
  names.delete(nodeName);
  return [...names].sort().map((name) => ({
    nodeName: name,
    attachment: attachments.get(name),
    pods: users.filter(({ spec }) => spec?.nodeName === name),
    inUse: (cache.get<Node>(nodes, '', name)?.status?.volumesInUse ?? []).includes(volume.uniqueName),
  }));
}

function wantedOn(nodeName: string, cache: Cache): Map<string, Wanted> {
  const wanted = new Map<string, { volume: Volume; pods: Pod[] }>();
  for (const pod of cache.byIndex<Pod>(pods, podsByNode, nodeName)) {
    if (!needsVolumes(pod)) continue;
    for (const volume of attachableVolumes(pod, cache)) {
      const entry = wanted.get(volume.uniqueName);
      if (!entry) wanted.set(volume.uniqueName, { volume, pods: [pod] });
      else if (!entry.pods.includes(pod)) entry.pods.push(pod);
    }
  }
  return new Map(
    [...wanted].map(([name, entry]) => [
      name,
      { ...entry, elsewhere: entry.volume.isExclusive ? elsewhereOf(entry.volume, nodeName, cache) : [] },
    ]),
  );
}

/** The unique names of attachments whose persistent volume is gone are found among those that the node has. */
function namesByAttachment(nodeName: string, node: Node | undefined): Map<string, string> {
  const names = new Map<string, string>();
  for (const uniqueName of [...reportedOf(node), ...(node?.status?.volumesInUse ?? [])]) {
    const parts = partsOf(uniqueName);
    if (parts) names.set(attachmentName(parts, nodeName), uniqueName);
  }
  return names;
}

export function viewOf(nodeName: string, cache: Cache, { live, memory = emptyMemory }: ViewContext): AttachView {
  const node = cache.get<Node>(nodes, '', nodeName);
  const before = memory as Memory;
  const named = namesByAttachment(nodeName, node);
  const present = new Map<string, Present>();
  const known: Record<string, Volume> = {};
  for (const attachment of cache.byIndex<VolumeAttachment>(volumeAttachments, attachmentsByNode, nodeName)) {
    const name = attachment.metadata.name ?? '';
    const volume = attachedVolume(attachment, cache) ?? own(before.known, name);
    if (volume) known[name] = volume;
    const uniqueName = volume?.uniqueName ?? named.get(name);
    if (uniqueName) present.set(uniqueName, { uniqueName, attachment });
  }
  for (const uniqueName of reportedOf(node))
    if (isCsiName(uniqueName) && !present.has(uniqueName)) present.set(uniqueName, { uniqueName, attachment: undefined });
  // A node that is gone keeps what it has until its pods are gone, and gets nothing new.
  const wanted = node && !isManaged(node) ? new Map<string, Wanted>() : wantedOn(nodeName, cache);
  return { nodeName, node, wanted, present, known, live, memory: before };
}
