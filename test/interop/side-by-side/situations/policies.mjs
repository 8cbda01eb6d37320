// Admission policies in CEL, validating and mutating, with parameters, conditions, variables, actions and bindings: what they refuse, change, warn of and tell of themselves.
import { configMap, deployment, patchTypes, pod } from './objects.mjs';

const base = '/apis/admissionregistration.k8s.io/v1';
const expressions = [
  "object.metadata.name != 'n1'", 'object.spec.replicas < 3', 'has(object.data) && object.data.size() < 2', "oldObject == null || oldObject.metadata.name == object.metadata.name", 'object.nothing == 1', "params.data.limit == 'x'", 'params != null', "request.operation == 'CREATE'", 'variables.labelled', "namespaceObject.metadata.name.startsWith('policies')",
  "authorizer.group('').resource('pods').namespace('x').check('get').allowed()", 'syntax (', "'text'", "object.spec.containers.all(c, c.image.matches('^[a-z]+$'))", "quantity('1Gi').isGreaterThan(quantity('500Mi'))", "object.metadata.labels[?'tier'].orValue('') == 'a'", 'object.metadata.creationTimestamp == null', "string(object.metadata.generation) == '1'", 'request.dryRun', "url('https://a.b/c').getHost() == 'a.b'",
];
const messages = [{}, { message: 'not so' }, { messageExpression: "'name is ' + object.metadata.name" }, { messageExpression: 'object.nothing' }, { message: 'kept', messageExpression: "''" }, { messageExpression: '1' }, { reason: 'Forbidden' }, { reason: 'Unauthorized', message: 'who' }, { reason: 'RequestEntityTooLarge' }, { reason: 'Bad' }, { message: 'a\nb' }];
const rules = [
  { apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps', 'pods'], operations: ['*'] },
  { apiGroups: ['*'], apiVersions: ['*'], resources: ['*'], operations: ['CREATE', 'UPDATE'] },
  { apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments', 'deployments/scale'], operations: ['CREATE', 'UPDATE'] },
  { apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['DELETE', 'CREATE'], resourceNames: ['n1'] },
];
const mutations = [
  { patchType: 'ApplyConfiguration', applyConfiguration: { expression: "Object{metadata: Object.metadata{labels: {'mutated': 'yes'}}}" } },
  { patchType: 'ApplyConfiguration', applyConfiguration: { expression: "Object{data: {'b': object.data[?'a'].orValue('none')}}" } },
  { patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{spec: Object.spec{replicas: 5}}' } },
  { patchType: 'JSONPatch', jsonPatch: { expression: "[JSONPatch{op: 'add', path: '/metadata/annotations', value: {'note': 'mutated'}}]" } },
  { patchType: 'JSONPatch', jsonPatch: { expression: "[JSONPatch{op: 'test', path: '/metadata/name', value: 'n1'}, JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('a/b'), value: 'x'}]" } },
  { patchType: 'JSONPatch', jsonPatch: { expression: "[JSONPatch{op: 'remove', path: '/nothing'}]" } },
  { patchType: 'ApplyConfiguration', applyConfiguration: { expression: "Object{metadata: Object.metadata{name: 'renamed'}}" } },
  { patchType: 'ApplyConfiguration', applyConfiguration: { expression: "Object{nothing: 1}" } },
  { patchType: 'JSONPatch', jsonPatch: { expression: '1' } },
  { patchType: 'ApplyConfiguration' },
];

function drawPolicy({ chance, name, kind, namespace }) {
  const rule = chance.pick(rules);
  const matchConstraints = { resourceRules: [rule], namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } }, ...(chance.chance(0.2) && { objectSelector: { matchLabels: { tier: 'a' } } }), ...(chance.chance(0.1) && { excludeResourceRules: [{ ...rule, resourceNames: ['n2'] }] }) };
  const shared = {
    matchConstraints,
    ...(chance.chance(0.3) && { failurePolicy: chance.pick(['Ignore', 'Fail']) }),
    ...(chance.chance(0.3) && { paramKind: chance.pick([{ apiVersion: 'v1', kind: 'ConfigMap' }, { apiVersion: 'nothing/v1', kind: 'Nothing' }]) }),
    ...(chance.chance(0.3) && { matchConditions: [{ name: 'one', expression: chance.pick(expressions) }] }),
    ...(chance.chance(0.5) && { variables: [{ name: 'labelled', expression: chance.pick(['has(object.metadata.labels)', 'object.nothing', 'variables.later']) }] }),
  };
  if (kind === 'mutating') return { metadata: { name }, spec: { ...shared, reinvocationPolicy: chance.pick(['Never', 'IfNeeded', 'Never']), mutations: Array.from({ length: chance.pick([1, 2]) }, () => chance.pick(mutations)) } };
  const validations = Array.from({ length: chance.pick([1, 2, 3]) }, () => ({ expression: chance.pick(expressions), ...chance.pick(messages) }));
  const audit = chance.chance(0.2) && { auditAnnotations: [{ key: 'one', valueExpression: chance.pick(["'value'", 'object.nothing', "object.metadata.name == 'n1' ? 'x' : null"]) }] };
  return { metadata: { name }, spec: { ...shared, validations, ...audit } };
}

function drawBinding({ chance, name, policyName, kind, namespace }) {
  const actions = chance.pick([['Deny'], ['Deny'], ['Warn'], ['Audit'], ['Warn', 'Audit'], ['Deny', 'Warn'], ['Deny', 'Audit'], [], ['Bad']]);
  const paramRef = chance.pick([undefined, { name: 'params', namespace, parameterNotFoundAction: 'Deny' }, { name: 'absent', namespace, parameterNotFoundAction: chance.pick(['Allow', 'Deny']) }, { selector: { matchLabels: { params: 'yes' } }, parameterNotFoundAction: 'Deny' }, { name: 'params', selector: {} }]);
  return { metadata: { name }, spec: { policyName, ...(kind === 'validating' && { validationActions: actions }), ...(paramRef && { paramRef }), ...(chance.chance(0.2) && { matchResources: { objectSelector: { matchLabels: { tier: 'a' } } } }) } };
}

export async function policies({ ask, both, chance, namespace, mark }) {
  const core = `/api/v1/namespaces/${namespace}`;
  await both('POST', `${core}/configmaps`, configMap('params', { metadata: { labels: { params: 'yes' } }, data: { limit: 'x' } }));
  for (let round = 0; round < 25; round += 1) {
    const made = [];
    for (const kind of chance.pick([['validating'], ['mutating'], ['validating', 'mutating']])) {
      const name = `${kind}-${round}-${mark}`;
      const path = `${base}/${kind}admissionpolicies`;
      const [theirs] = await ask('POST', path, drawPolicy({ chance, name, kind, namespace }));
      const binding = drawBinding({ chance, name, policyName: name, kind, namespace });
      const [bound] = await ask('POST', `${base}/${kind}admissionpolicybindings`, binding);
      if (theirs.status === 201) made.push(`${path}/${name}`);
      if (bound.status === 201) made.push(`${base}/${kind}admissionpolicybindings/${name}`);
    }
    // Upstream collects its policies twice a second or so.
    await new Promise((resume) => setTimeout(resume, 1500));
    for (let step = 0; step < 7; step += 1) await write({ ask, chance, core, namespace });
    for (const path of made) await ask('GET', path);
    for (const path of made) await both('DELETE', path);
    await new Promise((resume) => setTimeout(resume, 700));
  }
}

async function write({ ask, chance, core, namespace }) {
  const name = `n${chance.below(3)}`;
  const [path, make] = chance.pick([[`${core}/configmaps`, configMap], [`${core}/pods`, pod], [`/apis/apps/v1/namespaces/${namespace}/deployments`, deployment]]);
  const dry = chance.chance(0.3) ? '?dryRun=All' : '';
  const metadata = { labels: { tier: chance.pick(['a', 'b']) } };
  const way = chance.below(6);
  if (way < 3) await ask('POST', `${path}${dry}`, make(name, { metadata }));
  if (way === 3) await ask('PATCH', `${path}/${name}${dry}`, { metadata }, { type: chance.pick([patchTypes.merge, patchTypes.strategic]) });
  if (way === 4) await ask('PATCH', `${path}/${name}?fieldManager=me&force=true`, make(name, { metadata }), { type: patchTypes.apply });
  if (way === 5) await ask('DELETE', `${path}/${name}${dry}`);
  await ask('GET', `${path}/${name}`);
}
