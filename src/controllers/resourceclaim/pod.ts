// Makes the claims that a pod's templates ask for, tells the pod their names, and reserves what is allocated for a pod that somebody
// else than the scheduler has placed. Pure.
import type { Pod, PodResourceClaim } from '#api/core/v1';
import type { ResourceClaim, ResourceClaimTemplate } from '#api/resource/v1';
import {
  canBeReserved,
  claimNameOf,
  isReservedFor,
  ownerProblem,
  podClaimAnnotation,
  userOf,
} from '#component-helpers/resourceclaim';
import type { Effect, Plan } from '#controller-runtime';
import { pods, refOf } from '#controller-runtime/platform';
import { quote } from '#utils';
import { resourceClaims, writeStatus } from './resources.ts';

/** Leaves room for five random characters in a name of 63. */
const generatedBaseMax = 57;
const fieldManager = 'ResourceClaimController';

export interface PodView {
  pod: Pod | undefined;
  /** Claims by name: those that the pod names, and those that were made for it. */
  claims: ReadonlyMap<string, ResourceClaim>;
  templates: ReadonlyMap<string, ResourceClaimTemplate>;
}

/** The pod's name and the entry's, both cut in proportion where together they are too long. */
function generateName(pod: string, entry: string): string {
  const whole = `${pod}-${entry}-`;
  if (whole.length <= generatedBaseMax) return whole;
  const cut = pod.slice(0, Math.floor((pod.length * generatedBaseMax) / whole.length));
  return `${cut}-${entry.slice(0, Math.floor((entry.length * generatedBaseMax) / (cut.length + entry.length + 2)))}`;
}

function newClaim(pod: Pod, entry: PodResourceClaim, { spec }: ResourceClaimTemplate): ResourceClaim {
  const { metadata = {} } = spec;
  return {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaim',
    metadata: {
      generateName: generateName(pod.metadata.name ?? '', entry.name),
      namespace: pod.metadata.namespace ?? '',
      ...(metadata.labels && { labels: metadata.labels }),
      annotations: { ...metadata.annotations, [podClaimAnnotation]: entry.name },
      ownerReferences: [
        { apiVersion: 'v1', kind: 'Pod', name: pod.metadata.name ?? '', uid: pod.metadata.uid ?? '', controller: true },
      ],
    },
    spec: spec.spec,
  };
}

/** The claim that was made for an entry although the pod does not say so yet. */
const orphanOf = ({ claims }: PodView, pod: Pod, entry: PodResourceClaim): ResourceClaim | undefined =>
  [...claims.values()].find(
    (claim) =>
      ownerProblem(pod, claim) === undefined &&
      claim.metadata.annotations?.[podClaimAnnotation] === entry.name &&
      claim.metadata.deletionTimestamp === undefined,
  );

const failedCreation = (
  pod: Pod,
  entry: PodResourceClaim,
  problem: string,
): { regarding: Pod; reason: string; message: string } => ({
  regarding: { ...pod, apiVersion: 'v1', kind: 'Pod' },
  reason: 'FailedResourceClaimCreation',
  message: `PodResourceClaim ${entry.name}: ${problem}`,
});

/** What an entry needs: nothing, a name in the pod's status, a new claim, or a template that is not there. */
type Need = { named: string } | { create: ResourceClaim } | { problem: string } | undefined;

function needOf(view: PodView, pod: Pod, entry: PodResourceClaim): Need {
  const name = claimNameOf(pod, entry);
  if (name === null || entry.resourceClaimTemplateName === undefined) return undefined;
  const known = name === undefined ? undefined : view.claims.get(name);
  if (known !== undefined && ownerProblem(pod, known) === undefined) return undefined;
  const orphan = orphanOf(view, pod, entry);
  if (orphan !== undefined) return { named: orphan.metadata.name ?? '' };
  const template = view.templates.get(entry.resourceClaimTemplateName);
  if (template !== undefined) return { create: newClaim(pod, entry, template) };
  const missing = quote(entry.resourceClaimTemplateName);
  return { problem: `resource claim template ${missing}: resourceclaimtemplate.resource.k8s.io ${missing} not found` };
}

/** All names of claims that the pod has from templates: those it knows, and new ones. */
function namesPatch(pod: Pod, found: ReadonlyMap<string, string>): Effect {
  const known = (pod.status?.resourceClaimStatuses ?? []).filter(({ name }) => !found.has(name));
  const resourceClaimStatuses = [...known, ...[...found].map(([name, resourceClaimName]) => ({ name, resourceClaimName }))];
  const { name, namespace } = pod.metadata;
  return {
    op: 'patch',
    ref: refOf(pods, pod),
    type: 'application/apply-patch+yaml',
    subresource: 'status',
    force: true,
    fieldManager,
    afterSuccess: true,
    body: { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace }, status: { resourceClaimStatuses } },
  };
}

/** Claims with devices that the pod, which has a node, is not entered in. */
function reservations(view: PodView, pod: Pod): Effect[] {
  if (!pod.spec?.nodeName) return [];
  return (pod.spec.resourceClaims ?? []).flatMap((entry): Effect[] => {
    const claim = view.claims.get(claimNameOf(pod, entry) ?? '');
    if (claim?.status?.allocation === undefined || isReservedFor(claim, pod.metadata.uid ?? '') || !canBeReserved(claim))
      return [];
    if (entry.resourceClaimTemplateName !== undefined && ownerProblem(pod, claim) !== undefined) return [];
    return [writeStatus(claim, { ...claim.status, reservedFor: [...(claim.status.reservedFor ?? []), userOf(pod)] })];
  });
}

export function reconcilePod(view: PodView): Plan {
  const { pod } = view;
  if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) return { effects: [] };
  const found = new Map<string, string>();
  const effects: Effect[] = [];
  for (const entry of pod.spec?.resourceClaims ?? []) {
    const need = needOf(view, pod, entry);
    if (need === undefined) continue;
    if ('problem' in need) {
      const { regarding, reason, message } = failedCreation(pod, entry, need.problem);
      return {
        effects: [...effects, { op: 'event', type: 'Warning', regarding, reason, message }],
        failure: `pod ${pod.metadata.namespace}/${pod.metadata.name}, ${message}`,
        because: `The template ${entry.resourceClaimTemplateName} of its claim ${entry.name} does not exist.`,
      };
    }
    if ('named' in need) found.set(entry.name, need.named);
    else {
      const failure = failedCreation(pod, entry, 'create ResourceClaim : {error}');
      effects.push({
        op: 'create',
        resource: resourceClaims,
        object: need.create,
        events: { regarding: failure.regarding, failure },
      });
    }
  }
  const isCreating = effects.length > 0;
  if (found.size > 0) effects.push(namesPatch(pod, found));
  effects.push(...reservations(view, pod));
  if (effects.length === 0) return { effects };
  return {
    effects,
    because: isCreating
      ? 'Its templates ask for claims, which go when the pod goes.'
      : 'The pod is told the names of its claims, and entered in those that have devices.',
  };
}
