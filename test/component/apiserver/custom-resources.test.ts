// Custom resources from definition to clean-up, through the direct transport.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject, UnknownObject } from '#apimachinery/meta';
import type { Transport } from '#apimachinery/transport';
import { type ApiServer, createApiServer } from '#apiserver';
import { systemClock, systemRng } from '#host';
import { type EmbeddedStore, openMemoryStore } from '#store';

const group = 'example.com';
const definitions = { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' };
const widgets = { group, version: 'v1', resource: 'widgets', namespace: 'default' };
let store: EmbeddedStore;
let server: ApiServer;
let client: Transport;

const schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      required: ['size'],
      properties: { size: { type: 'integer', minimum: 1 }, color: { type: 'string', default: 'red', enum: ['red', 'green'] } },
    },
    status: { type: 'object', properties: { ready: { type: 'boolean' } } },
  },
};

const definition = {
  metadata: { name: `widgets.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: schema },
        subresources: { status: {}, scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' } },
      },
    ],
  },
};

/** Waits until `read` answers, with a deadline. */
async function eventually<T>(read: () => Promise<T | undefined>): Promise<T> {
  const deadline = Date.now() + 30_000;
  for (;;) {
    const value = await read().catch(() => undefined);
    if (value !== undefined) return value;
    if (Date.now() > deadline) throw new Error('did not happen in time');
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const served = async (): Promise<true | undefined> => {
  await client.call({ ...widgets, verb: 'list' });
  return true;
};

beforeEach(async () => {
  store = openMemoryStore();
  server = await createApiServer({ store, clock: systemClock(), rng: systemRng(), deepFreeze: true });
  client = server.transport({ name: 'tester', groups: ['system:masters'] }, 'tester');
  await client.call({ ...definitions, verb: 'create', object: definition });
  await eventually(served);
});
afterEach(async () => {
  client.close();
  await server.close();
  await store.close();
});

const create = (spec: object, more: object = {}): Promise<UnknownObject> =>
  client.call<UnknownObject>({
    ...widgets,
    verb: 'create',
    object: { apiVersion: `${group}/v1`, kind: 'Widget', metadata: { name: 'a' }, spec, ...more },
  });

describe('custom resources', () => {
  it('are defaulted, pruned and keep status behind its door', async () => {
    const made = await create({ size: 1, unknown: 2 }, { status: { ready: true } });
    expect(made['spec']).toEqual({ size: 1, color: 'red' });
    expect(made).not.toHaveProperty('status');
    expect(made.metadata.generation).toBe(1);
    const status = await client.call<UnknownObject>({
      ...widgets,
      verb: 'update',
      name: 'a',
      subresource: 'status',
      object: { ...made, spec: { size: 9 }, status: { ready: true } },
    });
    expect(status).toMatchObject({ spec: { size: 1 }, status: { ready: true }, metadata: { generation: 1 } });
  });

  it('are validated by their schema', async () => {
    await expect(create({ size: 0, color: 'blue' })).rejects.toMatchObject({
      status: {
        code: 422,
        details: {
          causes: expect.arrayContaining([
            expect.objectContaining({ field: 'spec.size' }),
            expect.objectContaining({ field: 'spec.color' }),
          ]) as unknown,
        },
      },
    });
    await expect(create({})).rejects.toMatchObject({
      status: { code: 422, message: expect.stringContaining('spec.size: Required value') as unknown },
    });
  });

  /** Changes the schema, and waits until objects are seen through it. */
  const redefine = async (
    change: (properties: Record<string, unknown>) => object,
    done: () => Promise<boolean>,
  ): Promise<void> => {
    const current = await client.call<UnknownObject>({ ...definitions, verb: 'get', name: `widgets.${group}` });
    const version = { ...definition.spec.versions[0], schema: { openAPIV3Schema: change(structuredClone(schema.properties)) } };
    const spec = { ...(current['spec'] as object), versions: [version] };
    await client.call({ ...definitions, verb: 'update', name: `widgets.${group}`, object: { ...current, spec } });
    await eventually(async () => ((await done()) ? true : undefined));
  };

  it('show the defaults that their definition got after they were written', async () => {
    await create({ size: 1 });
    const weightOf = async (): Promise<unknown> =>
      ((await client.call<UnknownObject>({ ...widgets, verb: 'get', name: 'a' }))['spec'] as { weight?: number }).weight;
    await redefine(
      ({ spec, ...rest }) => {
        const inner = spec as typeof schema.properties.spec;
        const properties = { ...inner.properties, weight: { type: 'integer', default: 3 } };
        return { type: 'object', properties: { ...rest, spec: { ...inner, properties } } };
      },
      async () => (await weightOf()) === 3,
    );
    const { items } = await client.call<{ items: UnknownObject[] }>({ ...widgets, verb: 'list' });
    expect(items[0]?.['spec']).toEqual({ size: 1, color: 'red', weight: 3 });
  });

  it('take an apply of fields that only a schema which keeps them allows', async () => {
    const apply = (more: object): Promise<UnknownObject> =>
      client.call<UnknownObject>({
        ...widgets,
        verb: 'patch',
        name: 'kept',
        patch: {
          type: 'application/apply-patch+yaml',
          body: { apiVersion: `${group}/v1`, kind: 'Widget', metadata: { name: 'kept' }, ...more },
        },
        options: { fieldManager: 'me' },
      });
    await redefine(
      ({ spec, ...rest }) => ({
        type: 'object',
        'x-kubernetes-preserve-unknown-fields': true,
        properties: { ...rest, spec: { ...(spec as object), required: [], 'x-kubernetes-preserve-unknown-fields': true } },
      }),
      () =>
        apply({ extra: { a: 1 }, spec: { size: 2, other: [{ b: 2 }] } }).then(
          (made) => made['extra'] !== undefined,
          () => false,
        ),
    );
    const made = await apply({ extra: { a: 2 }, spec: { size: 2, other: [] } });
    expect(made).toMatchObject({ extra: { a: 2 }, spec: { size: 2, color: 'red' } });
    expect(JSON.stringify(made.metadata.managedFields)).toContain('"f:extra":{".":{},"f:a":{}}');
  });

  it.each([
    ['https://example.com/pull/1', 'True', 'ApprovedAnnotation', 'approved in https://example.com/pull/1'],
    ['unapproved, for tests', 'False', 'UnapprovedAnnotation', 'not approved: "unapproved, for tests"'],
  ])('of a protected group tell whether it was approved (%s)', async (annotation, status, reason, message) => {
    const name = `gadgets.${status.toLowerCase()}.k8s.io`;
    const object = {
      metadata: { name, annotations: { 'api-approved.kubernetes.io': annotation } },
      spec: { ...definition.spec, group: name.slice(8), names: { plural: 'gadgets', kind: 'Gadget' } },
    };
    await client.call({ ...definitions, verb: 'create', object });
    const condition = await eventually(async () => {
      const { status: now } = await client.call<{ status?: { conditions?: { type: string }[] } } & KubeObject>({
        ...definitions,
        verb: 'get',
        name,
      });
      return now?.conditions?.find(({ type }) => type === 'KubernetesAPIApprovalPolicyConformant');
    });
    expect(condition).toMatchObject({ status, reason, message });
  });

  it('that a patch makes call themselves something else are told what they must be', async () => {
    await create({ size: 2 });
    const patchedTo = (names: object): Promise<UnknownObject> =>
      client.call<UnknownObject>({
        ...{ ...widgets, verb: 'patch', name: 'a', options: { fieldValidation: 'Strict' } },
        patch: { type: 'application/merge-patch+json', body: { ...names, unknown: 1 } },
      });
    await expect(patchedTo({ kind: 'Other', apiVersion: 'other.io/v2' })).rejects.toMatchObject({
      status: {
        code: 422,
        message:
          'Other.other.io "a" is invalid: [kind: Invalid value: "Other": must be Widget, apiVersion: Invalid value: "other.io/v2": must be example.com/v1]',
      },
    });
    const noKind = { code: 422, message: expect.stringContaining("Object 'Kind' is missing in '{") };
    await expect(patchedTo({ kind: null })).rejects.toMatchObject({ status: noKind });
    const noVersion = {
      code: 500,
      message: expect.stringContaining("Object 'apiVersion' is missing in 'object has no apiVersion field'"),
    };
    await expect(patchedTo({ apiVersion: null })).rejects.toMatchObject({ status: noVersion });
  });

  it('are scaled through their paths', async () => {
    await create({ size: 2 });
    const scale = await client.call<UnknownObject>({ ...widgets, verb: 'get', name: 'a', subresource: 'scale' });
    expect(scale).toMatchObject({ kind: 'Scale', spec: { replicas: 2 } });
  });

  it.each([
    ['.spec.color', 'get', 500, '.spec.color accessor error: red is of the type string, expected int64'],
    ['.spec.size.more', 'get', 500, '.spec.size.more accessor error: 2 is of the type int64, expected map[string]interface{}'],
    ['.spec.nothing', 'get', 500, 'Internal error occurred: the spec replicas field ".spec.nothing" does not exist'],
    ['.spec.nothing', 'patch', 400, 'the spec replicas field ".spec.nothing" cannot be empty'],
  ] as const)('whose replicas are at %s are not scaled by a %s', async (specReplicasPath, verb, code, message) => {
    await create({ size: 2 });
    const name = `widgets.${group}`;
    const path = '/spec/versions/0/subresources/scale/specReplicasPath';
    const patch = [{ op: 'replace', path, value: specReplicasPath }];
    await client.call({ ...definitions, verb: 'patch', name, patch: { type: 'application/json-patch+json', body: patch } });
    const asked = { ...widgets, verb, name: 'a', subresource: 'scale' } as const;
    const body = { metadata: { labels: { a: 'b' } } };
    const scaled = () =>
      client.call({ ...asked, ...(verb === 'patch' && { patch: { type: 'application/merge-patch+json', body } }) });
    const failure = await eventually(() =>
      scaled().then(
        () => undefined,
        (error: unknown) => error,
      ),
    );
    expect(failure).toMatchObject({ status: { code, message } });
  });

  it('go with a definition whose deletion asks for other preconditions first, and nothing of dependents', async () => {
    const name = `widgets.${group}`;
    const remove = (deleteOptions: Record<string, unknown>, dryRun = false) =>
      client.call<KubeObject>({
        ...definitions,
        verb: 'delete',
        name,
        deleteOptions,
        ...(dryRun && { query: { dryRun: 'All' } }),
      });
    const { uid } = (await client.call<KubeObject>({ ...definitions, verb: 'get', name })).metadata;
    await expect(remove({ preconditions: { uid: 'x' } })).rejects.toMatchObject({
      status: {
        code: 409,
        message: `Operation cannot be fulfilled on customresourcedefinitions.apiextensions.k8s.io "${name}": Precondition failed: UID in precondition: x, UID in object meta: ${uid}`,
      },
    });
    const marked = await remove({ propagationPolicy: 'Orphan', dryRun: ['All'] }, true);
    expect(marked.metadata.finalizers).toEqual(['customresourcecleanup.apiextensions.k8s.io']);
  });

  it('are not made any more once their definition is being deleted', async () => {
    await create({ size: 1 }, { metadata: { name: 'held', finalizers: ['example.com/hold'] } });
    const name = `widgets.${group}`;
    await client.call({ ...definitions, verb: 'delete', name });
    await expect(create({ size: 1 }, { metadata: { name: 'late' } })).rejects.toMatchObject({
      status: {
        code: 403,
        message: `widgets.${group} "late" is forbidden: create not allowed while custom resource definition is terminating`,
      },
    });
    const condition = await eventually(async () => {
      const now = await client.call<KubeObject & { status: { conditions: { type: string; reason: string }[] } }>({
        ...definitions,
        verb: 'get',
        name,
      });
      return now.status.conditions.find(({ type, reason }) => type === 'Terminating' && reason !== 'InstanceDeletionPending');
    });
    expect(condition).toMatchObject({
      status: 'True',
      reason: 'InstanceDeletionInProgress',
      message: 'CustomResource deletion is in progress',
    });
  });

  it('say whose subresource there is not', async () => {
    const missing = client.call({ ...widgets, verb: 'get', name: 'a', subresource: 'log' });
    await expect(missing).rejects.toMatchObject({ status: { code: 404, message: `widgets.${group} "a" not found` } });
  });

  it('are found by discovery, and gone with their definition', async () => {
    const discovery = await client.raw('GET', `/apis/${group}/v1`);
    expect(JSON.parse(discovery.text)).toMatchObject({
      kind: 'APIResourceList',
      resources: [{ name: 'widgets' }, { name: 'widgets/status' }, { name: 'widgets/scale' }],
    });
    await create({ size: 1 });
    await client.call({ ...definitions, verb: 'delete', name: `widgets.${group}` });
    await eventually(async () =>
      (await client.call<KubeObject>({ ...definitions, verb: 'get', name: `widgets.${group}` }).catch(() => undefined))
        ? undefined
        : true,
    );
    await expect(client.call({ ...widgets, verb: 'list' })).rejects.toMatchObject({ status: { code: 404 } });
    expect(store.rangeSync({ key: `/registry/${group}/`, rangeEnd: `/registry/${group}0` }).kvs).toEqual([]);
  });
});
