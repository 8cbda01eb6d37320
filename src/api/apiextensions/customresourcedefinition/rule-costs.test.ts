// Which definitions are refused for what their rules may cost, in upstream's words (kube-apiserver v1.36 gives the same answers to the same definitions).
import { describe, expect, it } from 'vitest';
import type { CustomResourceDefinition, JSONSchemaProps } from '#api/apiextensions/v1';
import { validateDefinition, validateDefinitionUpdate } from './validation.ts';

const rules = (...all: string[]): Pick<JSONSchemaProps, 'x-kubernetes-validations'> => ({
  'x-kubernetes-validations': all.map((rule) => ({ rule, message: 'm' })),
});
const text: JSONSchemaProps = { type: 'string' };
const list = (items: JSONSchemaProps, maxItems?: number): JSONSchemaProps => ({
  type: 'array',
  items,
  ...(maxItems !== undefined && { maxItems }),
});

function definition(spec: JSONSchemaProps, plural = 'things'): CustomResourceDefinition {
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } };
  return {
    metadata: { name: `${plural}.example.com` },
    spec: {
      group: 'example.com',
      scope: 'Cluster',
      names: { plural, singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
    status: { acceptedNames: { plural, kind: 'Thing' }, conditions: [], storedVersions: ['v1'] },
  } as unknown as CustomResourceDefinition;
}

const refusals = (spec: JSONSchemaProps): [string, string][] =>
  validateDefinition(definition(spec)).map(({ field, detail = '' }) => [
    field.replace('spec.validation.openAPIV3Schema.properties[spec]', 'spec'),
    detail.replace(/ \(try simplifying .*\)$/, ''),
  ]);

const rule = (path: string, index = 0): string => `${path}.x-kubernetes-validations[${index}].rule`;

describe('the rules of a definition', () => {
  it.each<[string, JSONSchemaProps, [string, string][]]>([
    ['cheap', { type: 'object', properties: { s: text }, ...rules('self.s.size() > 1') }, []],
    [
      'every item with every item',
      { type: 'object', properties: { l: list(text) }, ...rules('self.l.all(x, self.l.all(y, x == y))') },
      [
        [rule('spec'), 'estimated rule cost exceeds budget by factor of more than 100x'],
        [rule('spec'), 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema'],
        [
          'spec.validation.openAPIV3Schema',
          'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x',
        ],
      ],
    ],
    [
      'the same, with lists of a bounded length',
      {
        type: 'object',
        properties: { l: list({ ...text, maxLength: 10 }, 100) },
        ...rules('self.l.all(x, self.l.all(y, x == y))'),
      },
      [],
    ],
    [
      'three levels over 130 numbers',
      {
        type: 'object',
        properties: { l: list({ type: 'integer' }, 130) },
        ...rules('self.l.all(x, self.l.all(y, self.l.all(z, x + y + z > 0)))'),
      },
      [[rule('spec'), 'estimated rule cost exceeds budget by factor of 2.0x']],
    ],
    [
      'a rule for each item of a list without a bound',
      { type: 'object', properties: { l: list({ ...text, ...rules('self.startsWith("abc")') }) } },
      [],
    ],
  ])('%s', (_, spec, refused) => {
    expect(refusals(spec)).toEqual(refused);
  });

  it('are too much work to compile when there are ten thousands of words in them', () => {
    const wide = `[${'1,'.repeat(9_000)}1].size() > 0`;
    const spec = { type: 'object', properties: { s: text }, ...rules(...Array.from({ length: 5 }, () => wide)) };
    expect(refusals(spec)).toEqual([
      [
        'spec.validation.openAPIV3Schema',
        'x-kubernetes-validations of the entire OpenAPIv3 schema take too much work to compile',
      ],
    ]);
  });

  it('are not judged one by one again when the schema has not changed', () => {
    const stored = definition({
      type: 'object',
      properties: { l: list({ type: 'integer' }, 130) },
      ...rules('self.l.all(x, self.l.all(y, self.l.all(z, x + y + z > 0)))'),
    });
    expect(validateDefinition(stored)).toHaveLength(1);
    expect(validateDefinitionUpdate(structuredClone(stored), stored)).toEqual([]);
  });
});
