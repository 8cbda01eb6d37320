import { expect, test } from 'vitest';
import { builtinSchema } from '#api';
import type { UnknownObject } from '#apimachinery/meta';
import { applySchemaDefaults } from '#apimachinery/schema';
import { createMetrics } from '#component-base';
import { seededRng, silentLogger, type Clock } from '#utils';
import { MemoryCluster } from '../../../registry/test-support/memory-cluster.ts';
import type { Decision } from '../../../authorization/types.ts';
import type { AdmissionRequest, AdmittedType } from '../../../registry/generic/admission.ts';
import { chainOf } from '../../../registry/generic/admit.ts';
import { defaultPluginOptions } from '../../plugin.ts';
import { mutatingAdmissionPolicy } from './index.ts';

const clock: Clock = { now: () => 0, monotonic: () => 0, setTimer: () => ({ cancel() {} }), sleep: async () => {} };
const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['*'] }];
const schema = builtinSchema();

const typeOf = (kind: string): AdmittedType => {
  const typeName = schema.kind('', 'v1', kind)?.name ?? '';
  const same = (object: UnknownObject) => object;
  const setDefaults = (object: UnknownObject) => applySchemaDefaults(schema, typeName, object);
  return {
    kind: { group: '', version: 'v1', kind },
    schema,
    typeName,
    custom: false,
    setDefaults,
    toStorage: same,
    fromStorage: same,
  };
};

interface More {
  object?: object;
  kind?: string;
  params?: object[];
  allowed?: boolean;
  policies?: object[];
  request?: Partial<AdmissionRequest>;
  metrics?: ReturnType<typeof createMetrics>;
}

const apply = (expression: string) => ({ patchType: 'ApplyConfiguration', applyConfiguration: { expression } });
const patch = (expression: string) => ({ patchType: 'JSONPatch', jsonPatch: { expression } });

/** The object after admission, or the refusal. */
async function answer(spec: object, binding: object = {}, more: More = {}): Promise<unknown> {
  const cluster = new MemoryCluster();
  const put = (group: string, resource: string, value: object) => cluster.put(group, resource, value as UnknownObject);
  put('', 'namespaces', { metadata: { name: 'ns', labels: { team: 'a' } } });
  for (const param of more.params ?? []) put('', 'configmaps', param);
  const group = 'admissionregistration.k8s.io';
  for (const [index, one] of [spec, ...(more.policies ?? [])].entries()) {
    const name = `p${index}`;
    const full = { matchConstraints: { resourceRules: rules }, reinvocationPolicy: 'Never', ...one };
    put(group, 'mutatingadmissionpolicies', { metadata: { name, uid: name, generation: 1 }, spec: full });
    put(group, 'mutatingadmissionpolicybindings', { metadata: { name }, spec: { policyName: name, ...binding } });
  }
  const plugin = mutatingAdmissionPolicy({
    cluster,
    writer: cluster,
    authorizer: { authorize: async (): Promise<Decision> => ({ allowed: more.allowed ?? false, reason: '' }) },
    clock,
    rng: seededRng(1),
    logger: silentLogger,
    options: defaultPluginOptions,
    ...(more.metrics && { metrics: more.metrics }),
  });
  const kind = more.kind ?? 'ConfigMap';
  const object = { apiVersion: 'v1', kind, metadata: { name: 'c', namespace: 'ns' }, ...(more.object ?? { data: { k: 'v' } }) };
  const request: AdmissionRequest = {
    operation: 'CREATE',
    user: { name: 'jane', groups: [] },
    group: '',
    version: 'v1',
    resource: `${kind.toLowerCase()}s`,
    subresource: '',
    kind,
    namespace: 'ns',
    name: 'c',
    object,
    type: typeOf(kind),
    options: {},
    dryRun: false,
    warn() {},
    ...more.request,
  };
  try {
    await chainOf([plugin]).admit(request);
  } catch (error) {
    const { code, reason, message } = (error as { status: { code: number; reason: string; message: string } }).status;
    return `${code} ${reason} ${message.replace(/^.* denied request: /, '')}`;
  }
  const { spec: made, data } = request.object as unknown as { spec?: unknown; data?: unknown };
  return made ?? data;
}

const data = (expression: string) => ({ mutations: [apply(`Object{data: {"a": ${expression}}}`)] });
const pod = { kind: 'Pod', object: { spec: { containers: [{ name: 'c', image: 'i' }] } } };
const withParam = { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } };
const ref = (more: object) => ({ paramRef: { parameterNotFoundAction: 'Deny', ...more } });
const param = { metadata: { name: 'x', namespace: 'ns', labels: { a: 'b' } }, data: { max: '1' } };
const mismatch =
  'unexpected type name "Object.data", expected "Object.metadata", which matches field name path from root Object type';

