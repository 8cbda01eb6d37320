// What is to happen with a claim that asks for a volume (sig-storage-lib-external-provisioner, shouldProvision and provisionClaimOperation). Pure.
import type { Node, PersistentVolume, PersistentVolumeClaim } from '#api/core/v1';
import type { StorageClass } from '#api/storage/v1';
import { keyOf, type KubeObject } from '#apimachinery/meta';
import { action, type Effect, type Plan, type Ref, refKey } from '#controller-runtime';
import { nodes, persistentVolumeClaims, persistentVolumes } from '#controller-runtime/platform';
import { quote } from '#utils';
import {
  asClaim,
  betaStorageProvisioner,
  finalizer,
  hostnameLabel,
  type LocalPathConfig,
  placeOf,
  provisionedBy,
  provisionerName,
  selectedNode,
  storageProvisioner,
  type VolumePlace,
} from './names.ts';

type Claim = PersistentVolumeClaim;

export interface ClaimView {
  claim: Claim | undefined;
  /** The one it names. */
  storageClass: StorageClass | undefined;
  /** The one of the name that a volume made for it has. */
  volume: PersistentVolume | undefined;
  /** Answers to live reads. */
  live: ReadonlyMap<string, KubeObject | undefined>;
}

/** A volume to be made: first its place on the node, then the object. */
export interface Making {
  claim: Claim;
  volume: PersistentVolume;
  place: VolumePlace;
}

/** Makes the directory of a volume. */
export const makeVolume = action<Making>('make');

const classAnnotation = 'volume.beta.kubernetes.io/storage-class';
export const classOf = ({ metadata, spec }: Claim): string =>
  metadata.annotations?.[classAnnotation] ?? spec?.storageClassName ?? '';
export const volumeNameOf = ({ metadata }: Claim): string => `pvc-${metadata.uid}`;

const tell = (claim: Claim, type: 'Normal' | 'Warning', reason: string, message: string): Effect => ({
  op: 'event',
  regarding: asClaim(claim),
  type,
  reason,
  message,
});
const failed = (claim: Claim, message: string): Effect => tell(claim, 'Warning', 'ProvisioningFailed', message);
const inClass = (claim: Claim, problem: string): string =>
  `failed to provision volume with StorageClass ${quote(classOf(claim))}: ${problem}`;

const asksUs = ({ metadata, spec }: Claim): boolean =>
  !spec?.volumeName &&
  !metadata.deletionTimestamp &&
  (metadata.annotations?.[storageProvisioner] ?? metadata.annotations?.[betaStorageProvisioner]) === provisionerName;

/** What a directory of one node cannot be. A claim never changes in any of this, so it is not tried again. */
function refusal({ spec, metadata }: Claim): string | undefined {
  if (spec?.selector) return 'claim.Spec.Selector is not supported';
  if (spec?.dataSource ?? spec?.dataSourceRef) return 'claim.Spec.DataSource is not supported';
  if ((spec?.accessModes ?? []).some((mode) => mode !== 'ReadWriteOnce' && mode !== 'ReadWriteOncePod'))
    return 'NodePath only supports ReadWriteOnce and ReadWriteOncePod (1.22+) access modes';
  return metadata.annotations?.[selectedNode] ? undefined : 'configuration error, no node was specified';
}

function volumeFor(config: LocalPathConfig, claim: Claim, storageClass: StorageClass, node: Node): Making {
  const { namespace, name, uid, resourceVersion } = claim.metadata;
  const nodeName = node.metadata.name ?? '';
  const place = placeOf(config, nodeName, volumeNameOf(claim));
  const host = node.metadata.labels?.[hostnameLabel] ?? nodeName;
  const volume: PersistentVolume = {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: {
      name: place.name,
      annotations: { [provisionedBy]: storageClass.provisioner },
      finalizers: [finalizer],
      ...(config.simulated && { labels: { 'sagong.dev/runtime': 'simulated' } }),
    },
    spec: {
      accessModes: claim.spec?.accessModes ?? [],
      capacity: { storage: claim.spec?.resources?.requests?.storage ?? '0' },
      claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid, resourceVersion },
      local: { path: place.path },
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: hostnameLabel, operator: 'In', values: [host] }] }],
        },
      },
      persistentVolumeReclaimPolicy: storageClass.reclaimPolicy ?? 'Delete',
      storageClassName: classOf(claim),
      volumeMode: 'Filesystem',
    },
  };
  return { claim, volume, place };
}

/** The scheduler is to choose again: the node it chose is gone. */
function reschedule(claim: Claim, node: string): Plan {
  const { [selectedNode]: _, ...annotations } = claim.metadata.annotations ?? {};
  return {
    effects: [
      failed(claim, `nodes ${quote(node)} not found`),
      { op: 'update', resource: persistentVolumeClaims, object: { ...claim, metadata: { ...claim.metadata, annotations } } },
    ],
    because: `The node ${node}, which the scheduler chose, is gone: it is to choose again.`,
  };
}

export function reconcileClaim(config: LocalPathConfig, { claim, storageClass, volume, live }: ClaimView): Plan {
  if (!claim || !asksUs(claim)) return { effects: [] };
  if (!storageClass) return { effects: [], failure: `storageClass ${quote(classOf(claim))} not found` };
  const node = claim.metadata.annotations?.[selectedNode] ?? '';
  if (storageClass.volumeBindingMode === 'WaitForFirstConsumer' && node === '') return { effects: [] };
  if (volume || storageClass.provisioner !== provisionerName) return { effects: [] };
  if (claim.spec?.volumeMode === 'Block') {
    const message = `${provisionerName} does not support block volume provisioning`;
    return { effects: [failed(claim, message)], because: 'It is to be a block device, but volumes here are directories.' };
  }
  const begun = tell(
    claim,
    'Normal',
    'Provisioning',
    `External provisioner is provisioning volume for claim ${quote(keyOf(claim.metadata))}`,
  );
  const problem = refusal(claim);
  if (problem !== undefined)
    return {
      effects: [begun, failed(claim, inClass(claim, problem))],
      because: `It cannot be a directory of one node: ${problem}.`,
    };
  const ask: Ref = { resource: nodes, namespace: '', name: node };
  if (!live.has(refKey(ask))) return { effects: [], needsLive: [ask] };
  const found = live.get(refKey(ask)) as Node | undefined;
  if (!found) return reschedule(claim, node);
  const making = volumeFor(config, claim, storageClass, found);
  return {
    effects: [begun, makeVolume.on(making)],
    because: config.simulated
      ? `The scheduler chose ${node}: its volume lies there, without a directory, for the node is simulated.`
      : `The scheduler chose ${node}: its volume is the directory ${making.place.path}.`,
  };
}

/** The volume is made once its place is there. `problem`: why it is not. */
export function afterMaking({ claim, volume }: Making, problem: string | undefined): Plan {
  if (problem !== undefined) {
    const message = inClass(claim, problem);
    return { effects: [failed(claim, message)], failure: message };
  }
  const success = { reason: 'ProvisioningSucceeded', message: 'Successfully provisioned volume {name}' };
  return {
    effects: [{ op: 'create', resource: persistentVolumes, object: volume, events: { regarding: asClaim(claim), success } }],
  };
}
