// What the cluster's names mean: Kubernetes DNS-Based Service Discovery, specification 1.1.0
// (https://github.com/kubernetes/dns/blob/master/docs/specification.md). Pure: a question and a view of the cluster give an answer.
import type { Service } from '#api/core/v1';
import type { Endpoint, EndpointSlice } from '#api/discovery/v1';
import { clusterTtlSeconds, recordsMax } from './limits.ts';

export type RecordType = 'A' | 'AAAA' | 'SRV' | 'PTR' | 'TXT' | 'CNAME' | 'SOA' | 'NS' | 'ANY';

export type Resource =
  | { type: 'A' | 'AAAA' | 'PTR' | 'CNAME' | 'NS'; name: string; ttl: number; data: string }
  | { type: 'TXT'; name: string; ttl: number; data: string }
  | { type: 'SRV'; name: string; ttl: number; data: { priority: number; weight: number; port: number; target: string } };

export interface Answer {
  rcode: 'NOERROR' | 'NXDOMAIN';
  answers: Resource[];
  additionals: Resource[];
  /** The zone that knows; default: the server's own. */
  zone?: string;
}

/** What the zone reads; answers come from caches and are not to be changed. */
export interface ClusterView {
  service(namespace: string, name: string): Service | undefined;
  slices(namespace: string, service: string): EndpointSlice[];
  namespaceExists(name: string): boolean;
  /** The service with this cluster address. */
  serviceByAddress(address: string): Service | undefined;
  /** Slices of headless services that hold this endpoint address. */
  slicesByAddress(address: string): EndpointSlice[];
}

interface Target {
  /** Full name of the endpoint, for SRV and PTR. */
  name: string;
  address: string;
  ports: { name: string; protocol: string; port: number }[];
}

const serviceNameLabel = 'kubernetes.io/service-name';
const nothing = (rcode: Answer['rcode']): Answer => ({ rcode, answers: [], additionals: [] });
const isV6 = (address: string): boolean => address.includes(':');
const dashed = (address: string): string => address.replaceAll(/[.:]/g, '-');
const addressType = (address: string): 'A' | 'AAAA' => (isV6(address) ? 'AAAA' : 'A');
const wants = (type: RecordType, have: RecordType): boolean => type === have || type === 'ANY';

/** Answers a question below the cluster's domain, or undefined when the name is not ours. `name` in any case, without final dot. */
export function resolve(name: string, type: RecordType, view: ClusterView, domain: string): Answer | undefined {
  const lower = name.toLowerCase();
  const reverse = reverseAddress(lower);
  if (reverse !== undefined) return pointers(name, reverse, type, view, domain);
  if (lower === domain) return nothing('NOERROR');
  if (!lower.endsWith(`.${domain}`)) return undefined;
  const labels = lower.slice(0, -domain.length - 1).split('.');
  const kind = labels.pop();
  if (kind === 'dns-version' && labels.length === 0) return text(name, type, '1.1.0');
  if (kind === 'svc') return serviceAnswer(name, labels, type, view, domain);
  if (kind === 'pod') return podAnswer(name, labels, type, view);
  return nothing('NXDOMAIN');
}

const text = (name: string, type: RecordType, data: string): Answer => ({
  ...nothing('NOERROR'),
  answers: wants(type, 'TXT') ? [{ type: 'TXT', name, ttl: clusterTtlSeconds, data }] : [],
});

function podAnswer(name: string, labels: string[], type: RecordType, view: ClusterView): Answer {
  const namespace = labels.pop();
  if (namespace === undefined) return nothing('NOERROR');
  if (!view.namespaceExists(namespace)) return nothing('NXDOMAIN');
  const [host, ...more] = labels;
  if (host === undefined) return nothing('NOERROR');
  const address = /^\d{1,3}(-\d{1,3}){3}$/.test(host)
    ? host.replaceAll('-', '.')
    : /^[0-9a-f]*(-[0-9a-f]*){2,7}$/.test(host)
      ? host.replaceAll('-', ':')
      : undefined;
  if (more.length > 0 || address === undefined) return nothing('NXDOMAIN');
  return addresses(name, [address], type);
}

function serviceAnswer(name: string, labels: string[], type: RecordType, view: ClusterView, domain: string): Answer {
  const namespace = labels.pop();
  if (namespace === undefined) return nothing('NOERROR');
  const serviceName = labels.pop();
  if (serviceName === undefined) return nothing(view.namespaceExists(namespace) ? 'NOERROR' : 'NXDOMAIN');
  const service = view.service(namespace, serviceName);
  if (!service) return nothing('NXDOMAIN');
  const base = `${serviceName}.${namespace}.svc.${domain}`;
  if (service.spec?.type === 'ExternalName') {
    if (labels.length > 0) return nothing('NXDOMAIN');
    return {
      ...nothing('NOERROR'),
      answers: [{ type: 'CNAME', name, ttl: clusterTtlSeconds, data: service.spec.externalName ?? '' }],
    };
  }
  const targets = isHeadless(service)
    ? endpointTargets(view.slices(namespace, serviceName), base)
    : clusterTargets(service, base);
  if (labels.length === 0)
    return type === 'SRV'
      ? services(name, targets, () => true)
      : addresses(name, unique(targets), type, isHeadless(service) && targets.length === 0);
  if (labels.length === 2 && labels.every((label) => label.startsWith('_')))
    return portAnswer(name, labels as [string, string], type, targets);
  if (labels.length === 1 && isHeadless(service)) {
    const own = targets.filter((target) => target.name === `${labels[0]}.${base}`);
    return own.length === 0 ? nothing('NXDOMAIN') : addresses(name, unique(own), type);
  }
  return nothing('NXDOMAIN');
}

