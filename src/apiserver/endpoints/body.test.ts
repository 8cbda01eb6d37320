import { describe, expect, it } from 'vitest';
import { builtinSchema } from '#api';
import type { CustomResourceDefinition } from '#api/apiextensions/v1';
import { customResource } from '../apiextensions/custom-resource.ts';
import { checkNameTexts, decodeBody } from './body.ts';

const target = {
  schema: builtinSchema(),
  typeName: 'io.k8s.api.core.v1.ConfigMap',
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
};
const read = async (text: string): Promise<unknown> =>
  (await decodeBody({ bytes: Buffer.from(text), encoding: 'json' }, target as Parameters<typeof decodeBody>[1], 'Strict')).object;
const unrecognized = 'the object provided is unrecognized (must be of type ConfigMap): ';

describe('a body', () => {
  it('that does not say what it is counts as what the path names', async () => {
    expect(await read('{"metadata":{"name":"a"}}')).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1' });
    expect(await read('{"apiVersion":"/","kind":null}')).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1' });
  });

  it.each([
    [
      '{"kind":1}',
      "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of type string",
    ],
    [
      '{"apiVersion":[],"kind":1}',
      "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go struct field .apiVersion of type string",
    ],
    ['{"apiVersion":"a/b/c"}', 'unexpected GroupVersion string: a/b/c'],
    ['[]', "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct"],
    ['\0', "couldn't get version/kind; json parse error: invalid character '\\x00' looking for beginning of value"],
  ])('%j is refused as upstream does, before its fields are read', async (text, why) => {
    await expect(read(text)).rejects.toThrow(unrecognized + why);
  });

  it('of another scheme is of no known kind', async () => {
    await expect(read('{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition"}')).rejects.toThrow(
      'no kind "CustomResourceDefinition" is registered for version "apiextensions.k8s.io/v1"',
    );
  });
});

describe('bytes that are no UTF-8', () => {
  it.each([
    ['json', "couldn't get version/kind; json parse error: invalid character 'ÿ' looking for beginning of object key string"],
    ['yaml', 'yaml: invalid leading UTF-8 octet'],
  ] as const)('are told as bytes: %s', async (encoding, why) => {
    const bytes = Buffer.from([0x7b, 0xff, 0x7d]);
    await expect(decodeBody({ bytes, encoding }, target as Parameters<typeof decodeBody>[1], 'Strict')).rejects.toThrow(
      unrecognized + why,
    );
  });
});

describe('an object of another version than that of the path', () => {
  const widgets = {
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [
        { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { properties: { spec: {} } } } },
        { name: 'v2', served: true, storage: false, schema: { openAPIV3Schema: { properties: { size: {} } } } },
      ],
    },
  } as unknown as CustomResourceDefinition;
  const [v1 = expect.fail('no versions')] = widgets.spec.versions;
  const custom = customResource(widgets, v1, undefined as never, builtinSchema(), undefined as never);
  const autoscaler = {
    ...target,
    typeName: 'io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler',
    group: 'autoscaling',
    version: 'v2',
  };
  const refusedAs = async (wanted: object, object: object, validation: 'Warn' | 'Strict' = 'Warn') => {
    const raw = { bytes: Buffer.from(JSON.stringify(object)), encoding: 'json' } as const;
    const { strictErrors, refusal } = await decodeBody(raw, wanted as Parameters<typeof decodeBody>[1], validation);
    return [refusal?.message, ...strictErrors];
  };

  it.each([
    ['example.com/v2', ['unknown field "spec"']],
    ['example.com/v3', ['unknown field "size"', 'unknown field "spec"']],
    ['example.org/v1', []],
  ])('is told its unknown fields by the schema of %s, then refused', async (apiVersion, problems) => {
    const refusal = `the API version in the data (${apiVersion}) does not match the expected API version (example.com/v1)`;
    const object = { apiVersion, kind: 'Widget', metadata: { name: 'a' }, spec: {}, size: 1 };
    expect(await refusedAs(custom, object)).toEqual([refusal, ...problems]);
    if (problems.length > 0)
      await expect(refusedAs(custom, object, 'Strict')).rejects.toThrow(
        `cannot be handled as a Widget: strict decoding error: ${problems.join(', ')}`,
      );
  });

  it.each([
    [
      '{ "a":1}',
      'json',
      'Strict',
      `the object provided is unrecognized (must be of type Widget): Object 'Kind' is missing in '{ "a":1}' ({ "a":1})`,
    ],
    ['b: 1\na: 2', 'yaml', 'Warn', "Object 'Kind' is missing in 'b: 1\na: 2' (623a20310a613a2032)"],
    [
      'b: 1\na: 2',
      'yaml',
      'Ignore',
      `Widget in version "v1" cannot be handled as a Widget: Object 'Kind' is missing in '{"a":2,"b":1}'`,
    ],
    [
      '{ "a":1}',
      'json',
      'Ignore',
      `Widget in version "v1" cannot be handled as a Widget: Object 'Kind' is missing in '{ "a":1}'`,
    ],
    [
      '{"apiVersion":"example.com/v1","kind":"A","kind":"B"}',
      'json',
      'Strict',
      'B in version "v1" cannot be handled as a B: strict decoding error: duplicate field "kind"',
    ],
    [
      '{"apiVersion":"example.com/v1","kind":"Widget","a":1e400}',
      'json',
      'Warn',
      'json: cannot unmarshal number 1e400 into Go value of type float64',
    ],
    [
      '{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":true,"labels":{"a":1}}}',
      'json',
      'Warn',
      'json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string',
    ],
  ] as const)('of a custom kind: %s as %s, %s', async (text, encoding, validation, why) => {
    const raw = { bytes: Buffer.from(text), encoding };
    await expect(decodeBody(raw, custom as object as Parameters<typeof decodeBody>[1], validation)).rejects.toThrow(why);
  });

  it('is, of a built-in kind, read as what it says', async () => {
    const spec = { targetCPUUtilizationPercentage: 5, metrics: [] };
    const object = { apiVersion: 'autoscaling/v1', kind: 'HorizontalPodAutoscaler', spec };
    expect(await refusedAs({ ...autoscaler, kind: 'HorizontalPodAutoscaler' }, object)).toEqual([
      'the API version in the data (autoscaling/v1) does not match the expected API version (autoscaling/v2)',
      'unknown field "spec.metrics"',
    ]);
  });
});

it('the keys of an object are listed only where its name is no text', () => {
  let listed = 0;
  const counted = (value: Record<string, unknown>): Record<string, unknown> =>
    new Proxy(value, { ownKeys: (target) => (listed++, Reflect.ownKeys(target)) });
  checkNameTexts(counted({ a: 1, kind: 'K', apiVersion: null }));
  checkNameTexts(counted({}));
  expect(listed).toBe(0);
  const wrong = 'json: cannot unmarshal number into Go struct field .apiVersion of type string';
  expect(() => checkNameTexts(counted({ a: 1, apiVersion: 1, kind: [] }))).toThrow(wrong);
  expect(listed).toBeGreaterThan(0);
});
