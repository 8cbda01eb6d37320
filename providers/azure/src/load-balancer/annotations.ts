// The annotations of Services that this provider reads (cloud-provider-azure pkg/consts, and the vendor's documentation of its load balancer). Pure.
import type { Service } from 'sagong/cloud-provider';
import { refuseAnnotations } from 'sagong/cloud-provider/kit';

export const prefix = 'service.beta.kubernetes.io/azure-';

/** The names of annotations without their prefix. */
export const annotation = {
  internal: 'load-balancer-internal',
  subnet: 'load-balancer-internal-subnet',
  ipv4: 'load-balancer-ipv4',
  ipv6: 'load-balancer-ipv6',
  resourceGroup: 'load-balancer-resource-group',
  idleTimeout: 'load-balancer-tcp-idle-timeout',
  disableTcpReset: 'load-balancer-disable-tcp-reset',
  haPorts: 'load-balancer-enable-high-availability-ports',
  probeProtocol: 'load-balancer-health-probe-protocol',
  probeInterval: 'load-balancer-health-probe-interval',
  probeCount: 'load-balancer-health-probe-num-of-probe',
  probePath: 'load-balancer-health-probe-request-path',
  disableFloatingIp: 'disable-load-balancer-floating-ip',
  disableSecurityRules: 'disable-load-balancer-nsg-rule',
  dnsLabel: 'dns-label-name',
  pipName: 'pip-name',
  pipNameIpv6: 'pip-name-ipv6',
  pipPrefix: 'pip-prefix-id',
  pipPrefixIpv6: 'pip-prefix-id-ipv6',
  pipTags: 'pip-tags',
  pipIpTags: 'pip-ip-tags',
  serviceTags: 'allowed-service-tags',
  ipRanges: 'allowed-ip-ranges',
  denyOthers: 'deny-all-except-load-balancer-source-ranges',
  additionalIps: 'additional-public-ips',
} as const;

/** The annotation about one port: `service.beta.kubernetes.io/port_443_no_lb_rule`. */
export const portAnnotation = (port: number, what: string): string => `service.beta.kubernetes.io/port_${port}_${what}`;
export const ofPort = {
  noRule: 'no_lb_rule',
  noProbe: 'no_probe_rule',
  probeProtocol: 'health-probe_protocol',
  probePort: 'health-probe_port',
  probeInterval: 'health-probe_interval',
  probeCount: 'health-probe_num-of-probe',
  probePath: 'health-probe_request-path',
} as const;

const privateLink = 'private link services are not made; make one on the frontend of the load balancer';
const privateLinks = Object.fromEntries(
  [
    'create',
    'name',
    'resource-group',
    'ip-configuration-subnet',
    'ip-configuration-ip-address-count',
    'ip-configuration-ip-address',
    'fqdns',
    'proxy-protocol',
    'visibility',
    'auto-approval',
  ].map((name) => [`${prefix}pls-${name}`, privateLink]),
);

/** Throws for an annotation that asks for what these load balancers do not have. */
export const refuseUnsupported = (service: Service): void => refuseAnnotations(service, privateLinks);
