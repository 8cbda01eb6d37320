import { expect, test } from 'vitest';
import type { UnknownObject } from '#apimachinery/meta';
import { seededRng, silentLogger, type Clock } from '#utils';
import { MemoryCluster } from '../../../registry/test-support/memory-cluster.ts';
import type { Decision } from '../../../authorization/types.ts';
import type { AdmissionRequest } from '../../../registry/generic/admission.ts';
import { defaultPluginOptions } from '../../plugin.ts';
import { validatingAdmissionPolicy } from './index.ts';

const clock: Clock = { now: () => 0, monotonic: () => 0, setTimer: () => ({ cancel() {} }), sleep: async () => {} };
const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['configmaps'] }];

async function answer(spec: object, binding: object = {}, more: { data?: object; allowed?: boolean; params?: object[] } = {}) {
  const cluster = new MemoryCluster();
  const put = (group: string, resource: string, value: object) => cluster.put(group, resource, value as UnknownObject);
  put('', 'namespaces', { metadata: { name: 'ns', labels: { team: 'a' } } });
  for (const param of more.params ?? []) put('', 'configmaps', param);
  const group = 'admissionregistration.k8s.io';
  const policy = { matchConstraints: { resourceRules: rules }, ...spec };
  put(group, 'validatingadmissionpolicies', { metadata: { name: 'p', uid: 'u', generation: 1 }, spec: policy });
  const bound = { policyName: 'p', validationActions: ['Deny'], ...binding };
  put(group, 'validatingadmissionpolicybindings', { metadata: { name: 'b' }, spec: bound });
  const plugin = validatingAdmissionPolicy({
    cluster,
    writer: cluster,
    authorizer: { authorize: async (): Promise<Decision> => ({ allowed: more.allowed ?? false, reason: '' }) },
    clock,
    rng: seededRng(1),
    logger: silentLogger,
    options: defaultPluginOptions,
  });
  const warnings: string[] = [];
  const request: AdmissionRequest = {
    operation: 'CREATE',
    user: { name: 'jane', groups: [] },
    group: '',
    version: 'v1',
    resource: 'configmaps',
    subresource: '',
    kind: 'ConfigMap',
    namespace: 'ns',
    name: 'c',
    object: { metadata: { name: 'c', namespace: 'ns' }, data: more.data ?? { k: 'v' } },
    options: {},
    dryRun: false,
    warn: (message) => void warnings.push(message),
  };
  try {
    await plugin.validate?.(request);
    return warnings[0] ?? 'fine';
  } catch (error) {
    const { code, message = '' } = (error as { status: { code: number; message?: string } }).status;
    return `${code} ${message.replace(/^.* denied request: /, '')}`;
  }
}

const fails = { validations: [{ expression: 'false', message: 'no' }] };
const ref = (more: object) => ({ paramRef: { parameterNotFoundAction: 'Deny', ...more } });
const withParam = { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' }, validations: [{ expression: "params.data.max == '1'" }] };
const param = { metadata: { name: 'x', namespace: 'ns', labels: { a: 'b' } }, data: { max: '1' } };
const asks = { validations: [{ expression: "authorizer.group('').resource('pods').check('list').allowed()", message: 'asked' }] };

test.each([
  ['message', fails, {}, {}, '422 no'],
  ['reason', { validations: [{ expression: 'false', reason: 'Forbidden' }] }, {}, {}, '403 failed expression: false'],
  ['other namespace', fails, { matchResources: { namespaceSelector: { matchLabels: { team: 'b' } } } }, {}, 'fine'],
  ['excluded', { ...fails, matchConstraints: { resourceRules: rules, excludeResourceRules: rules } }, {}, {}, 'fine'],
  ['resource names', { ...fails, matchConstraints: { resourceRules: [{ ...rules[0], resourceNames: ['d'] }] } }, {}, {}, 'fine'],
  ['condition', { ...fails, matchConditions: [{ name: 'n', expression: "object.kind == 'Secret'" }] }, {}, {}, 'fine'],
  [
    'warning',
    fails,
    { validationActions: ['Warn', 'Audit'] },
    {},
    "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': no",
  ],
  [
    'variables',
    {
      variables: [{ name: 'n', expression: 'size(object.data)' }],
      validations: [{ expression: 'variables.n > 1', messageExpression: "'only ' + string(variables.n)" }],
    },
    {},
    {},
    '422 only 1',
  ],
  [
    'error',
    { validations: [{ expression: "object.data.x == ''" }] },
    {},
    {},
    "422 expression 'object.data.x == ''' resulted in error: no such key: x",
  ],
  ['error ignored', { failurePolicy: 'Ignore', validations: [{ expression: "object.data.x == ''" }] }, {}, {}, 'fine'],
  ['namespace', { validations: [{ expression: "namespaceObject.metadata.labels.team == 'a'" }] }, {}, {}, 'fine'],
  ['param by name', withParam, ref({ name: 'x' }), { params: [param] }, 'fine'],
  [
    'param by label',
    withParam,
    ref({ selector: {} }),
    { params: [{ ...param, data: { max: '2' } }] },
    "422 failed expression: params.data.max == '1'",
  ],
  [
    'no param',
    withParam,
    ref({ name: 'y' }),
    { params: [param] },
    '422 failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction',
  ],
  ['no param, allowed', withParam, ref({ name: 'y', parameterNotFoundAction: 'Allow' }), {}, 'fine'],
  ['authorizer that takes time, no', asks, {}, {}, '422 asked'],
  ['authorizer that takes time, yes', asks, {}, { allowed: true }, 'fine'],
])('%s', async (_name, spec, binding, more, expected) => {
  expect(await answer(spec, binding, more)).toBe(expected);
});
