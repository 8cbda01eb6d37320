// Which `[ServiceOverride "…"]` serves a client. Pure. Services are named by the id of the SDK (`EC2`, `Elastic Load Balancing v2`); the names
// that older configurations use (`ec2`, `elasticloadbalancing`) are understood too.
import type { AwsConfig } from './schema.ts';

export type ServiceId = 'EC2' | 'Elastic Load Balancing' | 'Elastic Load Balancing v2' | 'STS' | 'ec2imds';

const otherNames: Readonly<Record<string, readonly ServiceId[]>> = {
  elasticloadbalancing: ['Elastic Load Balancing', 'Elastic Load Balancing v2'],
  elb: ['Elastic Load Balancing'],
  elbv2: ['Elastic Load Balancing v2'],
};

const names = (service: string, id: ServiceId): boolean =>
  service.trim().toLowerCase() === id.toLowerCase() || (otherNames[service.trim().toLowerCase()] ?? []).includes(id);

export interface EndpointOptions {
  endpoint?: string;
  signingRegion?: string;
  signingName?: string;
}

/** What the SDK's client is given. The metadata service has no region. */
export function endpointOf({ ServiceOverride }: AwsConfig, id: ServiceId, region?: string): EndpointOptions {
  const found = Object.values(ServiceOverride).find(
    ({ Service, Region }) => names(Service, id) && (region === undefined || Region.trim() === region),
  );
  if (!found) return {};
  return {
    endpoint: found.URL.trim(),
    signingRegion: found.SigningRegion.trim(),
    ...(found.SigningName !== undefined && { signingName: found.SigningName.trim() }),
  };
}
