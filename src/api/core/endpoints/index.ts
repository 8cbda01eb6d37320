// Endpoints (core/v1; pkg/registry/core/endpoint).
import type * as core from '#api/core/v1';
import { type FieldError, type Path, root } from '#apimachinery/field';
import { ipWarnings, isDNS1123Label, isDNS1123Subdomain, isPortNumber, isQualifiedName } from '#apimachinery/validation';
import { semanticEqual } from '../../common/equality.ts';
import { validateLegacyIP } from '../../common/ip.ts';
import { age, columns, formatList } from '../../common/printing.ts';
import { collect, isEmpty, type Report } from '../../common/report.ts';
import { defineKind } from '../../kind.ts';
import { validateEndpointIP } from '../common/endpoint-address.ts';
import { protocols } from '../pod/validation/containers.ts';

const shownMax = 3;
const lists = ['addresses', 'notReadyAddresses'] as const;

function validateAddress(report: Report, path: Path, { ip, hostname, nodeName }: core.EndpointAddress): void {
  validateLegacyIP(report, path.child('ip'), ip ?? '');
  if (hostname) report.problems(path.child('hostname'), hostname, isDNS1123Label(hostname));
  if (nodeName !== undefined) report.problems(path.child('nodeName'), nodeName, isDNS1123Subdomain(nodeName));
  validateEndpointIP(report, path.child('ip'), ip ?? '');
}

function validatePort(report: Report, path: Path, port: core.EndpointPort, needsName: boolean): void {
  if (port.name) report.problems(path.child('name'), port.name, isDNS1123Label(port.name));
  else if (needsName) report.required(path.child('name'));
  report.problems(path.child('port'), port.port ?? 0, isPortNumber(port.port ?? 0));
  report.oneOf(path.child('protocol'), port.protocol, protocols);
  if (port.appProtocol !== undefined)
    report.problems(path.child('appProtocol'), port.appProtocol, isQualifiedName(port.appProtocol));
}

function validateSubsets({ subsets }: core.Endpoints): FieldError[] {
  return collect((report) =>
    subsets?.forEach((subset, index) => {
      const at = root('subsets').index(index);
      if (isEmpty(subset.addresses) && isEmpty(subset.notReadyAddresses))
        report.required(at, 'must specify `addresses` or `notReadyAddresses`');
      for (const list of lists)
        subset[list]?.forEach((address, item) => validateAddress(report, at.child(list).index(item), address));
      const ports = subset.ports ?? [];
      ports.forEach((port, item) => validatePort(report, at.child('ports').index(item), port, ports.length > 1));
    }),
  );
}

/** Each address with each port: they are counted, not made, as there may be thousands of both. */
function addressesText({ subsets }: core.Endpoints): string {
  if (isEmpty(subsets)) return '<none>';
  let count = 0;
  const shown: string[] = [];
  for (const { addresses = [], ports = [] } of subsets ?? []) {
    count += addresses.length * Math.max(ports.length, 1);
    for (const { port } of ports.length === 0 ? [{ port: undefined }] : ports.slice(0, shownMax))
      for (const { ip } of addresses.slice(0, shownMax - shown.length)) shown.push(placeText(ip, port));
  }
  return formatList(shown, shownMax, count);
}

const placeText = (ip: string, port: number | undefined): string =>
  port === undefined ? ip : ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`;

export const endpoints = defineKind<core.Endpoints>({
  group: '',
  version: 'v1',
  kind: 'Endpoints',
  defaults({ subsets }) {
    for (const { ports } of subsets ?? []) for (const port of ports ?? []) port.protocol ||= 'TCP';
  },
  validate: validateSubsets,
  validateUpdate: (object, old) => (semanticEqual(object.subsets, old.subsets) ? [] : validateSubsets(object)),
  warnings: ({ metadata, subsets }) =>
    metadata.labels?.['endpoints.kubernetes.io/managed-by'] === 'endpoint-controller'
      ? []
      : (subsets ?? []).flatMap((subset, index) =>
          lists.flatMap((list) =>
            (subset[list] ?? []).flatMap(({ ip }, item) =>
              ipWarnings(root('subsets').index(index).child(list).index(item).child('ip'), ip),
            ),
          ),
        ),
  allowCreateOnUpdate: true,
  printer: {
    columns: columns('Name', 'Endpoints', 'Age'),
    cells: (object, now) => [object.metadata.name ?? '', addressesText(object), age(object.metadata, now)],
  },
});
