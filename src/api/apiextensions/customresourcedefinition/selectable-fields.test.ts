import { expect, it } from 'vitest';
import type { CustomResourceDefinition, JSONSchemaProps } from '#api/apiextensions/v1';
import { validateDefinition } from './validation.ts';

const schemaOf = (extra: Record<string, JSONSchemaProps> = {}) => ({
  openAPIV3Schema: {
    type: 'object',
    properties: { spec: { type: 'object', properties: { color: { type: 'string' }, ...extra } } },
  },
});
const selectableFields = [{ jsonPath: '.spec.color' }];

const failures = (...versions: object[]): string[] =>
  validateDefinition({
    metadata: { name: 'things.example.com' },
    spec: {
      ...{
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
      },
      versions: versions.map((version, at) => ({ name: `v${at + 1}`, served: true, storage: at === 0, ...version })),
    },
    status: { acceptedNames: { plural: '', kind: '' }, storedVersions: ['v1'], conditions: [] },
  } as unknown as CustomResourceDefinition).map(({ field, detail }) => `${field}: ${detail}`);

// What all versions have alike is judged once, beside them: then the other of the two is not where it is looked for.
it.each([
  ['in one version', [{ schema: schemaOf(), selectableFields }], []],
  [
    'with the schema in every version',
    [
      { schema: schemaOf(), selectableFields },
      { schema: schemaOf(), selectableFields },
    ],
    [],
  ],
  [
    'in one of two versions with one schema',
    [{ schema: schemaOf(), selectableFields }, { schema: schemaOf() }],
    ['spec.versions[0].selectableFields: may only be set when `version.schema.openAPIV3Schema` is not included'],
  ],
  [
    'alike in versions with different schemas',
    [
      { schema: schemaOf(), selectableFields },
      { schema: schemaOf({ more: { type: 'string' } }), selectableFields },
    ],
    ['spec.selectableFields: may only be set when validations.schema is included'],
  ],
])('selectable fields %s', (_, versions, wanted) => {
  expect(failures(...versions)).toEqual(wanted);
});
