// The Service annotations that each vendor documents: every one is read by our provider, or refused by its name, or has no effect as with the vendor's own
// manager, and is in the provider's README. The lists are the vendors' own; what is named at each is where they are found.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Service } from '#cloud-provider';
import { testService } from '#cloud-provider/test-server';
import * as aws from '../../../providers/aws/src/annotations.ts';
import * as azure from '../../../providers/azure/src/load-balancer/annotations.ts';
import * as baidu from '../../../providers/baidu/src/annotations.ts';
import * as digitalOcean from '../../../providers/digitalocean/src/annotations.ts';
import * as gcp from '../../../providers/gcp/src/annotations.ts';
import * as linode from '../../../providers/linode/src/annotations.ts';
import * as oci from '../../../providers/oci/src/annotations.ts';

const providers = fileURLToPath(new URL('../../../providers', import.meta.url));
const words = (text: string): string[] => text.trim().split(/\s+/);
const prefixed = (prefix: string, text: string): string[] => words(text).map((word) => prefix + word);

interface Vendor {
  folder: string;
  documented: readonly string[];
  /** What the provider reads: names in full by the key that its sources use. */
  read: Readonly<Record<string, string>>;
  /** Those that the vendor's own manager ignores, too, with the configurations that the provider takes. */
  ignored?: readonly string[];
  /** Throws for those that it refuses. */
  check?(service: Service): void;
  /** How the README writes them: without this. */
  written?: readonly [string, string][];
}

const beta = 'service.beta.kubernetes.io/';
const kinds = ['lb', 'nlb'] as const;
const ociWishes = [
  'internal',
  'listMode',
  'groups',
  'nodeSelector',
  'policy',
  'healthRetries',
  'healthInterval',
  'healthTimeout',
  'freeformTags',
  'definedTags',
] as const;

const azureOfPorts = Object.entries(azure.ofPort).map(
  ([key, what]) => [`ofPort.${key}`, azure.portAnnotation(80, what)] as const,
);

