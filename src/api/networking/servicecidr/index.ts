// Ranges that cluster IPs are taken from (networking.k8s.io/v1; KEP-1880; pkg/registry/networking/servicecidr).
import type { ServiceCIDR } from '#api/networking/v1';
import { root } from '#apimachinery/field';
import { immutableError } from '#apimachinery/validation';
import { prefixFamilyOf, validateCIDR } from '../../common/ip.ts';
import { bareStatusDoor } from '../../common/object-meta.ts';
import { age, columns } from '../../common/printing.ts';
import { collect, type Report } from '../../common/report.ts';
import { ownStatus } from '../../common/strategy.ts';
import { defineKind } from '../../kind.ts';

const path = root('spec', 'cidrs');
const cidrsOf = ({ spec }: ServiceCIDR): string[] => spec?.cidrs ?? [];
const oneOfEach = 'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64';

function validateRanges(report: Report, object: ServiceCIDR): void {
  const ranges = cidrsOf(object);
  if (ranges.length === 0) return report.required(path, 'at least one CIDR required');
  if (ranges.length > 2) return report.invalid(path, { CIDRs: ranges }, 'may only hold up to 2 values');
  ranges.forEach((range, index) => validateCIDR(report, path.index(index), range));
  const [first, second] = ranges.map(prefixFamilyOf);
  if (ranges.length === 2 && first !== undefined && first === second) report.invalid(path, ranges, oneOfEach);
}

/** Ranges stay; a second one may join the first. */
function validateChange(report: Report, object: ServiceCIDR, old: ServiceCIDR): void {
  const now = cidrsOf(object);
  const before = cidrsOf(old);
  const isSecondAdded = before.length === 1 && now.length === 2;
  if (before.length !== now.length && !isSecondAdded) return report.invalid(path, object.spec?.cidrs ?? null, immutableError);
  before.forEach((range, index) => {
    if (range !== now[index]) report.invalid(path.index(index), now[index], immutableError);
  });
  if (isSecondAdded) validateRanges(report, object);
}

export const serviceCIDR = defineKind<ServiceCIDR>({
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'ServiceCIDR',
  metadataRules: 'change',
  generation: false,
  ...ownStatus,
  validate: (object) => collect((report) => validateRanges(report, object)),
  validateUpdate: (object, old) => collect((report) => validateChange(report, object, old)),
  status: bareStatusDoor(),
  printer: {
    columns: columns('Name', 'CIDRs', 'Age'),
    cells: (object, now) => [object.metadata.name ?? '', cidrsOf(object).join(','), age(object.metadata, now)],
  },
});
