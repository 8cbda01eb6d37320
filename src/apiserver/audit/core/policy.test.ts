import { describe, expect, it } from 'vitest';
import { createEvaluator, type PolicyRule } from './policy.ts';
import { readPolicy } from './read-policy.ts';

const alice = { name: 'alice', groups: ['dev', 'system:authenticated'] };
const ask = (more: Partial<Parameters<ReturnType<typeof createEvaluator>>[0]> & { res?: string; ns?: string; name?: string }) => {
  const { res, ns = 'default', name = '', ...rest } = more;
  const [group = '', whole = ''] = res?.split(':') ?? [];
  const [resource = '', subresource = ''] = whole.split('/');
  return {
    user: alice,
    verb: 'get',
    ...(res !== undefined && { target: { group, version: 'v1', resource, subresource, namespace: ns, name } }),
    ...rest,
  };
};

describe('the first rule that matches decides', () => {
  const cases: [name: string, rule: Omit<PolicyRule, 'level'>, asked: ReturnType<typeof ask>, matches: boolean][] = [
    ['anything', {}, ask({ res: ':pods' }), true],
    ['a user', { users: ['bob'] }, ask({ res: ':pods' }), false],
    ['nobody recognised', { users: ['alice'] }, ask({ user: undefined, res: ':pods' }), false],
    ['a group', { userGroups: ['ops', 'dev'] }, ask({ res: ':pods' }), true],
    ['a verb', { verbs: ['list'] }, ask({ res: ':pods' }), false],
    ['a namespace', { namespaces: ['kube-system'] }, ask({ res: ':pods' }), false],
    ['no namespace', { namespaces: [''] }, ask({ res: ':nodes', ns: '' }), true],
    ['core by an empty group', { resources: [{}] }, ask({ res: 'apps:deployments' }), false],
    ['all groups', { resources: [{ group: '*' }] }, ask({ res: 'apps:deployments' }), true],
    ['a resource, not its subresources', { resources: [{ resources: ['pods'] }] }, ask({ res: ':pods/log' }), false],
    ['a subresource', { resources: [{ resources: ['pods/log'] }] }, ask({ res: ':pods/log' }), true],
    ['all of a resource', { resources: [{ resources: ['pods/*'] }] }, ask({ res: ':pods/exec' }), true],
    ['a subresource of all', { resources: [{ resources: ['*/scale'] }] }, ask({ res: ':replicationcontrollers/scale' }), true],
    ['a name', { resources: [{ resources: ['pods'], resourceNames: ['a'] }] }, ask({ res: ':pods', name: 'b' }), false],
    ['a path', { nonResourceURLs: ['/healthz*'] }, ask({ path: '/healthz/etcd' }), true],
    ['a path is no resource', { nonResourceURLs: ['*'] }, ask({ res: ':pods' }), false],
    ['a resource is no path', { resources: [{}] }, ask({ path: '/version' }), false],
  ];
  it.each(cases)('%s', (_, rule, asked, matches) => {
    const evaluate = createEvaluator({ rules: [{ level: 'Request', ...rule }, { level: 'Metadata' }] });
    expect(evaluate(asked).level).toBe(matches ? 'Request' : 'Metadata');
  });

  it('says None where no rule matches; stages are omitted by policy and rule, managed fields by the nearer of both', () => {
    const evaluate = createEvaluator({
      rules: [{ level: 'Request', users: ['alice'], omitStages: ['Panic'], omitManagedFields: false }],
      omitStages: ['RequestReceived'],
      omitManagedFields: true,
    });
    const { level, omitStages, omitManagedFields } = evaluate(ask({ res: ':pods' }));
    expect([level, [...omitStages].sort(), omitManagedFields]).toEqual(['Request', ['Panic', 'RequestReceived'], false]);
    expect(evaluate(ask({ user: undefined, path: '/' }))).toMatchObject({ level: 'None', omitManagedFields: true });
  });
});

describe('a policy file', () => {
  const head = 'apiVersion: audit.k8s.io/v1\nkind: Policy\n';
  const refusals: [text: string, why: string][] = [
    [head, 'loaded illegal policy with 0 rules'],
    ['kind: Policy\nrules: [{level: None}]', 'unknown group version field audit.k8s.io/__internal, Kind=Policy in policy'],
    [
      'apiVersion: audit.k8s.io/v1beta1\nkind: Policy\nrules: [{level: None}]',
      'failed decoding: no kind "Policy" is registered for version "audit.k8s.io/v1beta1" in scheme "pkg/runtime/scheme.go:111"',
    ],
    ['apiVersion: audit.k8s.io/v1\nkind: Event', 'failed decoding: converting (v1.Event) to (audit.Policy): unknown conversion'],
    [
      `${head}rules: [{level: 5}]`,
      'failed decoding: json: cannot unmarshal number into Go struct field PolicyRule.rules.level of type v1.Level',
    ],
    [
      `${head}rules: [{level: Foo}]`,
      'rules[0].level: Unsupported value: "Foo": supported values: "None", "Metadata", "Request", "RequestResponse"',
    ],
    [
      `${head}rules: [{}, {level: None, nonResourceURLs: [a, /a*b], namespaces: [x]}]`,
      '[rules[0].level: Required value, rules[1].nonResourceURLs[0]: Invalid value: "a": non-resource URL rules must begin with a \'/\' character, rules[1].nonResourceURLs[1]: Invalid value: "/a*b": non-resource URL wildcards \'*\' must be the final character of the rule, rules[1].nonResourceURLs: Invalid value: ["a","/a*b"]: rules cannot apply to both regular resources and non-resource URLs]',
    ],
    [
      `${head}rules: [{level: None, resources: [{resourceNames: [x]}], omitStages: [X]}]`,
      '[rules[0].resources.resourceNames: Invalid value: ["x"]: using resourceNames requires at least one resource, rules[0].omitStages[0]: Invalid value: "X": allowed stages are RequestReceived,ResponseStarted,ResponseComplete,Panic]',
    ],
  ];
  it.each(refusals)('is refused: %s', (text, why) => {
    expect(() => readPolicy(text, () => undefined)).toThrow(new Error(why));
  });

  it('may have fields that are not known: they are told', () => {
    const told: string[] = [];
    const policy = readPolicy(`${head}rules: [{level: None, foo: bar}]\nrulez: 1`, (text) => told.push(text));
    expect(policy.rules).toEqual([{ level: 'None' }]);
    expect(told).toEqual([
      'Audit policy contains errors, falling back to lenient decoding: strict decoding error: unknown field "rules[0].foo", unknown field "rulez"',
    ]);
  });
});
