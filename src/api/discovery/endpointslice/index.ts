// Endpoint slices (discovery.k8s.io/v1; pkg/registry/discovery/endpointslice).
import type * as discovery from '#api/discovery/v1';
import { type FieldError, type Path, root } from '#apimachinery/field';
import {
  ipWarnings,
  isDNS1123Label,
  isDNS1123Subdomain,
  isLabelValue,
  isQualifiedName,
  validateFullyQualifiedDomainName,
} from '#apimachinery/validation';
import { semanticEqual } from '../../common/equality.ts';
import { immutable } from '../../common/immutable.ts';
import { familyOf, validateIP, validateLegacyIP } from '../../common/ip.ts';
import { validateLabels } from '../../common/labels.ts';
import { age, columns, formatList } from '../../common/printing.ts';
import { collect, type Report } from '../../common/report.ts';
import { validateEndpointIP } from '../../core/common/endpoint-address.ts';
import { protocols } from '../../core/pod/validation/containers.ts';
import { defineKind } from '../../kind.ts';
import { addressesMax, endpointsMax, hintsMax, portsMax, topologyLabelsMax } from './limits.ts';

const shownMax = 3;
const managedBy = 'endpointslice.kubernetes.io/managed-by';
const controllers = ['endpointslice-controller.k8s.io', 'endpointslicemirroring-controller.k8s.io'];

function validatePorts(report: Report, path: Path, ports: discovery.EndpointPort[]): void {
  if (ports.length > portsMax) return report.tooMany(path, ports.length, portsMax);
  const names = new Set<string>();
  ports.forEach(({ name = '', protocol, appProtocol }, index) => {
    const at = path.index(index);
    if (name !== '') report.problems(at.child('name'), name, isDNS1123Label(name));
    if (names.has(name)) report.duplicate(at.child('name'), name);
    names.add(name);
    if (protocol === undefined) report.required(at.child('protocol'));
    else report.known(at.child('protocol'), protocol, protocols);
    if (appProtocol !== undefined) report.problems(at.child('appProtocol'), appProtocol, isQualifiedName(appProtocol));
  });
}

function validateAddress(report: Report, list: Path, index: number, address: string, type: string): void {
  const at = list.index(index);
  if (type === 'FQDN') return report.add(validateFullyQualifiedDomainName(at, address));
  if (type !== 'IPv4' && type !== 'IPv6') return;
  const before = report.count;
  if (type === 'IPv4') validateLegacyIP(report, at, address);
  else validateIP(report, at, address);
  if (report.count > before) return;
  if (familyOf(address) !== (type === 'IPv4' ? 4 : 6)) report.invalid(list, address, `must be an ${type} address`);
  validateEndpointIP(report, at, address);
}

function validateNames(
  report: Report,
  path: Path,
  items: { name: string }[] | undefined,
  problems: (name: string) => string[],
): boolean {
  if (!items) return true;
  if (items.length > hintsMax) {
    report.tooMany(path, items.length, hintsMax);
    return false;
  }
  const seen = new Set<string>();
  items.forEach(({ name = '' }: { name?: string }, index) => {
    const at = path.index(index).child('name');
    if (seen.has(name)) report.duplicate(at, name);
    seen.add(name);
    report.problems(at, name, problems(name));
  });
  return true;
}

function validateEndpoint(report: Report, path: Path, endpoint: discovery.Endpoint, type: string): void {
  const addresses = path.child('addresses');
  const count = endpoint.addresses?.length ?? 0;
  if (count === 0) report.required(addresses, 'must contain at least 1 address');
  else if (count > addressesMax) report.tooMany(addresses, count, addressesMax);
  endpoint.addresses?.forEach((address, index) => validateAddress(report, addresses, index, address, type));
  const { nodeName, deprecatedTopology, hostname, hints } = endpoint;
  if (nodeName !== undefined) report.problems(path.child('nodeName'), nodeName, isDNS1123Subdomain(nodeName));
  const labels = Object.keys(deprecatedTopology ?? {}).length;
  if (labels > topologyLabelsMax) report.tooMany(path.child('deprecatedTopology'), labels, topologyLabelsMax);
  validateLabels(report, path.child('deprecatedTopology'), deprecatedTopology);
  if (hostname !== undefined) report.problems(path.child('hostname'), hostname, isDNS1123Label(hostname));
  const zones = path.child('hints', 'forZones');
  if (validateNames(report, zones, hints?.forZones, isLabelValue))
    validateNames(report, path.child('hints', 'forNodes'), hints?.forNodes, isDNS1123Subdomain);
}

function validateSlice(slice: discovery.EndpointSlice, old?: discovery.EndpointSlice): FieldError[] {
  return collect((report) => {
    report.oneOf(root('addressType'), slice.addressType, ['FQDN', 'IPv4', 'IPv6']);
    validatePorts(report, root('ports'), slice.ports ?? []);
    const path = root('endpoints');
    const count = slice.endpoints?.length ?? 0;
    if (old && semanticEqual(slice.endpoints, old.endpoints)) return;
    if (count > endpointsMax) report.tooMany(path, count, endpointsMax);
    else slice.endpoints?.forEach((endpoint, index) => validateEndpoint(report, path.index(index), endpoint, slice.addressType));
  });
}

/** deprecatedTopology is from before v1: nothing new may come in through it. */
function dropTopology(slice: discovery.EndpointSlice): void {
  for (const endpoint of slice.endpoints ?? []) delete endpoint.deprecatedTopology;
}

const listed = (items: string[]): string => formatList(items, shownMax) || '<unset>';

export const endpointSlice = defineKind<discovery.EndpointSlice>({
  group: 'discovery.k8s.io',
  version: 'v1',
  kind: 'EndpointSlice',
  metadataRules: 'whole',
  // Any change but of metadata counts, and of labels too.
  generation: ({ metadata, addressType, endpoints, ports }: discovery.EndpointSlice) => ({
    labels: metadata.labels,
    addressType,
    endpoints,
    ports,
  }),
  defaults({ ports }) {
    for (const port of ports ?? []) {
      port.name ??= '';
      port.protocol ??= 'TCP';
    }
  },
  prepareForCreate: dropTopology,
  prepareForUpdate(draft, old) {
    if (!semanticEqual(draft.endpoints, old.endpoints)) dropTopology(draft);
  },
  validate: (slice) => validateSlice(slice),
  validateUpdate: (slice, old) => [
    ...validateSlice(slice, old),
    ...collect((report) => immutable(report, root('addressType'), slice.addressType, old.addressType)),
  ],
  warnings: ({ metadata, addressType, endpoints }, old) => {
    const fqdn = old === undefined && addressType === 'FQDN' ? ['spec.addressType: FQDN endpoints are deprecated'] : [];
    if (controllers.includes(metadata.labels?.[managedBy] ?? '')) return fqdn;
    return [
      ...fqdn,
      ...(endpoints ?? []).flatMap(({ addresses }, index) =>
        (addresses ?? []).flatMap((address, item) =>
          ipWarnings(root('endpoints').index(index).child('addresses').index(item), address),
        ),
      ),
    ];
  },
  printer: {
    columns: columns('Name', 'AddressType', 'Ports', 'Endpoints', 'Age'),
    cells: ({ metadata, addressType, ports, endpoints }, now) => [
      metadata.name ?? '',
      addressType ?? '',
      listed((ports ?? []).map(({ port, name }) => (port === undefined ? (name ?? '*') : String(port)))),
      listed((endpoints ?? []).flatMap(({ addresses }) => addresses ?? [])),
      age(metadata, now),
    ],
  },
});
