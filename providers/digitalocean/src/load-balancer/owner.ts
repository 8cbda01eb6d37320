// Whose a load balancer is, of the Services of this cluster. Its name and its id are texts that any Service can ask for, so one that another Service has is
// never taken over, unless that one disowns it (digitalocean-cloud-controller-manager issue 556). Pure.
import { defaultLoadBalancerName, type Service } from 'sagong/cloud-provider';
import { annotationOf, annotations } from '../annotations.ts';
import type { LoadBalancer } from '../api/types.ts';
import { isDisowned, nameOf } from './request.ts';

/** Who has the better claim: the one that it is named for, then the one that it serves, then who notes its id, then who asks for its name. */
const claims = { named: 0, served: 1, noted: 2, asked: 3, none: 4 };

function claimOf(service: Service, { id, name, ip, ipv6 }: LoadBalancer): number {
  if (name === defaultLoadBalancerName(service)) return claims.named;
  const served = (service.status?.loadBalancer?.ingress ?? []).some((one) => one.ip && (one.ip === ip || one.ip === ipv6));
  if (served) return claims.served;
  if (annotationOf(service, annotations.id) === id) return claims.noted;
  return name === nameOf(service) ? claims.asked : claims.none;
}

function letsGo(service: Service): boolean {
  try {
    return isDisowned(service);
  } catch {
    return false;
  }
}

const ageOf = ({ metadata }: Service): string => `${metadata.creationTimestamp ?? ''} ${metadata.uid ?? ''}`;

/** Another Service whose load balancer this is; undefined: it is this one's to have. */
export function otherOwner(service: Service, balancer: LoadBalancer, services: readonly Service[]): Service | undefined {
  const own = claimOf(service, balancer);
  return services.find((other) => {
    if (other.metadata.uid === service.metadata.uid || other.spec?.type !== 'LoadBalancer' || letsGo(other)) return false;
    const claim = claimOf(other, balancer);
    return claim < own || (claim === own && claim !== claims.none && ageOf(other) < ageOf(service));
  });
}
