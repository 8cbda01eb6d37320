// Definitions of custom resources (apiextensions.k8s.io/v1; pkg/registry/customresourcedefinition).
import type { CustomResourceDefinition, CustomResourceDefinitionSpec, JSONSchemaProps } from '#api/apiextensions/v1';
import { quote } from '#utils';
import { isEmpty } from '../../common/report.ts';
import { keep, statusDoor } from '../../common/strategy.ts';
import { defineKind } from '../../kind.ts';
import { storageVersion, walkSchema } from './definition.ts';
import { validateDefinition, validateDefinitionStatus, validateDefinitionUpdate } from './validation.ts';

function defaults(draft: CustomResourceDefinition): void {
  const spec = (draft.spec ??= { group: '', names: { plural: '', kind: '' }, scope: '', versions: [] });
  const { names } = spec;
  if (names) {
    names.singular ||= names.kind?.toLowerCase() ?? '';
    if (!names.singular) delete names.singular;
    if (names.kind) names.listKind ||= `${names.kind}List`;
  }
  spec.conversion ??= { strategy: 'None' };
  const service = spec.conversion.webhook?.clientConfig?.service;
  if (service) service.port ??= 443;
  recordStorage(draft, true);
}

/** The storage version is among those in which objects may be stored. `onlyFirst`: nothing is recorded yet. */
function recordStorage(draft: CustomResourceDefinition, onlyFirst = false): void {
  const name = storageVersion(draft.spec);
  const stored = draft.status?.storedVersions;
  if (name === undefined || stored?.includes(name) || (onlyFirst && !isEmpty(stored))) return;
  draft.status = { ...draft.status, storedVersions: [...(stored ?? []), name] };
}

const stringFormats = new Set(
  `bsonobjectid uri email hostname ipv4 ipv6 cidr mac uuid uuid3 uuid4 uuid5 isbn isbn10 isbn13 creditcard ssn hexcolor rgbcolor byte
  password date duration datetime k8sshortname k8slongname`.split(/\s+/),
);

function isKnownFormat({ type = '', format = '' }: JSONSchemaProps): boolean {
  if (format === '') return true;
  if (type === '' || type === 'string') return stringFormats.has(format.replaceAll('-', ''));
  if (type === 'integer') return format === 'int32' || format === 'int64';
  return type === 'number' && (format === 'float' || format === 'double');
}

function unknownFormats(spec: CustomResourceDefinitionSpec | undefined): string[] {
  const found: string[] = [];
  const schemas = [...new Set((spec?.versions ?? []).map(({ schema }) => schema?.openAPIV3Schema))];
  for (const schema of schemas) {
    walkSchema(schema, (one) => {
      if (!isKnownFormat(one)) found.push(one.format ?? '');
    });
  }
  return found;
}

export const customResourceDefinition = defineKind<CustomResourceDefinition>({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  generation: ({ spec }: CustomResourceDefinition) => spec,
  defaults,
  resetFields: [['status']],
  prepareForCreate(draft) {
    delete draft.status;
    recordStorage(draft);
  },
  prepareForUpdate(draft, old) {
    keep(draft, old, 'status');
    recordStorage(draft);
  },
  validate: validateDefinition,
  validateUpdate: validateDefinitionUpdate,
  warnings(object, old) {
    const before = new Set(unknownFormats(old?.spec));
    return unknownFormats(object.spec)
      .filter((format) => !before.has(format))
      .map((format) => `unrecognized format ${quote(format)}`);
  },
  allowUnconditionalUpdate: false,
  status: statusDoor<CustomResourceDefinition>({ validateUpdate: validateDefinitionStatus }),
});
