// Annotations of Services, and how their values are read: as Go's strconv reads them, for manifests that work with the vendor's own manager
// must work here (digitalocean-cloud-controller-manager, docs/controllers/services/annotations.md).
import type { Service } from 'sagong/cloud-provider';

const base = 'service.beta.kubernetes.io/do-loadbalancer-';

export const annotations = {
  /** Written by the provider: finds the load balancer whatever it is called. */
  id: 'kubernetes.digitalocean.com/load-balancer-id',
  disown: 'service.kubernetes.io/do-loadbalancer-disown',
  /** On Services of type NodePort; "false" keeps the public access firewall closed. */
  firewallManaged: 'kubernetes.digitalocean.com/firewall-managed',
  base,
  name: `${base}name`,
  type: `${base}type`,
  network: `${base}network`,
  networkStack: `${base}network-stack`,
  ip: `${base}ip`,
  subnetUuid: `${base}subnet-uuid`,
  hostname: `${base}hostname`,
  protocol: `${base}protocol`,
  httpPorts: `${base}http-ports`,
  tlsPorts: `${base}tls-ports`,
  http2Ports: `${base}http2-ports`,
  http3Port: `${base}http3-port`,
  tlsPassthrough: `${base}tls-passthrough`,
  certificateId: `${base}certificate-id`,
  certificateName: `${base}certificate-name`,
  algorithm: `${base}algorithm`,
  sizeSlug: `${base}size-slug`,
  sizeUnit: `${base}size-unit`,
  stickySessionsType: `${base}sticky-sessions-type`,
  stickySessionsCookieName: `${base}sticky-sessions-cookie-name`,
  stickySessionsCookieTtl: `${base}sticky-sessions-cookie-ttl`,
  redirectHttpToHttps: `${base}redirect-http-to-https`,
  disableLetsEncryptDnsRecords: `${base}disable-lets-encrypt-dns-records`,
  enableProxyProtocol: `${base}enable-proxy-protocol`,
  enableBackendKeepalive: `${base}enable-backend-keepalive`,
  httpIdleTimeoutSeconds: `${base}http-idle-timeout-seconds`,
  allowRules: `${base}allow-rules`,
  denyRules: `${base}deny-rules`,
  overrideHealthCheck: `${base}override-health-check`,
  healthCheckPath: `${base}healthcheck-path`,
  healthCheckPort: `${base}healthcheck-port`,
  healthCheckProtocol: `${base}healthcheck-protocol`,
  healthCheckInterval: `${base}healthcheck-check-interval-seconds`,
  healthCheckResponseTimeout: `${base}healthcheck-response-timeout-seconds`,
  healthCheckUnhealthyThreshold: `${base}healthcheck-unhealthy-threshold`,
  healthCheckHealthyThreshold: `${base}healthcheck-healthy-threshold`,
} as const;

export const quoted = (text: string): string => JSON.stringify(text);

export const annotationOf = ({ metadata }: Service, key: string): string | undefined => metadata.annotations?.[key];
/** The value of an annotation without white space at its ends; '' when it is absent. */
export const trimmedOf = (service: Service, key: string): string => annotationOf(service, key)?.trim() ?? '';

const trueTexts = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);
const falseTexts = new Set(['0', 'f', 'F', 'FALSE', 'false', 'False']);

/** Reads an annotation as a boolean; undefined where it is absent. Throws for anything else. */
export function booleanOf(service: Service, key: string): boolean | undefined {
  const value = annotationOf(service, key);
  if (value === undefined) return undefined;
  if (trueTexts.has(value)) return true;
  if (falseTexts.has(value)) return false;
  throw new Error(
    `cannot convert value ${quoted(value)} for annotation ${quoted(key)} to bool: strconv.ParseBool: parsing ${quoted(value)}: invalid syntax`,
  );
}

/** A whole number as Go's strconv.Atoi reads it. */
export function integerOf(text: string): number {
  if (!/^[+-]?\d+$/.test(text)) throw new Error(`strconv.Atoi: parsing ${quoted(text)}: invalid syntax`);
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new Error(`strconv.Atoi: parsing ${quoted(text)}: value out of range`);
  return value;
}

/** The port numbers in an annotation, which commas separate. */
export const portsOf = (service: Service, key: string): number[] => annotationOf(service, key)?.split(',').map(integerOf) ?? [];

/** The texts in an annotation, which commas separate. */
export const listOf = (service: Service, key: string): string[] =>
  (annotationOf(service, key) || undefined)?.split(',').map((item) => item.trim()) ?? [];
