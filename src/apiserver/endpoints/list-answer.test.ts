import { expect, it } from 'vitest';
import { builtinSchema } from '#api';
import { decodeProtobuf, encodeProtobuf, formatYaml } from '#apimachinery/codec';
import type { UnknownObject } from '#apimachinery/meta';
import type { ListPage } from '../registry/generic/list.ts';
import type { ServedResource } from '../registry/generic/types.ts';
import { StoredObject } from '../storage/stored-object.ts';
import { sendList } from './list-answer.ts';
import type { Negotiated } from './negotiation.ts';
import type { Answer } from './respond.ts';

const schema = builtinSchema();
const resource = {
  ...{ group: '', version: 'v1', storageGroup: '', storageVersion: 'v1', kind: 'ConfigMap', listKind: 'ConfigMapList' },
  ...{ custom: false, definition: {} },
} as unknown as ServedResource;

const uid = '00000000-0000-4000-8000-000000000000';
const words = 'a long text that is folded where its line would be too long to be read, with a "quote" and\na break\n';
const objects = Array.from({ length: 50 }, (_, at) => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name: `c-${at}`, namespace: 'ns', uid, resourceVersion: String(at + 1) },
  data: { text: words.repeat(at % 3), empty: '', number: '1', '<&>': 'ä€' },
}));
const page = (count: number): ListPage => ({
  entries: objects.slice(0, count).map((object) => {
    const { name, namespace, resourceVersion } = object.metadata;
    return new StoredObject({ key: name, namespace, name, revision: Number(resourceVersion) }, object as UnknownObject);
  }),
  revision: 60,
  continueToken: 'next',
  remaining: 3,
});
const form = (more: Partial<Negotiated>): Negotiated => ({
  ...{ encoding: 'json', apiVersion: '', stream: false, pretty: false },
  ...more,
});

/** What is answered, and how often others could go on meanwhile. */
async function answered(count: number, negotiated: Negotiated): Promise<{ body: Buffer; rests: number }> {
  let rests = 0;
  let body: Buffer = Buffer.alloc(0);
  const answer = {
    response: { send: (_: number, __: object, bytes: Buffer) => void (body = bytes) },
    rest: () => void rests++,
    headers: () => ({}),
    acceptsGzip: false,
    schema,
    now: 0,
  } as unknown as Answer;
  await sendList(answer, resource, page(count), negotiated, 'Metadata');
  return { body, rests };
}

const whole = (count: number): object => ({
  kind: 'ConfigMapList',
  apiVersion: 'v1',
  metadata: { resourceVersion: '60', continue: 'next', remainingItemCount: 3 },
  items: objects.slice(0, count).map(({ kind: _, apiVersion: __, ...rest }) => rest),
});

it.each([0, 1, 50])('a list of %d made item by item is the same as one made at once', async (count) => {
  const list = whole(count);
  const { body } = await answered(count, form({}));
  expect(JSON.parse(body.toString())).toEqual(list);
  const pretty = await answered(count, form({ pretty: true }));
  expect(pretty.body.toString()).toBe(JSON.stringify(list, null, 2));
  const yaml = await answered(count, form({ encoding: 'yaml' }));
  expect(yaml.body.toString()).toBe(formatYaml(list));
  const protobuf = await answered(count, form({ encoding: 'protobuf' }));
  expect(protobuf.body.equals(encodeProtobuf(schema, list))).toBe(true);
  expect((decodeProtobuf(schema, protobuf.body)['items'] as unknown[] | null)?.length ?? 0).toBe(count);
});

it('a table has a row for each object', async () => {
  const { body } = await answered(50, form({ as: 'Table', apiVersion: 'meta.k8s.io/v1' }));
  const table = JSON.parse(body.toString()) as { kind: string; columnDefinitions: unknown[]; rows: { cells: unknown[] }[] };
  expect(table.kind).toBe('Table');
  expect(table.rows.map(({ cells }) => cells[0])).toEqual(objects.map(({ metadata }) => metadata.name));
  expect(Object.keys(table)).toEqual(['kind', 'apiVersion', 'metadata', 'columnDefinitions', 'rows']);
});

it('an empty list of metadata has null for its items', async () => {
  const { body } = await answered(0, form({ as: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1' }));
  expect(JSON.parse(body.toString())).toMatchObject({ kind: 'PartialObjectMetadataList', items: null });
});

it.each(['json', 'yaml', 'protobuf'] as const)('others go on while a list is made as %s', async (encoding) => {
  expect((await answered(50, form({ encoding }))).rests).toBeGreaterThan(2);
});
