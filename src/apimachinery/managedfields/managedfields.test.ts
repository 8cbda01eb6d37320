import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plainError } from '../errors/index.ts';
import type { UnknownObject } from '../meta/index.ts';
import type { FieldSchema, SchemaTable, TypeSchema } from '../schema/index.ts';
import { atOnce, createFieldManager, type Writer } from './index.ts';

const field = (name: string, rest: Partial<FieldSchema> = {}): FieldSchema => ({
  name,
  number: 1,
  type: 'string',
  omitempty: true,
  ...rest,
});
const message = (name: string, ref: string, rest: Partial<FieldSchema> = {}): FieldSchema =>
  field(name, { type: 'message', ref, ...rest });
const types: TypeSchema[] = [
  {
    name: 'Pod',
    fields: [
      field('kind'),
      field('apiVersion'),
      message('metadata', 'Meta'),
      message('spec', 'Spec'),
      message('status', 'Status'),
    ],
  },
  {
    name: 'Meta',
    fields: [
      field('name'),
      field('uid'),
      field('labels', { shape: 'map' }),
      field('annotations', { shape: 'map' }),
      field('finalizers', { shape: 'list', listType: 'set' }),
    ],
  },
  {
    name: 'Spec',
    fields: [
      field('replicas', { type: 'int32', pointer: true }),
      field('args', { shape: 'list' }),
      field('limits', { type: 'quantity', shape: 'map' }),
      field('selector', { shape: 'map', mapType: 'atomic' }),
      message('containers', 'Container', { shape: 'list', listType: 'map', listMapKeys: ['name'], omitempty: undefined }),
    ],
  },
  {
    name: 'Container',
    fields: [
      field('name'),
      field('image'),
      message('ports', 'Port', { shape: 'list', listType: 'map', listMapKeys: ['port', 'protocol'] }),
    ],
  },
  {
    name: 'Port',
    fields: [field('port', { type: 'int32' }), field('protocol', { default: 'TCP' }), field('hostPort', { type: 'int32' })],
  },
  { name: 'Status', fields: [field('phase')] },
];
const table: SchemaTable = {
  type: (name) => types.find((one) => one.name === name),
  kind: () => undefined,
  names: () => [],
  kinds: () => [],
};
const spread: TypeSchema = { name: 'Spec', fields: [field('selector', { shape: 'map' })] };
const manager = atOnce(createFieldManager(table, 'Pod', { resetFields: [['status']] }));

const writer = (name: string, rest: Partial<Writer> = {}): Writer => ({
  manager: name,
  time: '2026-01-01T00:00:00Z',
  apiVersion: 'v1',
  ...rest,
});
const pod = (spec: unknown, metadata: Record<string, unknown> = {}): UnknownObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata,
  spec,
});
const owned = (object: UnknownObject): Record<string, unknown> =>
  Object.fromEntries(
    (object.metadata.managedFields ?? []).map((entry) => [`${entry.manager} ${entry.operation}`, entry.fieldsV1]),
  );
const apply = (
  live: UnknownObject | undefined,
  name: string,
  spec: unknown,
  rest: Partial<Writer & { force: boolean }> = {},
): UnknownObject => manager.apply(live, pod(spec), writer(name, rest));
const stored = (object: UnknownObject): UnknownObject => ({ ...object, metadata: { ...object.metadata, uid: 'u' } });