const isHeadless = (service: Service): boolean => service.spec?.clusterIP === 'None' || service.spec?.clusterIP === undefined;
const unique = (targets: readonly Target[]): string[] => [...new Set(targets.map(({ address }) => address))];

function portAnswer(name: string, [port, protocol]: [string, string], type: RecordType, targets: readonly Target[]): Answer {
  const matching = (entry: Target['ports'][number]): boolean =>
    `_${entry.name}` === port && `_${entry.protocol.toLowerCase()}` === protocol;
  if (!targets.some((target) => target.ports.some(matching))) return nothing('NXDOMAIN');
  return wants(type, 'SRV') ? services(name, targets, matching) : nothing('NOERROR');
}

function addresses(name: string, found: readonly string[], type: RecordType, absent = false): Answer {
  if (absent) return nothing('NXDOMAIN');
  const answers = found.filter((address) => wants(type, addressType(address))).slice(0, recordsMax);
  return {
    ...nothing('NOERROR'),
    answers: answers.map((data) => ({ type: addressType(data), name, ttl: clusterTtlSeconds, data })),
  };
}

function services(name: string, targets: readonly Target[], matching: (port: Target['ports'][number]) => boolean): Answer {
  const wanted = targets
    .flatMap((target) => target.ports.filter(matching).map(({ port }) => ({ target, port })))
    .slice(0, recordsMax);
  const weight = Math.max(1, Math.floor(100 / Math.max(1, wanted.length)));
  return {
    rcode: 'NOERROR',
    answers: wanted.map(({ target, port }) => ({
      type: 'SRV',
      name,
      ttl: clusterTtlSeconds,
      data: { priority: 0, weight, port, target: target.name },
    })),
    additionals: [...new Map(wanted.map(({ target }) => [`${target.name} ${target.address}`, target])).values()].map(
      (target) => ({
        type: addressType(target.address),
        name: target.name,
        ttl: clusterTtlSeconds,
        data: target.address,
      }),
    ),
  };
}

function clusterTargets(service: Service, base: string): Target[] {
  const ports = (service.spec?.ports ?? []).map(({ name = '', protocol = 'TCP', port }) => ({ name, protocol, port }));
  const ips = service.spec?.clusterIPs?.length ? service.spec.clusterIPs : [service.spec?.clusterIP ?? ''];
  return ips.filter((address) => address !== '').map((address) => ({ name: base, address, ports }));
}

function endpointTargets(slices: readonly EndpointSlice[], base: string): Target[] {
  return slices.flatMap((slice) => {
    const ports = (slice.ports ?? []).map(({ name = '', protocol = 'TCP', port = 0 }) => ({ name, protocol, port }));
    return (slice.endpoints ?? [])
      .filter(isReady)
      .flatMap((endpoint) =>
        endpoint.addresses.map((address) => ({ name: endpointName(endpoint, address, base), address, ports })),
      );
  });
}

const isReady = (endpoint: Endpoint): boolean => endpoint.conditions?.ready !== false;
const endpointName = (endpoint: Endpoint, address: string, base: string): string =>
  `${endpoint.hostname || dashed(address)}.${base}`;

function pointers(name: string, address: string, type: RecordType, view: ClusterView, domain: string): Answer | undefined {
  const service = view.serviceByAddress(address);
  const names = service
    ? [`${service.metadata.name}.${service.metadata.namespace}.svc.${domain}`]
    : view.slicesByAddress(address).flatMap((slice) => {
        const base = `${slice.metadata.labels?.[serviceNameLabel]}.${slice.metadata.namespace}.svc.${domain}`;
        return (slice.endpoints ?? [])
          .filter((endpoint) => endpoint.addresses.includes(address))
          .map((endpoint) => endpointName(endpoint, address, base));
      });
  if (names.length === 0) return undefined;
  const answers = wants(type, 'PTR')
    ? [...new Set(names)].map((data): Resource => ({ type: 'PTR', name, ttl: clusterTtlSeconds, data }))
    : [];
  return { ...nothing('NOERROR'), answers };
}

/** The address a name below in-addr.arpa or ip6.arpa stands for. */
export function reverseAddress(name: string): string | undefined {
  if (name.endsWith('.in-addr.arpa')) {
    const parts = name.slice(0, -'.in-addr.arpa'.length).split('.');
    return parts.length === 4 ? parts.reverse().join('.') : undefined;
  }
  if (!name.endsWith('.ip6.arpa')) return undefined;
  const digits = name.slice(0, -'.ip6.arpa'.length).split('.').reverse().join('');
  return digits.length === 32 ? shortV6(digits.match(/.{4}/g) ?? []) : undefined;
}

/** RFC 5952 text of eight groups. */
function shortV6(groups: readonly string[]): string {
  const words = groups.map((group) => group.replace(/^0{1,3}/, ''));
  const runs = [...words.join(':').matchAll(/(^|:)0(:0)+(?=:|$)/g)].sort((a, b) => b[0].length - a[0].length);
  const text = words.join(':');
  const run = runs[0];
  if (!run || run.index === undefined) return text;
  return `${text.slice(0, run.index)}::${text.slice(run.index + run[0].length).replace(/^:/, '')}`;
}
