// Counts of claims (pkg/controller/resourceclaim/metrics), with upstream's names.
import type { ResourceClaim } from '#api/resource/v1';
import { podClaimAnnotation } from '#component-helpers/resourceclaim';
import type { GaugeDefinition } from '#controller-runtime';
import { resourceClaims } from './resources.ts';

const extendedResourceAnnotation = 'resource.kubernetes.io/extended-resource-claim';

const isAdmin = ({ spec }: ResourceClaim): boolean =>
  (spec.devices?.requests ?? []).some(({ exactly }) => exactly?.adminAccess === true);

function sourceOf({ metadata }: ResourceClaim): string {
  if (metadata.annotations?.[extendedResourceAnnotation] === 'true') return 'extended_resource';
  return metadata.annotations?.[podClaimAnnotation] ? 'resource_claim_template' : '';
}

export const gauges: GaugeDefinition[] = [
  {
    name: 'resourceclaim_controller_resource_claims',
    help: 'Number of ResourceClaims, by whether they are allocated, have admin access, and where they come from.',
    labels: ['allocated', 'admin_access', 'source'],
    read(cache) {
      const counts = new Map<string, { labels: string[]; value: number }>();
      for (const claim of cache.list<ResourceClaim>(resourceClaims)) {
        const labels = [String(claim.status?.allocation !== undefined), String(isAdmin(claim)), sourceOf(claim)];
        const known = counts.get(labels.join());
        if (known) known.value += 1;
        else counts.set(labels.join(), { labels, value: 1 });
      }
      return counts.values();
    },
  },
];
