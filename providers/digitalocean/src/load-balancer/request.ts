// From a Service to the body of POST and PUT /v2/load_balancers, without what only calls can tell (droplets, region). Pure.
import { defaultLoadBalancerName, type Service } from 'sagong/cloud-provider';
import { textOf } from 'sagong/cloud-provider/kit';
import { annotationOf, annotations, booleanOf, integerOf, quoted, trimmedOf } from '../annotations.ts';
import type { LoadBalancerRequest, LoadBalancerType, StickySessions } from '../api/types.ts';
import { accessRules } from './access.ts';
import { passThroughRules, terminatingRules } from './forwarding-rules.ts';
import { healthCheckFor } from './health-check.ts';
import { type Backends, networkOf, networkStackOf, typeOf } from './network.ts';

/** The name asked for, else the one made of the Service's UID. */
export const nameOf = (service: Service): string => annotationOf(service, annotations.name) || defaultLoadBalancerName(service);

export const clusterTag = (clusterId: string): string => `k8s:${clusterId}`;

function sizeOf(service: Service): Pick<LoadBalancerRequest, 'size' | 'size_unit'> {
  const slug = annotationOf(service, annotations.sizeSlug) ?? '';
  if (slug !== '' && !['lb-small', 'lb-medium', 'lb-large'].includes(slug))
    throw new Error(`invalid LB size slug provided: ${slug}`);
  const text = annotationOf(service, annotations.sizeUnit) ?? '';
  let unit = 0;
  if (text !== '') {
    try {
      unit = integerOf(text);
    } catch (error) {
      throw new Error(`invalid LB size unit ${quoted(text)} provided: ${textOf(error)}`, { cause: error });
    }
    if (unit < 0) throw new Error(`LB size unit must be non-negative. ${unit} provided`);
  }
  if (slug !== '' && unit > 0) throw new Error('only one of LB size slug and size unit can be provided');
  return { ...(slug !== '' && { size: slug }), ...(unit > 0 && { size_unit: unit }) };
}

function stickySessionsOf(service: Service): StickySessions {
  if (annotationOf(service, annotations.stickySessionsType) !== 'cookies') return { type: 'none' };
  const name = annotationOf(service, annotations.stickySessionsCookieName);
  if (!name) throw new Error('sticky session cookie name not specified, but required');
  const ttl = annotationOf(service, annotations.stickySessionsCookieTtl);
  if (!ttl) throw new Error('sticky session cookie ttl not specified, but required');
  return { type: 'cookies', cookie_name: name, cookie_ttl_seconds: integerOf(ttl) };
}

function flag(service: Service, key: string, words: string): boolean {
  try {
    return booleanOf(service, key) ?? false;
  } catch (error) {
    throw new Error(`failed to get ${words} configuration setting: ${textOf(error)}`, { cause: error });
  }
}

/** Whether the load balancer is left alone altogether. Throws for an unusable value. */
export const isDisowned = (service: Service): boolean => flag(service, annotations.disown, 'disown LB');

function idleTimeoutOf(service: Service): Pick<LoadBalancerRequest, 'http_idle_timeout_seconds'> {
  const text = annotationOf(service, annotations.httpIdleTimeoutSeconds);
  if (text === undefined) return {};
  if (!/^\d+$/.test(text))
    throw new Error(
      `failed to parse provided LB HTTP idle timeout seconds value '${text}': strconv.ParseUint: parsing ${quoted(text)}: invalid syntax`,
    );
  return { http_idle_timeout_seconds: Number(text) };
}

export interface RequestContext {
  defaultType: LoadBalancerType;
  backends: Backends;
  /** '' without one. */
  certificateId: string;
  clusterId: string;
  vpcId: string;
  /** `network_stack` of the load balancer that is updated. */
  currentStack?: string;
}

/** Throws, in upstream's words, for annotations that cannot be used. */
export function requestFor(service: Service, context: RequestContext): LoadBalancerRequest {
  const type = typeOf(service, context.defaultType);
  const network = networkOf(service);
  const subnet = trimmedOf(service, annotations.subnetUuid);
  return {
    name: nameOf(service),
    type,
    network,
    network_stack: networkStackOf(service, type, network, context.backends, context.currentStack),
    forwarding_rules: type === 'REGIONAL_NETWORK' ? passThroughRules(service) : terminatingRules(service, context.certificateId),
    health_check: healthCheckFor(service),
    sticky_sessions: stickySessionsOf(service),
    algorithm: annotationOf(service, annotations.algorithm) === 'least_connections' ? 'least_connections' : 'round_robin',
    ...sizeOf(service),
    redirect_http_to_https: flag(service, annotations.redirectHttpToHttps, 'HTTP-to-HTTPS'),
    enable_proxy_protocol: flag(service, annotations.enableProxyProtocol, 'proxy protocol'),
    enable_backend_keepalive: flag(service, annotations.enableBackendKeepalive, 'backend keepalive'),
    disable_lets_encrypt_dns_records: flag(service, annotations.disableLetsEncryptDnsRecords, 'disable lets encrypt dns records'),
    ...idleTimeoutOf(service),
    firewall: accessRules(service),
    ...(context.vpcId !== '' && { vpc_uuid: context.vpcId }),
    ...(subnet !== '' && { subnet_uuid: subnet }),
    ...(context.clusterId !== '' && { tags: [clusterTag(context.clusterId)] }),
  };
}