describe('create', () => {
  it('owns what the object states, in upstream order', () => {
    const made = manager.create(
      pod(
        {
          selector: { a: '1' },
          args: ['x'],
          containers: [
            {
              name: 'b',
              image: 'i',
              ports: [
                { port: 80, protocol: 'TCP' },
                { port: 9, protocol: 'UDP' },
              ],
            },
            { name: 'a', image: 'i' },
          ],
        },
        { name: 'p', labels: { z: '1', b: '2' }, finalizers: ['f'] },
      ),
      writer('me'),
    );
    expect(JSON.stringify(made.metadata.managedFields)).toBe(
      JSON.stringify([
        {
          manager: 'me',
          operation: 'Update',
          apiVersion: 'v1',
          time: '2026-01-01T00:00:00Z',
          fieldsType: 'FieldsV1',
          fieldsV1: {
            'f:metadata': {
              'f:finalizers': { '.': {}, 'v:"f"': {} },
              'f:labels': { '.': {}, 'f:b': {}, 'f:z': {} },
            },
            'f:spec': {
              'f:args': {},
              'f:containers': {
                'k:{"name":"a"}': { '.': {}, 'f:image': {}, 'f:name': {} },
                'k:{"name":"b"}': {
                  '.': {},
                  'f:image': {},
                  'f:name': {},
                  'f:ports': {
                    '.': {},
                    'k:{"port":9,"protocol":"UDP"}': { '.': {}, 'f:port': {}, 'f:protocol': {} },
                    'k:{"port":80,"protocol":"TCP"}': { '.': {}, 'f:port': {}, 'f:protocol': {} },
                  },
                },
              },
              'f:selector': {},
            },
          },
        },
      ]),
    );
  });
});

describe('update', () => {
  const live = stored(manager.create(pod({ replicas: 1, args: ['a'], containers: null }), writer('one')));
  const later = writer('two', { time: '2026-01-02T00:00:00Z' });

  it('moves what changed to the writer', () => {
    const next = manager.update(live, { ...live, spec: { replicas: 2, args: ['a'], containers: null } }, later);
    expect(owned(next)).toEqual({
      'one Update': { 'f:spec': { 'f:args': {} } },
      'two Update': { 'f:spec': { 'f:replicas': {} } },
    });
    expect(live.metadata.managedFields).toHaveLength(1);
  });

  it('changes nothing, not even times, when nothing changed', () => {
    expect(
      manager.update(live, { ...live, spec: { ...(live.spec as object) } }, { ...later, manager: 'one' }).metadata.managedFields,
    ).toEqual(live.metadata.managedFields);
  });

  it('forgets removed fields and owners of nothing', () => {
    const next = manager.update(live, { ...live, spec: { containers: null } }, later);
    expect(next.metadata.managedFields).toBeUndefined();
  });

  it('does not own what the endpoint resets', () => {
    expect(owned(manager.update(live, { ...live, status: { phase: 'Running' } }, later))).toEqual(owned(live));
  });

  it('takes a list the client sends, and an empty one as a wish to forget', () => {
    const sent = [
      {
        manager: 'x',
        operation: 'Update' as const,
        apiVersion: 'v1',
        fieldsType: 'FieldsV1' as const,
        fieldsV1: { 'f:spec': { 'f:args': {} } },
      },
    ];
    expect(owned(manager.update(live, { ...live, metadata: { ...live.metadata, managedFields: sent } }, later))).toEqual({
      'x Update': { 'f:spec': { 'f:args': {} } },
    });
    expect(
      manager.update(live, { ...live, metadata: { ...live.metadata, managedFields: [] } }, later).metadata.managedFields,
    ).toBeUndefined();
  });

  it('keeps at most ten updaters', () => {
    let object = live;
    for (let i = 0; i < 15; i++) {
      const time = `2026-01-01T00:00:${String(i + 10)}Z`;
      const labels = { ...object.metadata.labels, [`l${i}`]: 'x' };
      object = manager.update(
        object,
        { ...object, metadata: { ...object.metadata, labels } },
        writer(`m${String(i).padStart(2, '0')}`, { time }),
      );
    }
    const names = (object.metadata.managedFields ?? []).map((entry) => entry.manager);
    expect(names).toHaveLength(10);
    expect(names).toContain('ancient-changes');
    expect(names).toContain('m14');
  });
});

