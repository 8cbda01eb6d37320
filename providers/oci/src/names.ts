// Names in OCI, those of oci-cloud-controller-manager (load_balancer_util.go, load_balancer_spec.go), so that a cluster can change from the one
// manager to the other. Pure.
import { instanceIdOf, providerIdOf, type Service } from 'sagong/cloud-provider';
import { serviceKey, uidOf } from 'sagong/cloud-provider/kit';
import type { BalancerKind } from './api/types.ts';
import { displayNameCharactersMax, groupNameCharactersMax } from './limits.ts';

export const providerName = 'oci';
/** Under which the provider acts in the cluster and tells events. */
export const clientName = 'oci-cloud-controller-manager';
export const component = 'oci-cloud-controller-manager';

export const compartmentAnnotation = 'oci.oraclecloud.com/compartment-id';
export const faultDomainLabel = 'oci.oraclecloud.com/fault-domain';

/** The name of a Service's load balancer. `prefix` is that of `LOAD_BALANCER_PREFIX`; a dash follows it. */
export function balancerName(kind: BalancerKind, service: Service, prefix: string): string {
  const dashed = prefix === '' || prefix.endsWith('-') ? prefix : `${prefix}-`;
  const name = kind === 'nlb' ? `${serviceKey(service)}/${uidOf(service)}` : `${dashed}${uidOf(service)}`;
  return name.slice(0, displayNameCharactersMax);
}

/** The name of the network security group that a Service has to itself. */
export const groupName = (service: Service): string =>
  `${serviceKey(service)}/${uidOf(service)}/nsg`.slice(0, groupNameCharactersMax);
export const groupTags = (service: Service): Record<string, string> => ({ CreatedBy: 'CCM', ServiceUid: uidOf(service) });
/** The description of rules in network security groups. */
export const groupRuleMark = (service: Service): string => `service-uid-${uidOf(service)}`;
const listRuleMarkStart = 'kubernetes load balancers of cluster ';
/** The description of rules in security lists, which all Services of a cluster share. */
export const listRuleMark = (cluster: string): string => `${listRuleMarkStart}${cluster.replaceAll(';', ',')}`.slice(0, 255);
/** Whether this is the mark of some cluster. */
export const isListRuleMark = (text: string): boolean => text.startsWith(listRuleMarkStart);

export const formatProviderId = (ocid: string): string => providerIdOf(providerName, ocid);

/** The OCID in a provider ID: `oci://<ocid>`, or the OCID alone, as kubelets of OKE write it. Throws for another cloud's. */
export function ocidOf(providerId: string | undefined): string | undefined {
  if (!providerId) return undefined;
  const ocid = instanceIdOf(providerName, providerId) ?? providerId;
  if (!/^ocid1\.[\w.-]+$/.test(ocid)) throw new Error(`provider ID '${providerId}' is not valid for oci`);
  return ocid;
}

/** The zone of an availability domain: `PHX-AD-1` for `Uocm:PHX-AD-1`. */
export const zoneOf = (availabilityDomain: string): string => availabilityDomain.slice(availabilityDomain.indexOf(':') + 1);
