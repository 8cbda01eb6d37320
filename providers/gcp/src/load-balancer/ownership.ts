// Whether the load balancer of a Service is this manager's. GKE has other controllers for load balancers: theirs are told by class, annotation,
// finalizer, or by what the forwarding rule leads to (cloud-provider-gcp gce_util.go, gce_loadbalancer_internal.go). Pure.
import type { Service } from 'sagong/cloud-provider';
import { annotation, classes, isInternal } from '../annotations.ts';
import type { ForwardingRule } from '../api/types.ts';
import { externalFinalizer, foreignExternalFinalizers, foreignInternalFinalizer, internalFinalizer } from '../names.ts';

export interface OwnershipOptions {
  /** `--enable-rbs-default-l4-netlb`. */
  rbsByDefault: boolean;
  /** The alpha feature ILBSubsets. */
  ilbSubsets: boolean;
}

const hasFinalizer = ({ metadata }: Service, ...finalizers: string[]): boolean =>
  finalizers.some((finalizer) => metadata.finalizers?.includes(finalizer));

function isOursExternal(service: Service, rule: ForwardingRule | undefined, { rbsByDefault }: OwnershipOptions): boolean {
  if (hasFinalizer(service, externalFinalizer)) return true;
  if (service.metadata.annotations?.[annotation.regionalBackend] === 'enabled') return false;
  if (hasFinalizer(service, ...foreignExternalFinalizers)) return false;
  const isRegional = rule?.backendService !== undefined && rule.loadBalancingScheme !== 'INTERNAL';
  return !isRegional && !rbsByDefault;
}

function isOursInternal(service: Service, rule: ForwardingRule | undefined, { ilbSubsets }: OwnershipOptions): boolean {
  if (rule || hasFinalizer(service, internalFinalizer)) return true;
  return !ilbSubsets && !hasFinalizer(service, foreignInternalFinalizer);
}

export function isOurs(service: Service, rule: ForwardingRule | undefined, options: OwnershipOptions): boolean {
  const { loadBalancerClass } = service.spec ?? {};
  if (loadBalancerClass) return loadBalancerClass === classes.external || loadBalancerClass === classes.internal;
  return isInternal(service) ? isOursInternal(service, rule, options) : isOursExternal(service, rule, options);
}
