// Every map of every built-in kind, with keys that mean something to JavaScript: they are keys like any other, wherever an object goes.
import { readFileSync } from 'node:fs';
import { builtinKinds, builtinSchema, type KindDefinition } from '#api';
import { decodeProtobuf, encodeProtobuf, formatYaml, parseYaml, supportsProtobuf } from '#apimachinery/codec';
import { StatusError } from '#apimachinery/errors';
import { atOnce, createFieldManager } from '#apimachinery/managedfields';
import { apiVersionOf, type KubeObject, type UnknownObject } from '#apimachinery/meta';
import { jsonPatch, mergePatch, strategicMergePatch } from '#apimachinery/patch';
import { decode, type FieldSchema, normalize } from '#apimachinery/schema';
import { setOwn } from '#utils';
import { describe, expect, test } from 'vitest';
import { create, now, read, typeNameOf, update } from './pipeline.ts';

const table = builtinSchema();
const context = { now, subresource: '', user: { name: 'admin', groups: ['system:masters'] } };
const hostile = ['__proto__', 'constructor', 'hasOwnProperty', 'prototype', 'toString', 'valueOf', ''];

const fixtures = readFileSync(new URL('fixtures.yaml', import.meta.url), 'utf8')
  .split(/^---$/m)
  .map((text) => parseYaml(text).value as UnknownObject);

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

const scalars: Partial<Record<FieldSchema['type'], unknown>> = { bytes: 'AA==', quantity: '1', time: '2026-01-01T00:00:00Z' };

const valueOf = (field: FieldSchema): unknown => {
  if (field.shape === 'mapOfLists') return ['x'];
  if (field.type === 'message') return {};
  return scalars[field.type] ?? 'x';
};

/** Ways to all maps that an object of the type may have, through what the object has already. */
function mapsOf(
  typeName: string,
  object: Json,
  way: (string | number)[] = [],
): { way: (string | number)[]; field: FieldSchema }[] {
  return (table.type(typeName)?.fields ?? []).flatMap((field) => {
    const at = [...way, field.name];
    const value = object[field.name];
    if (field.shape === 'map' || field.shape === 'mapOfLists') return [{ way: at, field }];
    if (field.type !== 'message' || field.ref === undefined) return [];
    if (field.shape === 'list') return Array.isArray(value) && isObject(value[0]) ? mapsOf(field.ref, value[0], [...at, 0]) : [];
    if (isObject(value)) return mapsOf(field.ref, value, at);
    return way.length < 3 && !way.includes(field.name) ? mapsOf(field.ref, {}, at) : [];
  });
}

/** The object with something at the end of the way; what is missing on it is made. */
function withAt(object: Json, [step, ...rest]: (string | number)[], value: unknown): Json {
  const copy = (Array.isArray(object) ? [...object] : { ...object }) as Json;
  const inner = copy[step as string];
  copy[step as string] = rest.length === 0 ? value : withAt((inner ?? {}) as Json, rest, value);
  return copy;
}

const at = (object: unknown, way: (string | number)[]): unknown =>
  way.reduce<unknown>((value, step) => (value as Json | undefined)?.[step as string], object);

const hostileMap = (field: FieldSchema): Json => {
  const map: Json = {};
  for (const key of hostile) setOwn(map, key, valueOf(field));
  return map;
};

const keysAt = (object: unknown, way: (string | number)[]): string[] => Object.keys((at(object, way) ?? {}) as object).sort();

/** Refusals are answers, too. */
function orRefused<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    expect(error).toBeInstanceOf(StatusError);
    return undefined;
  }
}

const wanted = [...hostile].sort();