describe('apply', () => {
  it('creates, and takes away what is no longer stated', () => {
    const first = stored(apply(undefined, 'a', { replicas: 1, args: ['x'], containers: [{ name: 'c', image: 'i' }] }));
    const second = apply(first, 'a', { replicas: 1 });
    expect(second.spec).toEqual({ replicas: 1 });
    expect(owned(second)).toEqual({ 'a Apply': { 'f:spec': { 'f:replicas': {} } } });
  });

  it('refuses fields of others, by name, unless forced', () => {
    const live = stored(
      manager.update(
        stored(apply(undefined, 'a', { replicas: 1 })),
        pod({ replicas: 1, args: ['x'] }, { uid: 'u' }),
        writer('u'),
      ),
    );
    const withOwners = { ...live, metadata: { ...live.metadata } };
    const attempt = (): UnknownObject => apply(withOwners, 'b', { replicas: 2, args: ['y'] });
    expect(attempt).toThrow(
      expect.objectContaining({
        message:
          'Apply failed with 2 conflicts: conflicts with "a":\n- .spec.replicas\nconflicts with "u" using v1:\n- .spec.args',
        status: expect.objectContaining({ code: 409, reason: 'Conflict' }),
      }),
    );
    const forced = apply(withOwners, 'b', { replicas: 2, args: ['y'] }, { force: true });
    expect(owned(forced)).toEqual({ 'b Apply': { 'f:spec': { 'f:args': {}, 'f:replicas': {} } } });
  });

  it('shares what appliers agree on until the last one lets go', () => {
    const one = stored(apply(undefined, 'a', { containers: [{ name: 'c', image: 'i' }] }));
    const both = stored(apply(one, 'b', { containers: [{ name: 'c', image: 'i' }] }));
    const left = apply(both, 'a', undefined);
    expect(left.spec).toEqual({ containers: [{ name: 'c', image: 'i' }] });
    expect(Object.keys(owned(left))).toEqual(['b Apply']);
  });

  it('merges items between those the object has', () => {
    const live = stored(apply(undefined, 'a', { containers: [{ name: 'x' }, { name: 'y' }, { name: 'z' }] }));
    const merged = apply(live, 'b', { containers: [{ name: 'new' }, { name: 'y', image: 'i' }, { name: 'last' }] });
    expect((merged.spec as { containers: { name: string }[] }).containers.map((one) => one.name)).toEqual([
      'x',
      'new',
      'y',
      'z',
      'last',
    ]);
  });

  it('gives fields without owner to a manager before the first apply', () => {
    const live = { ...pod({ replicas: 3 }), metadata: { uid: 'u' } };
    expect(owned(apply(live, 'a', { args: ['x'] }))).toEqual({
      'a Apply': { 'f:spec': { 'f:args': {} } },
      'before-first-apply Update': { 'f:spec': { 'f:replicas': {} } },
    });
  });

  it.each([
    [{ nope: 1 }, '.spec.nope: field not declared in schema'],
    [{ limits: { cpu: ['1'] } }, '.spec.limits.cpu: expected any scalar, got &{[1]}'],
    [{ args: 'x' }, '.spec.args: expected list, got &{x}'],
    [{ replicas: 'x' }, '.spec.replicas: expected numeric (int or float), got string'],
    [{ selector: { a: 1 } }, '.spec.selector.a: expected string, got &value.valueUnstructured{Value:1}'],
    [{ containers: [{ name: 'c' }, { name: 'c' }] }, '.spec.containers: duplicate entries for key [name="c"]'],
    [
      { containers: [{ image: 'i' }] },
      '.spec.containers: element 0: associative list with keys has an element that omits all key fields ["name"] (and doesn\'t have default values for any key fields)',
    ],
  ])('refuses %j', (spec, message) => {
    expect(() => apply(undefined, 'a', spec)).toThrow(
      plainError(`failed to create typed patch object (/; /v1, Kind=Pod): ${message}`),
    );
  });

  it('refuses managedFields and other versions', () => {
    expect(() => manager.apply(undefined, pod({}, { managedFields: [] }), writer('a'))).toThrow(
      'metadata.managedFields must be nil',
    );
    expect(() => manager.apply(undefined, { ...pod({}), apiVersion: 'v2' }, writer('a'))).toThrow(
      'invalid object type: /v2, Kind=Pod',
    );
  });

  it('takes metadata away whole when their applier states none any more', () => {
    const first = stored(manager.apply(undefined, pod({ replicas: 1 }, { name: 'p', labels: { a: 'b' } }), writer('a')));
    const { metadata: _, ...bare } = pod({ replicas: 1 });
    expect(manager.apply(first, bare as UnknownObject, writer('a')).metadata.name).toBeUndefined();
    expect(manager.apply(first, pod({ replicas: 1 }), writer('a')).metadata).toMatchObject({ name: 'p' });
    expect(manager.apply(first, bare as UnknownObject, writer('b')).metadata).toMatchObject({ name: 'p', labels: { a: 'b' } });
  });

  it('lets kubectl take over what its client-side apply stated', () => {
    const key = 'kubectl.kubernetes.io/last-applied-configuration';
    const annotations = { [key]: JSON.stringify(pod({ replicas: 1 })) };
    const live = stored(manager.create(pod({ replicas: 1 }, { annotations }), writer('kubectl-client-side-apply')));
    const next = apply(live, 'kubectl', { replicas: 2 });
    expect(next.spec).toEqual({ replicas: 2 });
    expect(JSON.parse(next.metadata.annotations?.[key] ?? '')).toEqual(pod({ replicas: 2 }));
    expect(() => apply(live, 'other', { replicas: 2 })).toThrow('1 conflict');
  });

  const name = fc.constantFrom('a', 'b', 'c');
  const spec = fc.record(
    {
      replicas: fc.integer({ min: 0, max: 3 }),
      args: fc.array(name, { maxLength: 2 }),
      selector: fc.dictionary(name, name, { maxKeys: 2 }),
      containers: fc.uniqueArray(fc.record({ name, image: name }), { selector: (one) => one.name }),
    },
    { requiredKeys: [] },
  );

  it('is a no-op the second time', () => {
    fc.assert(
      fc.property(spec, spec, (one, two) => {
        const live = stored(apply(stored(apply(undefined, 'a', one)), 'b', two, { force: true }));
        const before = JSON.stringify(live);
        expect(apply(live, 'b', two)).toEqual(live);
        expect(JSON.stringify(live)).toBe(before);
      }),
    );
  });
});

