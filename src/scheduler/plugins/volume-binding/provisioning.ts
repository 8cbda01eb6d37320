// Whether a volume could be made for a claim on a node (upstream plugins/volumebinding checkVolumeProvisions, hasEnoughCapacity; KEP-1472).
import type { Node, PersistentVolumeClaim, TopologySelectorTerm } from '#api/core/v1';
import type { CSIStorageCapacity, StorageClass } from '#api/storage/v1';
import { fromLabelSelector } from '#apimachinery/labels';
import { parseQuantity } from '#apimachinery/quantity';
import { own } from '#utils';
import type { ClusterView } from '../../framework/index.ts';
import { claimClass, requestedStorage } from './matching.ts';

const noProvisioner = 'kubernetes.io/no-provisioner';

export type Provisioning = 'yes' | 'no' | 'noSpace' | { error: string };

/** No terms allow every node. */
function isAllowed(terms: readonly TopologySelectorTerm[] | undefined, { metadata }: Node): boolean {
  if (!terms?.length) return true;
  return terms.some(({ matchLabelExpressions }) =>
    matchLabelExpressions?.every(({ key, values }) => values?.includes(own(metadata.labels ?? {}, key) ?? '')),
  );
}

export const capacityLimit = ({ maximumVolumeSize, capacity }: CSIStorageCapacity) => {
  const text = maximumVolumeSize ?? capacity;
  return text === undefined ? undefined : parseQuantity(text);
};

function hasSpace(claim: PersistentVolumeClaim, { metadata, provisioner }: StorageClass, node: Node, view: ClusterView): boolean {
  if (claim.spec?.resources?.requests?.storage === undefined) return true;
  if (view.get('CSIDriver', '', provisioner)?.spec.storageCapacity !== true) return true;
  const wanted = requestedStorage(claim);
  return view.list('CSIStorageCapacity').some((capacity) => {
    const limit = capacityLimit(capacity);
    if (capacity.storageClassName !== metadata.name || limit === undefined || limit.compare(wanted) < 0) return false;
    return capacity.nodeTopology !== undefined && fromLabelSelector(capacity.nodeTopology).matches(node.metadata.labels);
  });
}

export function canProvision(claim: PersistentVolumeClaim, node: Node, view: ClusterView): Provisioning {
  const className = claimClass(claim);
  const { namespace, name } = claim.metadata;
  if (className === '') return { error: `no class for claim ${JSON.stringify(`${namespace}/${name}`)}` };
  const found = view.get('StorageClass', '', className);
  if (found === undefined) return { error: `failed to find storage class ${JSON.stringify(className)}` };
  if (!found.provisioner || found.provisioner === noProvisioner) return 'no';
  if (!isAllowed(found.allowedTopologies, node)) return 'no';
  return hasSpace(claim, found, node, view) ? 'yes' : 'noSpace';
}