function checkCodecs(typeName: string, object: UnknownObject, way: (string | number)[]): void {
  const text = JSON.stringify(object);
  const { object: decoded, strictErrors } = decode(table, typeName, JSON.parse(text), { strict: true });
  expect(strictErrors).toEqual([]);
  expect(keysAt(decoded, way)).toEqual(wanted);
  expect(JSON.stringify(normalize(table, typeName, decoded))).toBe(JSON.stringify(decoded));
  expect(JSON.stringify(decode(table, typeName, parseYaml(formatYaml(decoded)).value).object)).toBe(JSON.stringify(decoded));
  const [group = '', version = ''] = decoded['apiVersion']?.toString().includes('/')
    ? String(decoded['apiVersion']).split('/')
    : ['', String(decoded['apiVersion'])];
  if (supportsProtobuf(table, { group, version, kind: object.kind ?? '' }))
    expect(at(decodeProtobuf(table, encodeProtobuf(table, decoded)), way)).toEqual(at(decoded, way));
}

function checkPatches(typeName: string, base: UnknownObject, full: UnknownObject, way: (string | number)[]): void {
  if (way.some((step) => typeof step === 'number')) return;
  const part = at(full, way) as Json;
  const addition = withAt({}, way, part);
  const nulls: Json = {};
  for (const key of hostile) setOwn(nulls, key, null);
  const removal = withAt({}, way, nulls);
  const added = mergePatch(withAt(base, way, {}), addition);
  expect(keysAt(added, way)).toEqual(wanted);
  expect(keysAt(mergePatch(added, removal), way)).toEqual([]);
  expect(keysAt(strategicMergePatch(table, typeName, withAt(base, way, {}), addition).object, way)).toEqual(wanted);
  const operations = hostile.map((key) => ({ op: 'add', path: `/${[...way, key].join('/')}`, value: 'x' }));
  const one = jsonPatch(withAt(base, way, {}), operations);
  expect(keysAt(one, way)).toEqual(wanted);
  const removals = hostile.map((key) => ({ op: 'remove', path: `/${[...way, key].join('/')}` }));
  expect(keysAt(jsonPatch(one, removals), way)).toEqual([]);
}

function checkOwners(typeName: string, base: UnknownObject, full: UnknownObject, way: (string | number)[]): void {
  const manager = atOnce(createFieldManager(table, typeName));
  const writer = { manager: 'a', time: '2026-01-01T00:00:00Z', apiVersion: base.apiVersion ?? '' };
  const made = manager.create(full, writer);
  expect(keysAt(made, way)).toEqual(wanted);
  const less = manager.update(made, base, writer);
  expect(JSON.stringify(less.metadata.managedFields)).not.toContain('hasOwnProperty');
  const applied = orRefused(() => manager.apply(base, full, { ...writer, manager: 'b', force: true }));
  if (applied === undefined) return;
  expect(keysAt(applied, way)).toEqual(wanted);
  const taken = manager.apply(applied, base, { ...writer, manager: 'b', force: true });
  expect(keysAt(taken, way)).toEqual([]);
}

describe.each(builtinKinds.map((definition) => [definition.kind, definition] as const))(
  '%s',
  (_, definition: KindDefinition<KubeObject>) => {
    const storage = apiVersionOf(definition.group, definition.version);
    const found = fixtures.find(({ kind, apiVersion }) => kind === definition.kind && apiVersion === storage);
    const typeName = typeNameOf(storage, definition.kind);
    const valid = read(definition, storage, found);

    test.each(mapsOf(typeName, valid).map(({ way, field }) => [way.join('.'), way, field] as const))(
      '%s',
      (_name, way, field) => {
        const base = withAt(valid, way, {}) as UnknownObject;
        const full = withAt(base, way, hostileMap(field)) as UnknownObject;
        checkCodecs(typeName, full, way);
        checkPatches(typeName, base, full, way);
        checkOwners(typeName, base, full, way);
        const draft = read(definition, storage, full);
        const errors = orRefused(() => create(definition, draft, base.metadata.namespace !== undefined, context));
        expect(errors === undefined || Array.isArray(errors)).toBe(true);
        orRefused(() => update(definition, definition, read(definition, storage, full), structuredClone(base), context));
        definition.printer?.cells(read(definition, storage, full), now);
        expect(Object.keys(Object.prototype)).toEqual([]);
      },
    );
  },
);
