// Our decoding, YAML and protobuf against what upstream's own serializers made of the same inputs (spec/gen/vectors.go).
import { readFileSync } from 'node:fs';
import { builtinSchema } from '#api';
import { decodeProtobuf, encodeProtobuf, formatYaml, parseYaml } from '#apimachinery/codec';
import { parseApiVersion } from '#apimachinery/meta';
import { decode, DecodeError, parseJson, type SchemaTable } from '#apimachinery/schema';
import { describe, expect, test } from 'vitest';

interface Vectors {
  protobuf: { json: { apiVersion: string; kind: string }; protobuf: string }[];
  decode: { gvk: string; body: string; json?: string; strict?: string[]; error?: string }[];
  yaml: { yaml: string; json?: string; error?: string; strict?: string }[];
  format: { json: string; yaml: string }[];
}

const vectors = JSON.parse(readFileSync(new URL('../fixtures/serializers.gen.json', import.meta.url), 'utf8')) as Vectors;
const table: SchemaTable = builtinSchema();

function typeNameOf(apiVersion: string, kind: string): string {
  const { group, version } = parseApiVersion(apiVersion);
  const name = table.kind(group, version, kind)?.name;
  if (name === undefined) throw new Error(`no type ${apiVersion} ${kind}`);
  return name;
}

const unprefixed = (message: string): string => message.replace("couldn't get version/kind; json parse error: ", '');

describe('protobuf', () => {
  test.each(vectors.protobuf.map((vector, at) => ({ name: `${vector.json.kind} ${at}`, ...vector })))(
    '$name',
    ({ json, protobuf }) => {
      const { object } = decode(table, typeNameOf(json.apiVersion, json.kind), json);
      expect(JSON.stringify(object)).toBe(JSON.stringify(json));
      expect(Buffer.from(encodeProtobuf(table, object)).toString('base64')).toBe(protobuf);
      expect(JSON.stringify(decodeProtobuf(table, Buffer.from(protobuf, 'base64')))).toBe(JSON.stringify(json));
    },
  );
});

describe('typed decoding', () => {
  test.each(vectors.decode)('$gvk $body', ({ gvk, body, json, strict, error }) => {
    const [apiVersion = '', kind = ''] = gvk.split(' ');
    const read = (): ReturnType<typeof decode> => {
      const parsed = parseJson(body, { findDuplicates: true });
      return decode(table, typeNameOf(apiVersion, kind), parsed.value, { strict: true, duplicates: parsed.duplicates });
    };
    if (error !== undefined) {
      // Upstream first looks for kind and apiVersion alone, in a struct without a name.
      const expected = unprefixed(error)
        .replace(/field \.kind/, 'field Pod.TypeMeta.kind')
        .replace(/of type struct \{.*\}$/, 'of type v1.Pod')
        .replace(/Go value of type struct.*/, 'Go value of type v1.Pod');
      expect(read).toThrow(DecodeError);
      expect(read).toThrow(expected);
      return;
    }
    const { object, strictErrors } = read();
    expect(JSON.stringify(object)).toBe(json);
    expect(strictErrors).toEqual(strict ?? []);
  });
});

describe('YAML to JSON', () => {
  test.each(vectors.yaml)('$yaml', ({ yaml, json, error, strict }) => {
    if (error !== undefined) {
      expect(() => parseYaml(yaml)).toThrow(DecodeError);
      expect(() => parseYaml(yaml)).toThrow(error);
      return;
    }
    const parsed = parseYaml(yaml);
    expect(parsed.value).toEqual(JSON.parse(json ?? ''));
    expect(parsed.duplicateKeys).toBe(strict);
  });
});

describe('JSON to YAML', () => {
  test.each(vectors.format)('$json', ({ json, yaml }) => {
    expect(formatYaml(JSON.parse(json))).toBe(yaml);
  });
});
