// The annotations of Services that this provider reads, and what they ask for (cloud-provider-gcp gce_annotations.go). Pure.
import type { Service } from 'sagong/cloud-provider';
import { annotationsOf, refuseAnnotations } from 'sagong/cloud-provider/kit';

export const annotation = {
  type: 'networking.gke.io/load-balancer-type',
  oldType: 'cloud.google.com/load-balancer-type',
  backendShare: 'alpha.cloud.google.com/load-balancer-backend-share',
  oldBackendShare: 'cloud.google.com/load-balancer-backend-share',
  globalAccess: 'networking.gke.io/internal-load-balancer-allow-global-access',
  subnet: 'networking.gke.io/internal-load-balancer-subnet',
  tier: 'cloud.google.com/network-tier',
  regionalBackend: 'cloud.google.com/l4-rbs',
  /** Written with `--enable-l4-lb-annotations`. */
  backendService: 'networking.gke.io/backend-service',
  targetPool: 'networking.gke.io/target-pool',
} as const;

/** Of controllers of GKE that are not here, and of releases of the vendor's manager that this provider does not follow yet. */
const refused: Readonly<Record<string, string>> = {
  'networking.gke.io/load-balancer-ip-addresses':
    'several or named addresses are for load balancers with regional backend services; spec.loadBalancerIP names one that you have reserved',
  'cloud.google.com/load-balancer-resource-labels': 'forwarding rules get no labels of yours here',
  'networking.gke.io/weighted-load-balancing': 'target pools and instance groups have no weights',
  'networking.gke.io/l4-ilb-zonal-affinity': 'only load balancers of GKE subsetting have it',
};

export const classes = {
  external: 'networking.gke.io/l4-regional-external-legacy',
  internal: 'networking.gke.io/l4-regional-internal-legacy',
  regionalBackend: 'networking.gke.io/l4-regional-external',
} as const;

export type Tier = 'PREMIUM' | 'STANDARD';

/** Whether a load balancer is internal: its class says so, or else the annotation. */
export function isInternal(service: Service): boolean {
  const { loadBalancerClass } = service.spec ?? {};
  if (loadBalancerClass === classes.internal) return true;
  if (loadBalancerClass === classes.external) return false;
  const { annotations = {} } = service.metadata;
  return /^[Ii]nternal$/.test(annotations[annotation.type] ?? annotations[annotation.oldType] ?? '');
}

/** The network tier that the annotation names; undefined where it is absent. Throws for another word. */
export function tierOf(service: Service): Tier | undefined {
  const tier = service.metadata.annotations?.[annotation.tier];
  if (tier === undefined) return undefined;
  if (tier !== 'Standard' && tier !== 'Premium') throw new Error(`unsupported network tier: ${JSON.stringify(tier)}`);
  return tier === 'Standard' ? 'STANDARD' : 'PREMIUM';
}

export const internalOptions = (service: Service) => {
  const { annotations = {} } = service.metadata;
  const isTrue = (name: string): boolean => annotations[name] === 'true';
  return {
    globalAccess: isTrue(annotation.globalAccess),
    subnet: annotationsOf(service).text(annotation.subnet),
    shareBackend: isTrue(annotation.backendShare) || isTrue(annotation.oldBackendShare),
  };
};

/** Throws for an annotation that asks for what these load balancers do not have. */
export const refuseUnsupported = (service: Service): void => refuseAnnotations(service, refused);
