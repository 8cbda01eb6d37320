// What this provider cannot or will not serve, told before anything is made. Pure.
import type { Service } from 'sagong/cloud-provider';
import { refuseIpv6Only } from 'sagong/cloud-provider/kit';
import { annotation, annotationsOf, isInternal, listIn } from '../annotations.ts';

export type Kind = 'classic' | 'network' | 'elsewhere';

/** `external` and `nlb-ip` are for the AWS Load Balancer Controller. */
export function kindOf(service: Service): Kind {
  const type = annotationsOf(service)[annotation.type];
  if (type === 'nlb') return 'network';
  return type === 'external' || type === 'nlb-ip' ? 'elsewhere' : 'classic';
}

/** `<name>.<region>.elb.amazonaws.com`; network load balancers are `<name>.elb.<region>.amazonaws.com`. */
const classicHost = /\.elb\.amazonaws\.com(\.cn)?$/;

/** The kind that the Service has now, by the host name in its status; undefined: none yet. */
export function presentKind({ status }: Service): 'classic' | 'network' | undefined {
  const [ingress] = status?.loadBalancer?.ingress ?? [];
  if (!ingress) return undefined;
  return classicHost.test(ingress.hostname ?? '') ? 'classic' : 'network';
}

function checkKind(service: Service, kind: Kind): void {
  const present = presentKind(service);
  if (present !== undefined && present !== kind)
    throw new Error(
      `cannot update Load Balancer Type annotation "${annotation.type}" after creation for ${kind === 'network' ? 'NLB' : 'Classic Load Balancer'}`,
    );
}

function checkTargetGroupAttributes({ spec }: Service, value: string): void {
  const failed = 'error validating target group attributes';
  const seen = new Set<string>();
  for (const item of listIn(value)) {
    const [key = '', setting = ''] = item.split('=');
    if (seen.has(key)) throw new Error(`${failed}: "${key}" is set twice in the annotation`);
    seen.add(key);
    if (setting === '') throw new Error(`${failed}: attribute value is empty for "${key}"`);
    if (key !== 'preserve_client_ip.enabled' && key !== 'proxy_protocol_v2.enabled')
      throw new Error(`${failed}: the attribute "${key}" is not supported by the controller or is invalid`);
    if (setting !== 'true' && setting !== 'false') throw new Error(`${failed}: invalid attribute value for "${key}": ${setting}`);
    if (key === 'preserve_client_ip.enabled' && setting === 'false' && spec?.ports?.some(({ protocol }) => protocol === 'UDP'))
      throw new Error(`${failed}: client IP preservation can't be disabled for UDP ports`);
  }
}

function checkAnnotations(service: Service, kind: Kind): void {
  const annotations = annotationsOf(service);
  checkKind(service, kind);
  if (kind === 'network' && annotations[annotation.extraSecurityGroups] !== undefined)
    throw new Error(`BYO extra security group annotation "${annotation.extraSecurityGroups}" is not supported by NLB`);
  const attributes = annotations[annotation.targetGroupAttributes];
  if (attributes === undefined) return;
  if (kind !== 'network') throw new Error('target group attributes annotation is only supported for NLB');
  checkTargetGroupAttributes(service, attributes);
}

const protocols: Readonly<Record<Kind, readonly string[]>> = { classic: ['TCP'], network: ['TCP', 'UDP'], elsewhere: [] };

/** Throws with the reason where a Service asks for what its load balancer cannot have. */
export function checkService(service: Service, kind: Kind): void {
  checkAnnotations(service, kind);
  const { sessionAffinity = 'None', ports = [], loadBalancerIP } = service.spec ?? {};
  if (sessionAffinity !== 'None') throw new Error(`unsupported load balancer affinity: ${sessionAffinity}`);
  if (ports.length === 0) throw new Error('requested load balancer with no ports');
  const used = new Set(ports.map(({ protocol = 'TCP' }) => protocol));
  if (used.size > 1) throw new Error('mixed protocol is not supported for LoadBalancer');
  for (const protocol of used)
    if (!protocols[kind].includes(protocol)) throw new Error(`Protocol ${protocol} not supported by LoadBalancer`);
  if (!ports.some(({ nodePort }) => nodePort))
    throw new Error('no port of the Service has a node port, which is where load balancers of AWS send traffic');
  refuseIpv6Only(service);
  if (loadBalancerIP) throw new Error('LoadBalancerIP cannot be specified for AWS ELB');
}

/** The side that the Service asks for, in AWS's words. */
export const schemeOf = (service: Service): 'internal' | 'internet-facing' =>
  isInternal(annotationsOf(service)) ? 'internal' : 'internet-facing';

/** Throws where the load balancer that is there is on the other side: AWS does not move it, and whoever asks for one inside must not be left with one outside. */
export function checkScheme(service: Service, { name, scheme }: { name: string; scheme: string | undefined }): void {
  const wanted = schemeOf(service);
  if (scheme !== undefined && scheme !== wanted)
    throw new Error(
      `annotation "${annotation.internal}" asks for ${wanted}, and load balancer ${name} is ${scheme}, which AWS does not change: delete the Service and make it again`,
    );
}
