// What the control plane does before a volume can be mounted: it attaches the volume to the node, and knows that the node uses it (upstream pkg/volume/csi
// csi_attacher.go, pkg/kubelet/volumemanager).
import type { VolumeAttachment } from '#api/storage/v1';
import type { KubeClient } from '#client';
import { type Clock, quote } from '#utils';
import type { Texts } from '../../../csi/index.ts';
import { attachPatienceMs } from '../../../limits.ts';
import type { NodeState } from '../../../node/state.ts';
import { attachmentName, uniqueName } from './places.ts';
import type { CsiVolume } from './requests.ts';

const volumeAttachments = { group: 'storage.k8s.io', version: 'v1', resource: 'volumeattachments' };

export interface AttachmentDeps {
  client: KubeClient;
  clock: Clock;
  nodeName: string;
  state: NodeState;
}

export interface Attachment {
  name: string;
  /** What the driver's attacher said of it. */
  metadata: Texts;
}

/** Waits until a volume that is in use is attached; rejects with upstream's words when it does not come in time. */
export async function attachmentOf(deps: AttachmentDeps, { driver, handle, name }: CsiVolume): Promise<Attachment> {
  const { client, clock, nodeName, state } = deps;
  const unique = uniqueName(driver, handle);
  if (!state.node?.status?.volumesInUse?.includes(unique)) await state.report();
  const isThere = await state.untilNode(
    (node) =>
      (node?.status?.volumesInUse ?? []).includes(unique) &&
      (node?.status?.volumesAttached ?? []).some((attached) => attached.name === unique),
    clock,
    attachPatienceMs,
  );
  if (!isThere)
    throw new Error(`Volume not attached according to node status for volume ${quote(name)} (UniqueName: ${quote(unique)})`);
  const attachment = attachmentName(handle, driver, nodeName);
  const found = await client.resource<VolumeAttachment>(volumeAttachments).get(attachment);
  if (!found.status?.attached) throw new Error(`volume attachment ${attachment} is not attached`);
  return { name: attachment, metadata: found.status.attachmentMetadata ?? {} };
}
