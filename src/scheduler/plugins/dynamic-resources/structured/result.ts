// What the search found, as the status of a claim (resource.k8s.io AllocationResult). Pure.
import type { NodeSelector, NodeSelectorRequirement } from '#api/core/v1';
import type {
  AllocationResult,
  DeviceAllocationConfiguration,
  DeviceRequestAllocationResult,
  ResourceClaim,
} from '#api/resource/v1';
import { deepEqual } from '#utils';
import type { Placement } from './search.ts';
import { AllocationError } from './selectors.ts';

const resultOf = ({ option, device: { device, slice }, shareId, consumed }: Placement): DeviceRequestAllocationResult => ({
  request: option.name,
  driver: slice.spec.driver,
  pool: slice.spec.pool.name,
  device: device.name,
  ...(option.isAdmin && { adminAccess: true }),
  ...(option.tolerations?.length && { tolerations: [...option.tolerations] }),
  ...(device.bindingConditions && { bindingConditions: device.bindingConditions }),
  ...(device.bindingFailureConditions && { bindingFailureConditions: device.bindingFailureConditions }),
  ...(shareId !== undefined && { shareID: shareId }),
  ...(consumed && { consumedCapacity: Object.fromEntries([...consumed].map(([name, amount]) => [name, amount.toString()])) }),
});

/** The configurations of the classes that were chosen, then those of the claim that are about what was chosen. */
function configurationOf(claim: ResourceClaim, placements: readonly Placement[]): DeviceAllocationConfiguration[] {
  const requestsOf = new Map<string, { requests: string[]; placement: Placement }>();
  for (const placement of placements) {
    const { name = '' } = placement.option.class.metadata;
    const known = requestsOf.get(name) ?? { requests: [], placement };
    if (!known.requests.includes(placement.option.name)) known.requests.push(placement.option.name);
    requestsOf.set(name, known);
  }
  const ofClasses = [...requestsOf.values()].flatMap(({ requests, placement }) =>
    (placement.option.class.spec.config ?? []).map((config) => ({ ...config, source: 'FromClass', requests })),
  );
  const chosen = new Set(placements.flatMap(({ option }) => [option.name, option.name.split('/', 1)[0] ?? '']));
  const ofClaim = (claim.spec.devices?.config ?? [])
    .filter(({ requests = [] }) => requests.length === 0 || requests.some((name) => chosen.has(name)))
    .map((config) => ({ ...config, source: 'FromClaim' }));
  return [...ofClasses, ...ofClaim];
}

const onlyHere = (nodeName: string): NodeSelector => ({
  nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [nodeName] }] }],
});

function addOnce(to: NodeSelectorRequirement[], from: readonly NodeSelectorRequirement[] | undefined): void {
  for (const one of from ?? []) if (!to.some((known) => deepEqual(known, one))) to.push(one);
}

/** The nodes that can use all of the devices: where one belongs to this node, this node alone; undefined for all. */
function nodesOf(placements: readonly Placement[], nodeName: string): NodeSelector | undefined {
  const matchFields: NodeSelectorRequirement[] = [];
  const matchExpressions: NodeSelectorRequirement[] = [];
  for (const { device } of placements) {
    const place = device.slice.spec.perDeviceNodeSelection ? device.device : device.slice.spec;
    if (place.nodeName || device.device.bindsToNode) return onlyHere(nodeName);
    const terms = place.nodeSelector?.nodeSelectorTerms ?? [];
    if (terms.length > 1) throw new AllocationError(`unsupported ResourceSlice.NodeSelector with ${terms.length} terms`);
    addOnce(matchFields, terms[0]?.matchFields);
    addOnce(matchExpressions, terms[0]?.matchExpressions);
  }
  if (matchFields.length === 0 && matchExpressions.length === 0) return undefined;
  const term = { ...(matchExpressions.length > 0 && { matchExpressions }), ...(matchFields.length > 0 && { matchFields }) };
  return { nodeSelectorTerms: [term] };
}

export function allocationOf(claim: ResourceClaim, placements: readonly Placement[], nodeName: string): AllocationResult {
  const config = configurationOf(claim, placements);
  const nodeSelector = nodesOf(placements, nodeName);
  return {
    devices: { results: placements.map(resultOf), ...(config.length > 0 && { config }) },
    ...(nodeSelector && { nodeSelector }),
  };
}
