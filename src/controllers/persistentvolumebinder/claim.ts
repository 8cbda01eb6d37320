// What is to happen with a claim: it is bound, waits, or is to be provisioned (pkg/controller/volume/persistentvolume, syncClaim). Binding
// takes four writes; each look does the next one that is missing. Pure.
import type { PersistentVolume, PersistentVolumeClaim } from '#api/core/v1';
import type { StorageClass } from '#api/storage/v1';
import { keyOf } from '#apimachinery/meta';
import type { Effect, Plan } from '#controller-runtime';
import { persistentVolumeClaims, persistentVolumes } from '#controller-runtime/platform';
import { deepEqual } from '#utils';
import {
  bestMatch,
  betaStorageProvisioner,
  bindCompleted,
  boundByController,
  classOf,
  defaultClass,
  hasAnnotation,
  isBoundTo,
  mismatch,
  namesClass,
  selectedNode,
  storageProvisioner,
} from './match.ts';

type Volume = PersistentVolume;
type Claim = PersistentVolumeClaim;

export interface ClaimView {
  claim: Claim | undefined;
  volumes: readonly Volume[];
  classes: readonly StorageClass[];
  /** Pods that use the claim and have no node yet. */
  waitingPods: readonly string[];
}

const tell = (claim: Claim, type: 'Normal' | 'Warning', reason: string, message: string): Effect => ({
  op: 'event',
  regarding: { ...claim, apiVersion: 'v1', kind: 'PersistentVolumeClaim' } as Claim,
  type,
  reason,
  message,
});

const updateClaim = (object: Claim, subresource?: string): Effect => ({
  op: 'update',
  resource: persistentVolumeClaims,
  object,
  ...(subresource && { subresource }),
});

export const setVolumePhase = (volume: Volume, phase: string, message = ''): Effect[] => {
  if (volume.status?.phase === phase && (volume.status.message ?? '') === message) return [];
  const { message: _, ...status } = volume.status ?? {};
  const object: Volume = { ...volume, status: { ...status, phase, ...(message && { message }) } };
  return [{ op: 'update', resource: persistentVolumes, subresource: 'status', object }];
};

/** A claim that is not bound has neither capacity nor access modes. */
function unboundStatus(claim: Claim, phase: string): Effect[] {
  const { accessModes, capacity, currentVolumeAttributesClassName, ...rest } = claim.status ?? {};
  if (claim.status?.phase === phase && !accessModes && !capacity && currentVolumeAttributesClassName === undefined) return [];
  return [updateClaim({ ...claim, status: { ...rest, phase } }, 'status')];
}

function lost(claim: Claim, reason: string, message: string): Plan {
  if (claim.status?.phase === 'Lost') return { effects: [] };
  return { effects: [...unboundStatus(claim, 'Lost'), tell(claim, 'Warning', reason, message)], because: message };
}

function boundVolume(volume: Volume, claim: Claim): Volume | undefined {
  const { name = '', namespace = '', uid = '', resourceVersion } = claim.metadata;
  const ref = volume.spec?.claimRef;
  const isSet = ref?.name === name && ref.namespace === namespace && ref.uid === uid;
  const mark = !isBoundTo(volume, claim) && !hasAnnotation(volume, boundByController);
  if (isSet && !mark) return undefined;
  const claimRef = {
    kind: 'PersistentVolumeClaim',
    apiVersion: 'v1',
    namespace,
    name,
    uid,
    ...(resourceVersion && { resourceVersion }),
  };
  const annotations = mark ? { ...volume.metadata.annotations, [boundByController]: 'yes' } : volume.metadata.annotations;
  return {
    ...volume,
    metadata: { ...volume.metadata, ...(annotations && { annotations }) },
    spec: { ...volume.spec, ...(!isSet && { claimRef }) },
  };
}

function boundClaim(claim: Claim, volume: Volume): Claim | undefined {
  const volumeName = volume.metadata.name ?? '';
  const fresh = claim.spec?.volumeName !== volumeName;
  if (!fresh && hasAnnotation(claim, bindCompleted)) return undefined;
  const annotations = {
    ...claim.metadata.annotations,
    ...(fresh && !hasAnnotation(claim, boundByController) && { [boundByController]: 'yes' }),
    [bindCompleted]: 'yes',
  };
  return { ...claim, metadata: { ...claim.metadata, annotations }, spec: { ...claim.spec, volumeName } };
}

function boundStatus(claim: Claim, volume: Volume): Effect[] {
  const { accessModes, capacity, volumeAttributesClassName } = volume.spec ?? {};
  const old = claim.status ?? {};
  const binding = old.phase !== 'Bound';
  const status = {
    ...old,
    phase: 'Bound',
    ...(accessModes && { accessModes }),
    ...(binding && capacity && { capacity }),
    ...(binding && volumeAttributesClassName !== undefined && { currentVolumeAttributesClassName: volumeAttributesClassName }),
  };
  return deepEqual(status, old) ? [] : [updateClaim({ ...claim, status }, 'status')];
}

/** The next write of a binding. */
function bind(volume: Volume, claim: Claim): Plan {
  const because = `Volume ${volume.metadata.name} is what the claim asks for.`;
  const ofVolume = boundVolume(volume, claim);
  if (ofVolume) return { effects: [{ op: 'update', resource: persistentVolumes, object: ofVolume }], because };
  const phase = setVolumePhase(volume, 'Bound');
  if (phase.length > 0) return { effects: phase, because };
  const ofClaim = boundClaim(claim, volume);
  if (ofClaim) return { effects: [updateClaim(ofClaim)], because };
  return { effects: boundStatus(claim, volume), because };
}