test.each<[string, object, object, More, unknown]>([
  ['a configuration is laid over the object', data('"b"'), {}, {}, { k: 'v', a: 'b' }],
  ['expressions see the object', data('object.data.k + namespaceObject.metadata.labels.team'), {}, {}, { k: 'v', a: 'va' }],
  [
    'later mutations see earlier ones',
    { mutations: [...data('"1"').mutations, patch('[JSONPatch{op: "copy", from: "/data/a", path: "/data/b"}]')] },
    {},
    {},
    { k: 'v', a: '1', b: '1' },
  ],
  [
    'variables',
    { ...data('variables.x'), variables: [{ name: 'x', expression: 'string(size(object.data))' }] },
    {},
    {},
    { k: 'v', a: '1' },
  ],
  [
    'keys are escaped',
    { mutations: [patch('[JSONPatch{op: "add", path: "/data/" + jsonpatch.escapeKey("a/b"), value: "c"}]')] },
    {},
    {},
    { k: 'v', 'a/b': 'c' },
  ],
  [
    'a test that fails changes nothing',
    { mutations: [patch('[JSONPatch{op: "test", path: "/data/k", value: "x"}, JSONPatch{op: "remove", path: "/data"}]')] },
    {},
    {},
    { k: 'v' },
  ],
  [
    'types are checked by their names',
    { mutations: [apply('Object{metadata: Object.data{}}')] },
    {},
    {},
    `403 Invalid type mismatch: ${mismatch}`,
  ],
  [
    'unknown fields',
    { mutations: [apply('Object{zz: 1}')] },
    {},
    {},
    '403 Invalid error applying patch: failed to convert patch object to typed object: .zz: field not declared in schema',
  ],
  [
    'atomic lists',
    { mutations: [apply('Object{spec: Object.spec{tolerations: [Object.spec.tolerations{key: "x"}]}}')] },
    {},
    pod,
    '403 Invalid error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.tolerations',
  ],
  [
    'null is no value',
    data('null'),
    {},
    {},
    '403 Invalid error applying patch: failed to convert patch object to typed object: .data.a: expected string, got &value.valueUnstructured{Value:0}',
  ],
  [
    'an unknown field of a patch is an internal error',
    { failurePolicy: 'Ignore', mutations: [patch('[JSONPatch{op: "add", path: "/zz", value: 1}]')] },
    {},
    {},
    '500 InternalError Internal error occurred: strict decoding error: unknown field "zz"',
  ],
  [
    'a patch that does not apply',
    { mutations: [patch('[JSONPatch{op: "remove", path: "/data/zz"}]')] },
    {},
    {},
    "403 Invalid JSON Patch: error in remove for path: '/data/zz': Unable to remove nonexistent key: zz: missing value",
  ],
  [
    'a failing expression',
    data('object.data.zz'),
    {},
    {},
    `403 Invalid expression 'Object{data: {"a": object.data.zz}}' resulted in error: no such key: zz`,
  ],
  ['a failing expression, ignored', { ...data('object.data.zz'), failurePolicy: 'Ignore' }, {}, {}, { k: 'v' }],
  ['condition that does not hold', { ...data('"b"'), matchConditions: [{ name: 'n', expression: 'false' }] }, {}, {}, { k: 'v' }],
  [
    'condition that fails',
    { ...data('"b"'), matchConditions: [{ name: 'n', expression: 'object.zz == 1' }] },
    {},
    {},
    "403 Invalid expression 'object.zz == 1' resulted in error: no such key: zz",
  ],
  ['param', { ...data('params.data.max'), ...withParam }, ref({ name: 'x' }), { params: [param] }, { k: 'v', a: '1' }],
  [
    'every param that is selected',
    { ...withParam, mutations: [patch('[JSONPatch{op: "add", path: "/data/" + params.metadata.name, value: "1"}]')] },
    ref({ selector: {} }),
    { params: [param, { ...param, metadata: { ...param.metadata, name: 'y' } }] },
    { k: 'v', x: '1', y: '1' },
  ],
  [
    'no param',
    { ...data('"b"'), ...withParam },
    ref({ name: 'y' }),
    {},
    '403 Forbidden failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction',
  ],
  [
    'authorizer that takes time',
    data('string(authorizer.group("").resource("pods").check("list").allowed())'),
    {},
    { allowed: true },
    { k: 'v', a: 'true' },
  ],
  ['what is deleted has nothing to mutate', data('"b"'), {}, { request: { operation: 'DELETE' } }, { k: 'v' }],
  [
    'policies are not seen by policies',
    data('"b"'),
    {},
    { request: { group: 'admissionregistration.k8s.io', kind: 'MutatingAdmissionPolicy' } },
    { k: 'v' },
  ],
  [
    'a policy runs again only where it asks to',
    { ...data('has(object.data.b) ? "again" : "once"'), reinvocationPolicy: 'IfNeeded' },
    {},
    { policies: [{ mutations: [apply('Object{data: {"b": "1"}}')] }] },
    { k: 'v', a: 'again', b: '1' },
  ],
  [
    'and otherwise once',
    data('has(object.data.b) ? "again" : "once"'),
    {},
    { policies: [{ mutations: [apply('Object{data: {"b": "1"}}')] }] },
    { k: 'v', a: 'once', b: '1' },
  ],
])('%s', async (_, spec, binding, more, expected) => {
  expect(await answer(spec, binding, more)).toEqual(expected);
});

test('every refusal is a cause; each mutation is counted', async () => {
  const metrics = createMetrics();
  await answer(data('object.data.zz'), {}, { metrics, policies: [data('"b"')] });
  const text = await metrics.expose();
  const counted = (name: string, type: string) =>
    text.includes(
      `apiserver_mutating_admission_policy_check_total{policy="${name}",policy_binding="${name}",error_type="${type}"} 1`,
    );
  expect([counted('p0', 'invalid_error'), counted('p1', 'no_error')]).toEqual([true, true]);
});
