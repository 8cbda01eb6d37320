// Everything a Service says about its classic load balancer, in one value, before anything is asked or made. Pure.
import type { HealthCheck, Listener, LoadBalancerAttributes } from '@aws-sdk/client-elastic-load-balancing';
import { type Service, sourceRangesOf } from 'sagong/cloud-provider';
import { serviceKey } from 'sagong/cloud-provider/kit';
import { annotation, annotationsOf, isInternal, listIn, pairsIn } from '../../annotations.ts';
import type { GlobalConfig } from '../../config/schema.ts';
import { classicGroupName, loadBalancerName } from '../../naming.ts';
import { frontRules, type Rule } from '../../security-groups/rules.ts';
import { serviceTag } from '../../tags.ts';
import { classicAttributes } from './attributes.ts';
import { classicHealthCheck } from './health-check.ts';
import { classicListeners } from './listeners.ts';

export interface ClassicPlan {
  name: string;
  internal: boolean;
  listeners: Listener[];
  attributes: LoadBalancerAttributes;
  healthCheck: HealthCheck;
  proxyProtocol: boolean;
  /** One of AWS's TLS policies. */
  tlsPolicy?: string;
  /** Tags of the user; `tags` has ours as well, without those of the cluster. */
  userTags: Record<string, string>;
  tags: Record<string, string>;
  groups: ClassicGroups;
}

export interface ClassicGroups {
  /** Given ones, in place of one of its own; the first counts as the load balancer's. */
  given: string[];
  /** Behind the others. */
  extra: string[];
  /** The one that is made when none is given. */
  managed: { name: string; description: string; tags: Record<string, string>; rules: Rule[] };
}

/** Throws for annotations with unusable values. */
export function classicPlan(service: Service, config: GlobalConfig): ClassicPlan {
  const annotations = annotationsOf(service);
  const name = loadBalancerName(service);
  const proxyProtocol = annotations[annotation.proxyProtocol] ?? '';
  if (proxyProtocol !== '' && proxyProtocol !== '*')
    throw new Error(
      `annotation "${annotation.proxyProtocol}"="${proxyProtocol}" detected, but the only value supported currently is '*'`,
    );
  const listeners = classicListeners(service);
  const userTags = pairsIn(annotations[annotation.tags]);
  const ports = (service.spec?.ports ?? []).map(({ port, protocol = 'TCP' }) => ({ port, protocol }));
  const tlsPolicy = annotations[annotation.tlsPolicy];
  return {
    name,
    internal: isInternal(annotations),
    listeners,
    attributes: classicAttributes(annotations),
    healthCheck: classicHealthCheck(config, service, listeners[0]?.InstancePort ?? 0),
    proxyProtocol: proxyProtocol === '*',
    ...(tlsPolicy && { tlsPolicy }),
    userTags,
    tags: { ...userTags, [serviceTag]: serviceKey(service) },
    groups: {
      given: givenGroups(service, config),
      extra: listIn(annotations[annotation.extraSecurityGroups]),
      managed: {
        name: classicGroupName(name),
        description: `Security group for Kubernetes ELB ${name} (${serviceKey(service)})`,
        tags: userTags,
        rules: frontRules(ports, sourceRangesOf(service)),
      },
    },
  };
}

const givenGroups = (service: Service, { ElbSecurityGroup }: GlobalConfig): string[] => {
  const annotated = listIn(annotationsOf(service)[annotation.securityGroups]);
  return annotated.length === 0 && ElbSecurityGroup !== undefined ? [ElbSecurityGroup] : annotated;
};

/**
 * The group that stands for the load balancer in the rules of nodes: the first given one, else one that is the cluster's, else whichever is no
 * extra one. AWS gives them in any order. Undefined: it has none.
 */
export function frontGroup(
  present: readonly string[],
  { given, extra }: Pick<ClassicGroups, 'given' | 'extra'>,
  isTagged: (id: string) => boolean,
): string | undefined {
  const named = given.find((id) => present.includes(id));
  if (named !== undefined) return named;
  const own = present.filter((id) => !extra.includes(id));
  return own.find(isTagged) ?? own[0] ?? extra.find((id) => present.includes(id));
}

export const groupsOf = (service: Service, config: GlobalConfig): Pick<ClassicGroups, 'given' | 'extra'> => ({
  given: givenGroups(service, config),
  extra: listIn(annotationsOf(service)[annotation.extraSecurityGroups]),
});
