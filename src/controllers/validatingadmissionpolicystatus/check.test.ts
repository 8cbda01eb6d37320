import { describe, expect, it } from 'vitest';
import type { ValidatingAdmissionPolicySpec } from '#api/admissionregistration/v1';
import { type CheckedKind, TypeChecker } from './check.ts';
import { reconcilePolicy } from './index.ts';
import { kindText, resourcesOfRules, sortedKinds } from './kinds.ts';
import { typeOf } from './schemas.ts';

const string = { type: 'string' };
const deployment = { group: 'apps', version: 'v1', kind: 'Deployment' };
const ref = (name: string) => ({ allOf: [{ $ref: `#/components/schemas/${name}` }], default: {} });
const document = {
  components: {
    schemas: {
      Deployment: {
        type: 'object',
        properties: { apiVersion: string, kind: string, metadata: ref('Meta'), spec: ref('Spec') },
        'x-kubernetes-group-version-kind': [deployment],
      },
      Meta: { type: 'object', properties: { name: string, labels: { type: 'object', additionalProperties: string } } },
      Spec: {
        type: 'object',
        properties: {
          replicas: { type: 'integer', format: 'int32' },
          maxSurge: { oneOf: [{ type: 'integer' }, string], format: 'int-or-string' },
          again: ref('Spec'),
        },
      },
      Lost: {
        type: 'object',
        properties: { a: ref('Nowhere') },
        'x-kubernetes-group-version-kind': [{ ...deployment, kind: 'Lost' }],
      },
    },
  },
};
const checked = (): CheckedKind => {
  const type = typeOf(document, deployment);
  return { kind: deployment, type: type ?? expect.fail('no type') };
};
const warningsOf = (spec: ValidatingAdmissionPolicySpec) => new TypeChecker(spec, [checked()], undefined).warningsOf(0);
const warningOf = (expression: string, more: ValidatingAdmissionPolicySpec = {}): string | undefined =>
  warningsOf({ ...more, validations: [{ expression }] })[0]?.warning;

describe('expressions of a policy', () => {
  it.each([
    'object.spec.replicas > 1',
    "object.metadata.labels['app'] == 'web' && object.metadata.name.startsWith('a')",
    "object.spec.maxSurge == '25%' || object.spec.maxSurge == 1",
    'oldObject == null || object.spec.replicas >= oldObject.spec.replicas',
    "authorizer.group('').resource('pods').check('get').allowed() && request.name != ''",
  ])('that fit say nothing: %s', (expression) => expect(warningOf(expression)).toBeUndefined());
  it.each([
    ["object.spec.replicas > '1'", "found no matching overload for '_>_' applied to '(int, string)'"],
    ['object.spec.replica > 1', "undefined field 'replica'"],
    ['object.spec.again.replicas > 1', "undefined field 'replicas'"],
    ["variables.count + 'a' == ''", "found no matching overload for '_+_' applied to '(int, string)'"],
    ['params.a == 1', "undeclared reference to 'params'"],
  ])('that do not fit are told of: %s', (expression, problem) => {
    const warning = warningOf(expression, { variables: [{ name: 'count', expression: 'object.spec.replicas' }] });
    expect(warning).toMatch(/^apps\/v1, Kind=Deployment: compilation failed: ERROR: <input>:1:/);
    expect(warning).toContain(problem);
    expect(warning).toMatch(/\n$/);
  });
  it('are named by their fields', () => {
    const validations = [{ expression: "object.spec.replicas > '1'", messageExpression: "'got ' + object.spec.replicas" }];
    expect(warningsOf({ validations }).map(({ fieldRef }) => fieldRef)).toEqual([
      'spec.validations[0].expression',
      'spec.validations[0].messageExpression',
    ]);
  });
  it('with parameters of no known type see anything', () =>
    expect(warningOf('params.a.b == 1', { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } })).toBeUndefined());
});

describe('the kinds of a policy', () => {
  const rule = (apiGroups: string[], apiVersions: string[], resources: string[]) => ({
    operations: ['CREATE'],
    apiGroups,
    apiVersions,
    resources,
  });
  it('are those that its rules name one by one', () => {
    const resourceRules = [
      rule(['apps'], ['v1'], ['statefulsets', 'deployments', 'deployments/scale', '*']),
      rule(['*'], ['v1'], ['pods']),
      rule([''], ['*'], ['pods']),
    ];
    const named = resourcesOfRules({ matchConstraints: { resourceRules } });
    expect(named.map((some) => some.map(({ resource }) => resource))).toEqual([['deployments', 'statefulsets'], [], []]);
    expect(resourcesOfRules({})).toEqual([]);
    expect(sortedKinds([deployment, { group: '', version: 'v1', kind: 'Pod' }, deployment]).map(kindText)).toEqual([
      '/v1, Kind=Pod',
      'apps/v1, Kind=Deployment',
    ]);
  });
  it.each([
    [null],
    [{}],
    [{ components: { schemas: { a: null } } }],
    [{ components: { schemas: { a: { 'x-kubernetes-group-version-kind': 7 } } } }],
  ])('have no type in a document like %j', (odd) => expect(typeOf(odd, deployment)).toBeUndefined());
  it('have no type where the document refers to nothing, or unfolds without end', () => {
    expect(typeOf(document, { ...deployment, kind: 'Lost' })).toBeUndefined();
    const level = (at: number) => ({
      type: 'object',
      properties: Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [name, ref(`L${at + 1}`)])),
    });
    const schemas = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`L${at}`, level(at)]));
    Object.assign(schemas.L0 as object, { 'x-kubernetes-group-version-kind': [deployment] });
    expect(typeOf({ components: { schemas: { ...schemas, L30: string } } }, deployment)).toBeUndefined();
  });
});

describe('a policy', () => {
  const policy = (generation: number, observedGeneration?: number) => ({
    metadata: { name: 'a', generation },
    status: { ...(observedGeneration !== undefined && { observedGeneration }) },
  });
  it('is checked once for each generation', () => {
    expect(reconcilePolicy(policy(1)).effects).toHaveLength(1);
    expect(reconcilePolicy(policy(2, 1)).effects).toHaveLength(1);
    expect(reconcilePolicy(policy(2, 2)).effects).toEqual([]);
    expect(reconcilePolicy(undefined).effects).toEqual([]);
  });
});