const vendors: Readonly<Record<string, Vendor>> = {
  // cloud-provider-aws, docs/service_controller.md
  aws: {
    folder: 'aws',
    documented: prefixed(
      `${beta}aws-load-balancer-`,
      `access-log-emit-interval access-log-enabled access-log-s3-bucket-name access-log-s3-bucket-prefix additional-resource-tags
      backend-protocol connection-draining-enabled connection-draining-timeout connection-idle-timeout cross-zone-load-balancing-enabled
      extra-security-groups healthcheck-healthy-threshold healthcheck-interval healthcheck-timeout healthcheck-unhealthy-threshold
      internal proxy-protocol ssl-cert ssl-negotiation-policy ssl-ports type`,
    ),
    read: aws.annotation,
    written: [[`${beta}aws-load-balancer-`, '']],
  },
  // https://learn.microsoft.com/azure/aks/configure-load-balancer-standard, and https://cloud-provider-azure.sigs.k8s.io/topics/loadbalancer/
  azure: {
    folder: 'azure',
    documented: [
      ...azureOfPorts.map(([, name]) => name),
      ...prefixed(
        azure.prefix,
        `load-balancer-mode load-balancer-configurations load-balancer-internal load-balancer-internal-subnet dns-label-name shared-securityrule load-balancer-resource-group
      allowed-service-tags allowed-ip-ranges load-balancer-tcp-idle-timeout load-balancer-disable-tcp-reset load-balancer-ipv4
      load-balancer-ipv6 load-balancer-health-probe-protocol load-balancer-health-probe-interval
      load-balancer-health-probe-num-of-probe load-balancer-health-probe-request-path pip-name pip-name-ipv6 pip-prefix-id
      pip-prefix-id-ipv6 pip-tags pip-ip-tags load-balancer-enable-high-availability-ports disable-load-balancer-floating-ip
      deny-all-except-load-balancer-source-ranges additional-public-ips disable-load-balancer-nsg-rule pls-create pls-name
      pls-resource-group pls-ip-configuration-subnet pls-ip-configuration-ip-address-count pls-ip-configuration-ip-address
      pls-fqdns pls-proxy-protocol pls-visibility pls-auto-approval`,
      ),
    ],
    read: Object.fromEntries([
      ...azureOfPorts,
      ...Object.entries(azure.annotation).map(([key, name]) => [key, azure.prefix + name] as const),
    ]),
    // They choose among several load balancers, which the configuration refuses (`multipleStandardLoadBalancerConfigurations`).
    ignored: prefixed(azure.prefix, 'load-balancer-mode load-balancer-configurations shared-securityrule'),
    check: azure.refuseUnsupported,
    written: [
      [azure.portAnnotation(80, ''), '_'],
      [azure.prefix, ''],
      ['pls-', 'pls-*'],
    ],
  },
  // cloud-provider-baiducloud, options.go; https://cloud.baidu.com/doc/CCE/s/zlako7b04
  baidu: {
    folder: 'baidu',
    documented: [
      ...prefixed(
        baidu.balancerPrefix,
        `id exist-id cce-add-id cce-add-eip internal-vpc allocate-vip subnet-id rs-max-num backend-label reserve-lb lb-name scheduler
        health-check-timeout-in-second health-check-interval unhealthy-threshold healthy-threshold health-check-string type
        pass-through server-group`,
      ),
      ...prefixed(baidu.eipPrefix, 'name payment-timing billing-method bandwidth-in-mbps reservation-length'),
    ],
    read: baidu.annotation,
    check: baidu.checkAnnotations,
    written: [[beta, '']],
  },
  // digitalocean-cloud-controller-manager, docs/controllers/services/annotations.md
  digitalocean: {
    folder: 'digitalocean',
    documented: [
      'service.kubernetes.io/do-loadbalancer-disown',
      ...prefixed(
        digitalOcean.annotations.base,
        `name type network network-stack ip subnet-uuid hostname protocol http-ports tls-ports http2-ports http3-port
        tls-passthrough certificate-id certificate-name algorithm size-slug size-unit sticky-sessions-type
        sticky-sessions-cookie-name sticky-sessions-cookie-ttl redirect-http-to-https disable-lets-encrypt-dns-records
        enable-proxy-protocol enable-backend-keepalive http-idle-timeout-seconds allow-rules deny-rules override-health-check
        healthcheck-path healthcheck-port healthcheck-protocol healthcheck-check-interval-seconds
        healthcheck-response-timeout-seconds healthcheck-unhealthy-threshold healthcheck-healthy-threshold`,
      ),
    ],
    read: digitalOcean.annotations,
    written: [[digitalOcean.annotations.base, '']],
  },
  // cloud-provider-gcp, gce_annotations.go; https://cloud.google.com/kubernetes-engine/docs/concepts/service-load-balancer-parameters
  gcp: {
    folder: 'gcp',
    documented: words(
      `networking.gke.io/load-balancer-type cloud.google.com/load-balancer-type alpha.cloud.google.com/load-balancer-backend-share
      networking.gke.io/internal-load-balancer-allow-global-access networking.gke.io/internal-load-balancer-subnet
      cloud.google.com/load-balancer-backend-share cloud.google.com/load-balancer-resource-labels
      networking.gke.io/backend-service networking.gke.io/target-pool
      cloud.google.com/network-tier cloud.google.com/l4-rbs networking.gke.io/load-balancer-ip-addresses
      networking.gke.io/weighted-load-balancing networking.gke.io/l4-ilb-zonal-affinity`,
    ),
    read: gcp.annotation,
    check: gcp.refuseUnsupported,
  },
  // linode-cloud-controller-manager, docs/configuration/annotations.md
  linode: {
    folder: 'linode',
    documented: prefixed(
      linode.prefix,
      `throttle default-protocol default-proxy-protocol default-algorithm default-stickiness port- check-type check-path check-body
      check-interval check-timeout check-attempts check-passive udp-check-port preserve nodebalancer-id hostname-only-ingress tags
      firewall-id firewall-acl nodebalancer-type enable-ipv6-ingress backend-ipv4-range backend-vpc-name backend-subnet-name
      backend-subnet-id frontend-subnet-id frontend-vpc-name frontend-subnet-name frontend-ipv4-range frontend-ipv6-range
      reserved-ipv4 proxy-protocol`,
    ),
    read: Object.fromEntries(Object.entries(linode.annotation).map(([key, name]) => [key, linode.prefix + name])),
    written: [[linode.prefix, '']],
  },
  // oci-cloud-controller-manager, docs/load-balancer-annotations.md; "Summary of Annotations for Load Balancers and Network Load Balancers" of OKE's pages
  oci: {
    folder: 'oci',
    documented: [
      ...prefixed(
        `${beta}oci-load-balancer-`,
        `internal shape shape-flex-min shape-flex-max subnet1 subnet2 health-check-retries health-check-timeout
        health-check-interval connection-idle-timeout connection-proxy-protocol-version security-list-management-mode
        backend-protocol tls-secret tls-backendset-secret ssl-ports`,
      ),
      ...prefixed(
        'oci.oraclecloud.com/',
        `load-balancer-type oci-load-balancer-listener-ssl-config oci-load-balancer-backendset-ssl-config oci-load-balancer-rule-sets
        loadbalancer-policy oci-network-security-groups security-rule-management-mode oci-backend-network-security-group
        node-label-selector initial-freeform-tags-override initial-defined-tags-override ingress-ip-mode security-attributes
        compartment-id reserved-ips reserved-private-ips`,
      ),
      ...prefixed(
        'oci-load-balancer.oraclecloud.com/',
        'tls-certificate-map backend-type health-check session-persistence-config backendset-backend-max-connections',
      ),
      ...prefixed(
        'oci-network-load-balancer.oraclecloud.com/',
        `internal subnet health-check-retries health-check-interval health-check-timeout security-list-management-mode
        oci-network-security-groups backend-policy node-label-selector is-preserve-source freeform-tags defined-tags
        initial-freeform-tags-override initial-defined-tags-override is-ppv2-enabled backend-type health-check external-ip-only assigned-private-ipv4
        assigned-ipv6 is-instant-failover-enabled`,
      ),
    ],
    read: {
      ...oci.annotation,
      ...Object.fromEntries(
        kinds.flatMap((kind) => ociWishes.map((wish) => [`${kind} ${wish}`, oci.nameFor(kind, wish)] as const)),
      ),
    },
    check: oci.refuseUnsupported,
    written: [
      [`${beta}oci-load-balancer-`, 'lb:'],
      ['oci-network-load-balancer.oraclecloud.com/', 'nlb:'],
      ['oci.oraclecloud.com/', 'oci:'],
    ],
  },
};