function bound(claim: Claim, volumes: readonly Volume[]): Plan {
  const name = claim.spec?.volumeName ?? '';
  if (name === '')
    return lost(claim, 'ClaimLost', 'Bound claim has lost reference to PersistentVolume. Data on the volume is lost!');
  const volume = volumes.find(({ metadata }) => metadata.name === name);
  if (!volume) return lost(claim, 'ClaimLost', 'Bound claim has lost its PersistentVolume. Data on the volume is lost!');
  const ref = volume.spec?.claimRef;
  if (!ref || ref.uid === claim.metadata.uid) return bind(volume, claim);
  return lost(claim, 'ClaimMisbound', 'Two claims are bound to the same volume, this one is bound incorrectly');
}

/** The user wants this very volume. */
function named(claim: Claim, name: string, volumes: readonly Volume[]): Plan {
  const pending = unboundStatus(claim, 'Pending');
  const volume = volumes.find(({ metadata }) => metadata.name === name);
  if (!volume) return { effects: pending, because: `The volume ${name} it asks for does not exist yet.` };
  if (isBoundTo(volume, claim)) return bind(volume, claim);
  if (volume.spec?.claimRef) {
    const event = tell(claim, 'Warning', 'FailedBinding', `volume "${name}" already bound to a different claim.`);
    if (!hasAnnotation(claim, boundByController)) return { effects: [event, ...pending] };
    const other = keyOf({ namespace: volume.spec.claimRef.namespace ?? '', name: volume.spec.claimRef.name ?? '' });
    const failure = `invalid binding of claim "${keyOf(claim.metadata)}" to volume "${name}": volume already claimed by "${other}"`;
    return { effects: [event], failure };
  }
  const problem = mismatch(volume, claim);
  if (problem === undefined) return bind(volume, claim);
  const message = `Cannot bind to requested volume "${name}": ${problem}`;
  return { effects: [tell(claim, 'Warning', 'VolumeMismatch', message), ...pending], because: message };
}

/** Asks the provisioner of the class, by annotation: all of them run outside. */
function provision(claim: Claim, className: string, classes: readonly StorageClass[]): Plan {
  const failed = (message: string): Plan => ({
    effects: [tell(claim, 'Warning', 'ProvisioningFailed', message)],
    because: message,
  });
  const storageClass = classes.find(({ metadata }) => metadata.name === className);
  if (!storageClass) return failed(`storageclass.storage.k8s.io "${className}" not found`);
  const { provisioner } = storageClass;
  if (provisioner.startsWith('kubernetes.io/')) return failed(`no volume plugin matched name: ${provisioner}`);
  const asked = claim.metadata.annotations?.[storageProvisioner] === provisioner;
  const annotations = {
    ...claim.metadata.annotations,
    [betaStorageProvisioner]: provisioner,
    [storageProvisioner]: provisioner,
  };
  const message = `Waiting for a volume to be created either by the external provisioner '${provisioner}' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.`;
  return {
    effects: [
      ...(asked ? [] : [updateClaim({ ...claim, metadata: { ...claim.metadata, annotations } })]),
      tell(claim, 'Normal', 'ExternalProvisioning', message),
    ],
    because: `No volume fits; ${provisioner} is to make one.`,
  };
}

function waiting({ waitingPods }: ClaimView, claim: Claim): Plan {
  const [reason, message] =
    waitingPods.length === 0
      ? ['WaitForFirstConsumer', 'waiting for first consumer to be created before binding']
      : ['WaitForPodScheduled', `waiting for pod${waitingPods.length > 1 ? 's' : ''} ${waitingPods.join(',')} to be scheduled`];
  return {
    effects: [tell(claim, 'Normal', reason ?? '', message ?? ''), ...unboundStatus(claim, 'Pending')],
    because: 'Its class binds only when a pod that uses it has a node.',
  };
}

export function reconcileClaim(view: ClaimView): Plan {
  const { claim, volumes, classes } = view;
  if (!claim) return { effects: [] };
  if (hasAnnotation(claim, bindCompleted)) return bound(claim, volumes);
  const name = claim.spec?.volumeName ?? '';
  if (name !== '') return named(claim, name, volumes);
  const className = classOf(claim);
  const mode = classes.find(({ metadata }) => metadata.name === className)?.volumeBindingMode;
  const delayed = className !== '' && mode === 'WaitForFirstConsumer';
  const volume = bestMatch(claim, volumes, delayed);
  if (volume) return bind(volume, claim);
  const fallback = namesClass(claim) ? undefined : defaultClass(classes)?.metadata.name;
  if (fallback !== undefined)
    return {
      effects: [updateClaim({ ...claim, spec: { ...claim.spec, storageClassName: fallback } })],
      because: `There is a default class now: ${fallback}.`,
    };
  if (delayed && !hasAnnotation(claim, selectedNode)) return waiting(view, claim);
  if (className !== '') {
    const plan = provision(claim, className, classes);
    return plan.effects.some(({ op }) => op === 'update')
      ? plan
      : { ...plan, effects: [...plan.effects, ...unboundStatus(claim, 'Pending')] };
  }
  return {
    effects: [
      tell(claim, 'Normal', 'FailedBinding', 'no persistent volumes available for this claim and no storage class is set'),
      ...unboundStatus(claim, 'Pending'),
    ],
    because: 'No volume fits, and no storage class can make one.',
  };
}
