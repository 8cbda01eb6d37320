import { expect, test } from 'vitest';
import type { CustomResourceDefinition, JSONSchemaProps } from '#api/apiextensions/v1';
import { errorText } from '#apimachinery/field';
import { customResourceDefinition } from './index.ts';
import { validateDefinition } from './validation.ts';

const definition = (spec: JSONSchemaProps): CustomResourceDefinition => ({
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [
      { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties: { spec } } } },
    ],
  },
  status: { storedVersions: ['v1'] },
});

const wrongRule = { rule: 'nothing', message: 'm' };

test('what rules mean is not asked where a schema is wrong at their place or below', () => {
  const rules = 'spec.validation.openAPIV3Schema.properties[spec]';
  const errors = validateDefinition(
    definition({
      type: 'object',
      'x-kubernetes-validations': [wrongRule, { rule: 'true\ntrue' }],
      properties: {
        inner: { type: 'string', 'x-kubernetes-validations': [wrongRule] },
        innermost: { type: 'string', 'x-kubernetes-map-type': 'odd' },
      },
    }),
  ).map(errorText);
  expect(errors.filter((text) => text.includes('undeclared reference'))).toEqual([
    expect.stringContaining(`${rules}.properties[inner].x-kubernetes-validations[0].rule`),
  ]);
});

test('of versions with one name only the first one is the stored one', () => {
  const twice = definition({ type: 'object' });
  twice.spec.versions.push({ ...(twice.spec.versions[0] ?? expect.fail('no version')) });
  expect(validateDefinition(twice).map(errorText)).toContain(
    'status.storedVersions: Invalid value: ["v1"]: must have the storage version v1',
  );
});

test("several schemas of items print as in upstream's own form", () => {
  const list = { type: 'array', items: [{}], 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['a'] };
  const errors = validateDefinition(definition(list as JSONSchemaProps)).filter(({ detail }) => detail.includes('single schema'));
  expect(errors.map(errorText)).toContainEqual(expect.stringContaining('{"Schema":null,"JSONSchemas":[{"ID":"",'));
});

test('a webhook that says nothing is none', () => {
  const draft = definition({ type: 'object' });
  draft.spec.conversion = { strategy: 'None', webhook: { conversionReviewVersions: [] } };
  customResourceDefinition.defaults?.(draft);
  expect(draft.spec.conversion).toEqual({ strategy: 'None' });
});