it('follows a type whose collection is now owned whole', () => {
  const before = atOnce(createFieldManager({ ...table, type: (name) => (name === 'Spec' ? spread : table.type(name)) }, 'Pod'));
  const live = stored(before.apply(undefined, pod({ selector: { a: '1' } }), writer('a')));
  expect(owned(live)).toEqual({ 'a Apply': { 'f:spec': { 'f:selector': { 'f:a': {} } } } });
  const next = manager.apply(live, pod({ selector: { a: '1' }, replicas: 1 }), writer('b'));
  expect(owned(next)['a Apply']).toEqual({ 'f:spec': { 'f:selector': {} } });
});

it('tracks types it does not know as plain JSON', () => {
  const untyped = atOnce(createFieldManager(table, 'Unknown'));
  const made = untyped.create(pod({ a: { b: 1 }, l: [1] }), writer('me'));
  expect(owned(made)).toEqual({ 'me Update': { 'f:spec': { '.': {}, 'f:a': { '.': {}, 'f:b': {} }, 'f:l': {} } } });
});

it('may pause between the passes over an object, and makes the same of it', () => {
  const paused = createFieldManager(table, 'Pod', { resetFields: [['status']] });
  const live = manager.create(pod({ nodeName: 'a' }), writer('one'));
  const steps = paused.update(live, pod({ nodeName: 'b' }), writer('two'));
  let pauses = 0;
  for (;;) {
    const step = steps.next();
    if (step.done) {
      expect(step.value).toEqual(manager.update(live, pod({ nodeName: 'b' }), writer('two')));
      break;
    }
    pauses++;
  }
  expect(pauses).toBeGreaterThan(2);
});