/** All code of a provider but its tests. */
const codeOf = (folder: string): string =>
  readdirSync(join(providers, folder, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => readFileSync(join(providers, folder, 'src', file), 'utf8'))
    .join('\n');

/** As `annotation.name`, as a word of its own, or as it is written here with a dot; beside where it is declared. */
const isUsed = (code: string, key: string): boolean =>
  new RegExp(key.includes('.') ? `\\b${key.replace('.', '\\.')}\\b` : `annotations?\\.${key}\\b|'${key}'`).test(code);

/** What is said of one that is refused. */
function refusalOf({ check }: Vendor, name: string): string | undefined {
  try {
    check?.(testService({ [name]: 'something' }));
    return undefined;
  } catch (error) {
    return String(error);
  }
}

describe.each(Object.entries(vendors))('the annotations that %s documents', (_vendor, vendor) => {
  const { folder, documented, read, ignored = [], written = [] } = vendor;
  const code = codeOf(folder);
  const readme = readFileSync(join(providers, folder, 'README.md'), 'utf8');

  it.each(documented)('%s is read, refused by its name, or known to have no effect', (name) => {
    const [key] = Object.entries(read).find(([, full]) => full === name) ?? [];
    if (key !== undefined) expect(isUsed(code, key.split(' ').at(-1) ?? ''), 'its code uses it').toBe(true);
    else if (ignored.includes(name)) expect(refusalOf(vendor, name)).toBeUndefined();
    else expect(refusalOf(vendor, name)).toContain(name);
  });
  it('are in the README', () => {
    const short = (name: string): string => {
      const [long, brief] = written.find(([prefix]) => name.startsWith(prefix)) ?? ['', ''];
      return brief + name.slice(long.length);
    };
    const lacking = documented.map(short).filter((name) => !readme.includes(name) && !/^pls-/.test(name));
    expect(lacking).toEqual([]);
  });
});
