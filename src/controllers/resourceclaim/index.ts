// Makes and lets go of the claims by which pods get devices (pkg/controller/resourceclaim, KEP-4381). Keys are pods and claims.
import type { Pod } from '#api/core/v1';
import type { ResourceClaim, ResourceClaimTemplate } from '#api/resource/v1';
import { controllerOf, splitKey } from '#apimachinery/meta';
import { isTerminalPhase } from '#component-helpers/pod';
import { claimNameOf } from '#component-helpers/resourceclaim';
import { type Cache, type ControllerDefinition, defineController, type ViewContext, watch } from '#controller-runtime';
import { pods } from '#controller-runtime/platform';
import { allow, recordEvents } from '#controller-runtime/workload';
import { afterRelease, type ClaimView, reconcileClaim, release } from './claim.ts';
import { gauges } from './metrics.ts';
import { type PodView, reconcilePod } from './pod.ts';
import { claimKey, objectOfKey, podKey, resourceClaims, resourceClaimTemplates } from './resources.ts';

/** Pods by the claims that they name, and by the templates, as `namespace/name`. */
const podsByResourceClaim = 'resourceClaim';
const podsByResourceClaimTemplate = 'resourceClaimTemplate';

/** Names of the claims that a pod has, those of templates among them once they are made. */
const claimsOf = (pod: Pod): string[] => {
  const names = (pod.spec?.resourceClaims ?? []).map((entry) => claimNameOf(pod, entry));
  const extended = pod.status?.extendedResourceClaimStatus?.resourceClaimName;
  return [...names, extended].filter((name) => typeof name === 'string' && name !== '') as string[];
};

const hasClaims = ({ spec, status }: Pod): boolean =>
  (spec?.resourceClaims?.length ?? 0) > 0 || status?.extendedResourceClaimStatus !== undefined;

/** Whether the pod might still run, and so needs its claims. */
const mightRun = ({ metadata, spec, status }: Pod): boolean =>
  !isTerminalPhase(status?.phase) && (metadata.deletionTimestamp === undefined || Boolean(spec?.nodeName));

function keysOfPod(pod: Pod, isGone: boolean): string[] {
  const { namespace, name } = pod.metadata;
  const claims = isGone || !mightRun(pod) ? claimsOf(pod).map((claim) => claimKey(namespace, claim)) : [];
  return isGone ? claims : [...claims, podKey(namespace, name)];
}

const usersOf = (cache: Cache, index: string, { metadata }: ResourceClaim | ResourceClaimTemplate): string[] =>
  cache
    .byIndex<Pod>(pods, index, `${metadata.namespace}/${metadata.name}`)
    .map((pod) => podKey(pod.metadata.namespace, pod.metadata.name));

function podView(pod: Pod | undefined, cache: Cache): PodView {
  const claims = new Map<string, ResourceClaim>();
  const templates = new Map<string, ResourceClaimTemplate>();
  if (pod === undefined) return { pod, claims, templates };
  const namespace = pod.metadata.namespace ?? '';
  const named = claimsOf(pod).map((name) => cache.get<ResourceClaim>(resourceClaims, namespace, name));
  for (const claim of [...named, ...cache.ownedBy<ResourceClaim>(resourceClaims, pod.metadata.uid ?? '')])
    if (claim !== undefined) claims.set(claim.metadata.name ?? '', claim);
  for (const { resourceClaimTemplateName: name } of pod.spec?.resourceClaims ?? []) {
    const template = name && cache.get<ResourceClaimTemplate>(resourceClaimTemplates, namespace, name);
    if (template) templates.set(template.metadata.name ?? '', template);
  }
  return { pod, claims, templates };
}

function claimView(claim: ResourceClaim | undefined, cache: Cache, { live }: ViewContext): ClaimView {
  const namespace = claim?.metadata.namespace ?? '';
  const owner = claim && controllerOf(claim.metadata);
  const names = new Set((claim?.status?.reservedFor ?? []).map(({ name }) => name));
  if (owner?.kind === 'Pod') names.add(owner.name);
  const known = new Map<string, Pod>();
  for (const name of names) {
    const pod = cache.get<Pod>(pods, namespace, name);
    if (pod !== undefined) known.set(name, pod);
  }
  return { claim, pods: known, live };
}

export const resourceClaimController: ControllerDefinition = defineController<PodView | ClaimView>({
  name: 'resourceclaim-controller',
  aliases: ['resource-claim-controller'],
  for: objectOfKey,
  serviceAccount: 'resource-claim-controller',
  eventSource: 'resource_claim',
  concurrency: { flag: 'concurrent-resourceclaim-syncs', default: 50 },
  rights: [
    allow('get,list,watch', 'core', 'pods'),
    allow('update', 'core', 'pods/finalizers'),
    allow('create,delete,get,list,watch', 'resource.k8s.io', 'resourceclaims'),
    allow('patch,update', 'resource.k8s.io', 'resourceclaims,resourceclaims/status'),
    allow('patch,update', 'core', 'pods/status'),
    recordEvents,
    allow('patch,update', 'resource.k8s.io', 'resourceclaims/binding'),
  ],
  gauges,
  watches: [
    watch<Pod>({
      resource: pods,
      indexers: {
        [podsByResourceClaim]: (pod) => claimsOf(pod).map((name) => `${pod.metadata.namespace}/${name}`),
        [podsByResourceClaimTemplate]: ({ metadata, spec }) =>
          (spec?.resourceClaims ?? []).flatMap(({ resourceClaimTemplateName: name }) =>
            name ? [`${metadata.namespace}/${name}`] : [],
          ),
      },
      keys(pod, _old, cache) {
        if (!hasClaims(pod)) return undefined;
        return keysOfPod(
          pod,
          cache.get(pods, pod.metadata.namespace ?? '', pod.metadata.name ?? '')?.metadata.uid !== pod.metadata.uid,
        );
      },
    }),
    watch<ResourceClaim>({
      resource: resourceClaims,
      keys(claim, _old, cache) {
        const { namespace, name } = claim.metadata;
        const owner = controllerOf(claim.metadata);
        const owners = owner?.kind === 'Pod' ? [podKey(namespace, owner.name)] : [];
        return new Set([claimKey(namespace, name), ...owners, ...usersOf(cache, podsByResourceClaim, claim)]);
      },
    }),
    watch<ResourceClaimTemplate>({
      resource: resourceClaimTemplates,
      keys: (template, _old, cache) => usersOf(cache, podsByResourceClaimTemplate, template),
    }),
  ],
  actions: ({ client }) => [
    release.by((claim) =>
      client.resource<ResourceClaim>(resourceClaims, claim.metadata.namespace).updateStatus(claim).then(afterRelease),
    ),
  ],
  view(key, cache, context) {
    const { resource, key: named } = objectOfKey(key);
    const { namespace, name } = splitKey(named);
    return resource === pods.resource
      ? podView(cache.get<Pod>(pods, namespace, name), cache)
      : claimView(cache.get<ResourceClaim>(resourceClaims, namespace, name), cache, context);
  },
  reconcile: (view) => ('claim' in view ? reconcileClaim(view) : reconcilePod(view)),
});
