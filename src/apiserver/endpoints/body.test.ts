import { describe, expect, it } from 'vitest';
import { builtinSchema } from '#api';
import { decodeBody } from './body.ts';

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
