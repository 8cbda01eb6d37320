// The annotations of Services that this provider reads, and how their values are read. Pure.
import type { Service } from 'sagong/cloud-provider';

const prefix = 'service.beta.kubernetes.io/aws-load-balancer-';

export const annotation = {
  type: `${prefix}type`,
  internal: `${prefix}internal`,
  proxyProtocol: `${prefix}proxy-protocol`,
  accessLogEmitInterval: `${prefix}access-log-emit-interval`,
  accessLogEnabled: `${prefix}access-log-enabled`,
  accessLogBucket: `${prefix}access-log-s3-bucket-name`,
  accessLogPrefix: `${prefix}access-log-s3-bucket-prefix`,
  drainingEnabled: `${prefix}connection-draining-enabled`,
  drainingTimeout: `${prefix}connection-draining-timeout`,
  idleTimeout: `${prefix}connection-idle-timeout`,
  crossZone: `${prefix}cross-zone-load-balancing-enabled`,
  extraSecurityGroups: `${prefix}extra-security-groups`,
  securityGroups: `${prefix}security-groups`,
  certificate: `${prefix}ssl-cert`,
  tlsPorts: `${prefix}ssl-ports`,
  tlsPolicy: `${prefix}ssl-negotiation-policy`,
  backendProtocol: `${prefix}backend-protocol`,
  tags: `${prefix}additional-resource-tags`,
  healthProtocol: `${prefix}healthcheck-protocol`,
  healthPort: `${prefix}healthcheck-port`,
  healthPath: `${prefix}healthcheck-path`,
  healthyThreshold: `${prefix}healthcheck-healthy-threshold`,
  unhealthyThreshold: `${prefix}healthcheck-unhealthy-threshold`,
  healthTimeout: `${prefix}healthcheck-timeout`,
  healthInterval: `${prefix}healthcheck-interval`,
  targetGroupAttributes: `${prefix}target-group-attributes`,
  eipAllocations: `${prefix}eip-allocations`,
  privateAddresses: `${prefix}private-ipv4-addresses`,
  targetNodeLabels: `${prefix}target-node-labels`,
  subnets: `${prefix}subnets`,
} as const;

export type Annotations = Readonly<Record<string, string>>;

export const annotationsOf = ({ metadata }: Service): Annotations => metadata.annotations ?? {};

/** The items between commas, without blanks and without empty ones. */
export const listIn = (value: string | undefined): string[] =>
  (value ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');

/** `a=1,b=,c`: a key without a value has the value ''. */
export const pairsIn = (value: string | undefined): Record<string, string> =>
  Object.fromEntries(
    listIn(value).flatMap((item) => {
      const [key = '', text = ''] = item.split('=');
      return key === '' ? [] : [[key, text]];
    }),
  );

const unreadable = (name: string, value: string): Error => new Error(`error parsing service annotation: ${name}=${value}`);

/** Words as Go's strconv.ParseBool knows them. Undefined: absent or empty. Throws for any other word. */
export function booleanIn(annotations: Annotations, name: string): boolean | undefined {
  const value = annotations[name];
  if (!value) return undefined;
  if (/^(1|t|T|TRUE|true|True)$/.test(value)) return true;
  if (/^(0|f|F|FALSE|false|False)$/.test(value)) return false;
  throw unreadable(name, value);
}

/** Reads an annotation as an integer; undefined where it is absent or empty. Throws for anything else. */
export function integerIn(annotations: Annotations, name: string): number | undefined {
  const value = annotations[name];
  if (!value) return undefined;
  if (!/^[+-]?\d{1,9}$/.test(value)) throw unreadable(name, value);
  return Number(value);
}

/** Everything but an absent, an empty and the value `false` says: only inside the network. */
export const isInternal = (annotations: Annotations): boolean => {
  const value = annotations[annotation.internal];
  return value !== undefined && value !== '' && value !== 'false';
};

/** Whether a port is one of those that `ssl-ports` names; all are where it is absent. */
export function isTlsPort(annotations: Annotations, { name, port }: { name?: string; port: number }): boolean {
  if (!annotations[annotation.certificate]) return false;
  const ports = annotations[annotation.tlsPorts];
  if (!ports || ports === '*') return true;
  const listed = listIn(ports);
  return listed.includes(String(port)) || (name !== undefined && name !== '' && listed.includes(name));
}
