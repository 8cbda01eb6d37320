// Services (core/v1; pkg/registry/core/service).
import type { Service } from '#api/core/v1';
import { nameIsDNSLabel } from '#apimachinery/validation';
import { collect } from '../../common/report.ts';
import { keep, statusDoor } from '../../common/strategy.ts';
import { defineKind } from '../../kind.ts';
import { dropTypeDependentFields, normalizeClusterIPs, patchAllocatedValues } from './allocated.ts';
import { validateClusterIPChange } from './cluster-ips.ts';
import { printer } from './columns.ts';
import { serviceDefaults } from './defaults.ts';
import { specOf } from './rules.ts';
import { internalPolicies, validateService, validateServiceChange, validateServiceStatus } from './validation.ts';
import { serviceWarnings, statusWarnings } from './warnings.ts';

export { normalizeClusterIPs, patchAllocatedValues } from './allocated.ts';
export { isHeadless, needsClusterIP, needsHealthCheckNodePort, needsNodePort } from './rules.ts';

/** A name elsewhere has no traffic inside the cluster to direct; what is no policy stays to be refused. */
function dropInternalPolicy({ spec }: Service): void {
  if (spec?.type === 'ExternalName' && internalPolicies.includes(spec.internalTrafficPolicy ?? ''))
    delete spec.internalTrafficPolicy;
}

export const service = defineKind<Service>({
  group: '',
  version: 'v1',
  kind: 'Service',
  metadataRules: 'change',
  generation: false,
  defaults: serviceDefaults,
  validateName: nameIsDNSLabel,
  prepareForCreate(draft) {
    draft.status = { loadBalancer: {} };
    normalizeClusterIPs(draft);
    dropInternalPolicy(draft);
  },
  prepareForUpdate(draft, old) {
    patchAllocatedValues(draft, old);
    normalizeClusterIPs(draft, old);
    keep(draft, old, 'status');
    dropTypeDependentFields(draft, old);
    dropInternalPolicy(draft);
  },
  validate: (object) => collect((report) => validateService(report, object)),
  validateUpdate: (object, old) =>
    collect((report) => {
      validateClusterIPChange(report, specOf(object), specOf(old));
      validateServiceChange(report, object, old);
      validateService(report, object, old);
    }),
  warnings: serviceWarnings,
  resetFields: [['status']],
  allowCreateOnUpdate: true,
  status: statusDoor({ validateUpdate: validateServiceStatus, warnings: statusWarnings }),
  printer,
  selectableFields: ({ spec }) => ({ 'spec.clusterIP': spec?.clusterIP ?? '', 'spec.type': spec?.type ?? '' }),
  deletion: { returnsObject: true },
});
