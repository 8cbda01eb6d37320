// The volume behind a claim, read when a pod that names it comes to the node (upstream desired_state_of_world_populator.go). The binder writes the
// claim's spec first and its status second, and the scheduler sends pods after the first write, so the claim is read again for a moment before it is
// an error.
import type { PersistentVolume, PersistentVolumeClaim } from '#api/core/v1';
import type { KubeClient } from '#client';
import type { Clock } from '#utils';
import { claimPatienceMs, claimPollMs } from '../limits.ts';

const claims = { group: '', version: 'v1', resource: 'persistentvolumeclaims' };
const persistentVolumes = { group: '', version: 'v1', resource: 'persistentvolumes' };

const protection = 'kubernetes.io/pvc-protection';

export interface ClaimDeps {
  client: KubeClient;
  clock: Clock;
}

/** A claim has no volume that could be mounted. */
export class ClaimError extends Error {}

export interface Claimed {
  claim: PersistentVolumeClaim;
  volume: PersistentVolume;
}

/** The claim and its volume. Rejects with a `ClaimError`, in upstream's words, when they are not there after `claimPatienceMs`. */
export async function claimedVolume({ client, clock }: ClaimDeps, namespace: string, name: string): Promise<Claimed> {
  const deadlineMs = clock.monotonic() + claimPatienceMs;
  for (;;) {
    try {
      const claim = await readyClaim(client, namespace, name);
      return { claim, volume: await boundTo(client, claim) };
    } catch (error) {
      if (clock.monotonic() >= deadlineMs)
        throw new ClaimError(`error processing PVC ${namespace}/${name}: ${(error as Error).message}`, { cause: error });
    }
    await clock.sleep(claimPollMs);
  }
}

async function readyClaim(client: KubeClient, namespace: string, name: string): Promise<PersistentVolumeClaim> {
  const claim = await fetched('PVC', client.resource<PersistentVolumeClaim>(claims, namespace).get(name));
  const { deletionTimestamp, finalizers = [] } = claim.metadata;
  if (deletionTimestamp !== undefined && !finalizers.includes(protection)) throw new Error('PVC is being deleted');
  if (claim.status?.phase !== 'Bound') throw new Error('PVC is not bound');
  if (!claim.spec?.volumeName) throw new Error('PVC has empty pvc.Spec.VolumeName');
  return claim;
}

async function boundTo(client: KubeClient, { spec, metadata: { uid } }: PersistentVolumeClaim): Promise<PersistentVolume> {
  const name = spec?.volumeName ?? '';
  const volume = await fetched('PV', client.resource<PersistentVolume>(persistentVolumes).get(name), ` ${name}`);
  const owner = volume.spec?.claimRef;
  if (!owner)
    throw new Error(`found PV object ${name} but it has a nil pv.Spec.ClaimRef indicating it is not yet bound to the claim`);
  if (owner.uid !== uid)
    throw new Error(`found PV object ${name} but its pv.Spec.ClaimRef.UID ${owner.uid} does not point to claim.UID ${uid}`);
  return volume;
}

async function fetched<T>(kind: 'PV' | 'PVC', read: Promise<T>, which = ''): Promise<T> {
  try {
    return await read;
  } catch (error) {
    throw new Error(`failed to fetch ${kind}${which} from API server: ${(error as Error).message}`, { cause: error });
  }
}
