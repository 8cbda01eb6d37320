// Device classes (resource.k8s.io/v1; KEP-4381; pkg/registry/resource/deviceclass).
import type { DeviceClass } from '#api/resource/v1';
import { root } from '#apimachinery/field';
import { nameIsDNSSubdomain } from '#apimachinery/validation';
import { semanticEqual } from '../../common/equality.ts';
import { age, columns } from '../../common/printing.ts';
import { collect } from '../../common/report.ts';
import { isExtendedResourceName } from '../../core/common/resource-names.ts';
import { defineKind } from '../../kind.ts';
import { validateConfiguration, validateSelectors } from '../common/devices.ts';
import { limits } from '../common/limits.ts';
import { validateSlice } from '../common/lists.ts';

const validate = ({ spec = {} }: Partial<DeviceClass>, old?: DeviceClass) =>
  collect((report) => {
    const path = root('spec');
    validateSelectors(report, path.child('selectors'), spec.selectors);
    const isStored = old !== undefined && semanticEqual(spec.config, old.spec?.config);
    validateSlice(report, path.child('config'), spec.config, limits.configsMax, (config, at) =>
      validateConfiguration(report, at, config, !isStored),
    );
    const { extendedResourceName: name } = spec;
    if (name !== undefined && !isExtendedResourceName(name))
      report.invalid(path.child('extendedResourceName'), name, 'must be a valid extended resource name');
  });

export const deviceClass = defineKind<DeviceClass>({
  group: 'resource.k8s.io',
  version: 'v1',
  kind: 'DeviceClass',
  // Only whole names are looked at.
  validateName: (name, prefix) => (prefix ? [] : nameIsDNSSubdomain(name, prefix)),
  deletion: { returnsObject: true },
  generation: ({ spec }) => spec ?? {},
  validate: (object) => validate(object),
  validateUpdate: (object, old) => validate(object, old),
  printer: {
    columns: columns('Name', 'Age'),
    cells: ({ metadata }, now) => [metadata.name ?? '', age(metadata, now)],
  },
});
