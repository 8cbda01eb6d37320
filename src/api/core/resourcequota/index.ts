// Resource quotas (core/v1; pkg/registry/core/resourcequota).
import type { ResourceQuota } from '#api/core/v1';
import { own } from '#utils';
import { age, columns } from '../../common/printing.ts';
import { compareQuantities, roundUpResourceList } from '../../common/quantities.ts';
import { ownStatus, statusDoor } from '../../common/strategy.ts';
import { defineKind } from '../../kind.ts';
import { validateResourceQuota, validateResourceQuotaStatus, validateResourceQuotaUpdate } from './validation.ts';

function defaults({ spec, status }: ResourceQuota): void {
  for (const list of [spec?.hard, status?.hard, status?.used]) roundUpResourceList(list);
}

/** Requests above the limits of the same resource cannot be used up. */
function warnings({ spec }: ResourceQuota, old: ResourceQuota | undefined): string[] {
  const hard = spec?.hard ?? {};
  if (old) return [];
  return ['cpu', 'memory', 'storage', 'ephemeral-storage'].flatMap((resource) => {
    const bare = hard[`requests.${resource}`] === undefined && (resource === 'cpu' || resource === 'memory');
    const name = bare ? resource : `requests.${resource}`;
    const request = hard[name];
    const limit = hard[`limits.${resource}`];
    if (request === undefined || limit === undefined || compareQuantities(request, limit) <= 0) return [];
    return [`ResourceQuota ${name} (${request}) should be less than limits.${resource} (${limit})`];
  });
}

const usage = ({ status }: ResourceQuota, limits: boolean): string =>
  Object.keys(status?.hard ?? {})
    .filter((name) => name.startsWith('limits.') === limits)
    .sort()
    .map((name) => `${name}: ${own(status?.used ?? {}, name) ?? '0'}/${status?.hard?.[name]}`)
    .join(', ');

export const resourceQuota = defineKind<ResourceQuota>({
  group: '',
  version: 'v1',
  kind: 'ResourceQuota',
  metadataRules: 'change',
  generation: false,
  defaults,
  ...ownStatus,
  validate: validateResourceQuota,
  validateUpdate: validateResourceQuotaUpdate,
  warnings,
  status: statusDoor<ResourceQuota>({ validateUpdate: validateResourceQuotaStatus }),
  printer: {
    columns: columns('Name', 'Request', 'Limit', 'Age'),
    cells: (object, now) => [object.metadata.name ?? '', usage(object, false), usage(object, true), age(object.metadata, now)],
  },
  deletion: { returnsObject: true },
});
