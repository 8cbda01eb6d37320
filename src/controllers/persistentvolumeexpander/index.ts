// Says who is to make a claim's volume larger: all drivers that can do it run outside (pkg/controller/volume/expand).
import type { PersistentVolume, PersistentVolumeClaim } from '#api/core/v1';
import { splitKey } from '#apimachinery/meta';
import { compareQuantities } from '#apimachinery/quantity';
import { type ControllerDefinition, defineController, ownKey, type Plan, watch } from '#controller-runtime';
import { persistentVolumeClaims, persistentVolumes } from '#controller-runtime/platform';
import { allow, recordEvents } from '#controller-runtime/workload';

type Claim = PersistentVolumeClaim;

export interface ExpansionView {
  claim: Claim | undefined;
  volume: PersistentVolume | undefined;
}

const requested = ({ spec }: Claim): string => spec?.resources?.requests?.['storage'] ?? '0';
const capacity = ({ status }: Claim): string => status?.capacity?.['storage'] ?? '0';

/** Whether an update may ask for more space: the first sight of a claim does not. */
const asksForMore = (claim: Claim, old: Claim | undefined): boolean =>
  old !== undefined &&
  claim.status?.phase === 'Bound' &&
  (compareQuantities(requested(claim), requested(old)) > 0 || compareQuantities(capacity(claim), capacity(old)) > 0);

export function reconcileExpansion({ claim, volume }: ExpansionView): Plan {
  if (!claim || !volume || volume.spec?.claimRef?.uid !== claim.metadata.uid) return { effects: [] };
  if (compareQuantities(requested(claim), capacity(claim)) <= 0) return { effects: [] };
  const regarding: Claim = { ...claim, apiVersion: 'v1', kind: 'PersistentVolumeClaim' };
  const message = 'waiting for an external controller to expand this PVC';
  return {
    effects: [{ op: 'event', regarding, type: volume.spec?.csi ? 'Normal' : 'Warning', reason: 'ExternalExpanding', message }],
    because: 'It asks for more space than its volume has; the driver of the volume is to make it larger.',
  };
}

export const persistentVolumeExpander: ControllerDefinition = defineController<ExpansionView>({
  name: 'persistentvolume-expander-controller',
  aliases: ['persistentvolume-expander'],
  for: persistentVolumeClaims,
  serviceAccount: 'expand-controller',
  eventSource: 'volume_expand',
  rights: [
    allow('get,list,patch,update,watch', 'core', 'persistentvolumes'),
    allow('patch,update', 'core', 'persistentvolumeclaims/status'),
    allow('get,list,watch', 'core', 'persistentvolumeclaims'),
    recordEvents,
  ],
  watches: [
    watch<Claim>({ resource: persistentVolumeClaims, keys: (claim, old) => (asksForMore(claim, old) ? ownKey(claim) : []) }),
    watch<PersistentVolume>({ resource: persistentVolumes }),
  ],
  view(key, cache) {
    const { namespace, name } = splitKey(key);
    const claim = cache.get<Claim>(persistentVolumeClaims, namespace, name);
    const volumeName = claim?.spec?.volumeName ?? '';
    return { claim, volume: volumeName === '' ? undefined : cache.get<PersistentVolume>(persistentVolumes, '', volumeName) };
  },
  reconcile: reconcileExpansion,
});
