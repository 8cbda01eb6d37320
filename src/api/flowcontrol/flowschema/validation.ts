// Rules of flow schemas (pkg/apis/flowcontrol/validation, ValidateFlowSchema).
import type * as flowcontrol from '#api/flowcontrol/v1';
import { type Path, root } from '#apimachinery/field';
import { isDNS1123Label, isDNS1123Subdomain } from '#apimachinery/validation';
import { semanticEqual } from '../../common/equality.ts';
import { internalForm } from '../../common/internal-form.ts';
import { isEmpty, type Report } from '../../common/report.ts';

const precedenceMax = 10_000;
const path = root('spec');
const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch'];

const everything = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
};
const groups = (...names: string[]): flowcontrol.Subject[] => names.map((name) => ({ kind: 'Group', group: { name } }));

/** Schemas that are always there and always the same. */
const fixed: Record<string, flowcontrol.FlowSchemaSpec> = {
  exempt: {
    priorityLevelConfiguration: { name: 'exempt' },
    matchingPrecedence: 1,
    rules: [{ subjects: groups('system:masters'), ...everything }],
  },
  'catch-all': {
    priorityLevelConfiguration: { name: 'catch-all' },
    matchingPrecedence: 10_000,
    distinguisherMethod: { type: 'ByUser' },
    rules: [{ subjects: groups('system:unauthenticated', 'system:authenticated'), ...everything }],
  },
};

export function validateFlowSchema(report: Report, { metadata: { name = '' }, spec }: flowcontrol.FlowSchema): void {
  const own: flowcontrol.FlowSchemaSpec = spec ?? { priorityLevelConfiguration: { name: '' } };
  validateSpec(report, name, own);
  const wanted = Object.hasOwn(fixed, name) ? fixed[name] : undefined;
  if (wanted && !semanticEqual(own, wanted))
    report.invalid(path, internalForm('flowcontrol.FlowSchemaSpec', own), `spec of '${name}' must equal the fixed value`);
}

function validateSpec(report: Report, name: string, spec: flowcontrol.FlowSchemaSpec): void {
  const { matchingPrecedence: precedence = 0, distinguisherMethod: method, priorityLevelConfiguration: level, rules } = spec;
  const at = path.child('matchingPrecedence');
  if (precedence <= 0) report.invalid(at, precedence, 'must be a positive value');
  if (precedence > precedenceMax) report.invalid(at, precedence, `must not be greater than ${precedenceMax}`);
  if (precedence === 1 && name !== 'exempt')
    report.invalid(at, precedence, "only the schema named 'exempt' may have matchingPrecedence 1");
  if (method && !['ByNamespace', 'ByUser'].includes(method.type)) {
    // Upstream shows the whole method, as its own types spell it.
    report.errors.push({
      type: 'FieldValueNotSupported',
      field: path.child('distinguisherMethod', 'type').toString(),
      badValue: { Type: method.type },
      detail: 'supported values: "ByNamespace", "ByUser"',
    });
  }
  const nameAt = path.child('priorityLevelConfiguration', 'name');
  if (isEmpty(level?.name)) report.required(nameAt, 'must reference a priority level');
  else report.problems(nameAt, level.name, isDNS1123Subdomain(level.name));
  rules?.forEach((rule, index) => validateRule(report, path.child('rules').index(index), rule));
}

function validateRule(report: Report, at: Path, rule: flowcontrol.PolicyRulesWithSubjects): void {
  const { subjects, resourceRules, nonResourceRules } = rule;
  if (isEmpty(subjects)) report.required(at.child('subjects'), 'subjects must contain at least one value');
  subjects?.forEach((subject, index) => validateSubject(report, at.child('subjects').index(index), subject));
  if (isEmpty(resourceRules) && isEmpty(nonResourceRules))
    report.required(at, 'at least one of resourceRules and nonResourceRules has to be non-empty');
  resourceRules?.forEach((one, index) => validateResourceRule(report, at.child('resourceRules').index(index), one));
  nonResourceRules?.forEach((one, index) => validateNonResourceRule(report, at.child('nonResourceRules').index(index), one));
}

const fieldOfKind: Record<string, 'serviceAccount' | 'user' | 'group'> = {
  ServiceAccount: 'serviceAccount',
  User: 'user',
  Group: 'group',
};

function validateSubject(report: Report, at: Path, subject: flowcontrol.Subject): void {
  const { kind } = subject;
  const own = Object.hasOwn(fieldOfKind, kind) ? fieldOfKind[kind] : undefined;
  if (!own) return report.notSupported(at.child('kind'), kind, ['Group', 'ServiceAccount', 'User']);
  const named = subject[own];
  if (!named) report.required(at.child(own), `${own} is required when subject kind is '${kind}'`);
  else if (own === 'serviceAccount')
    validateAccount(report, at.child(own), subject.serviceAccount ?? { name: '', namespace: '' });
  else if (isEmpty(named.name)) report.required(at.child(own, 'name'));
  const order = own === 'serviceAccount' ? (['user', 'group'] as const) : (['serviceAccount', 'user', 'group'] as const);
  for (const other of order) {
    if (other === own || !subject[other]) continue;
    const title = Object.keys(fieldOfKind).find((one) => fieldOfKind[one] === other) ?? '';
    report.forbidden(at.child(other), `${other} is forbidden when subject kind is not '${title}'`);
  }
}

function validateAccount(report: Report, at: Path, { name, namespace }: flowcontrol.ServiceAccountSubject): void {
  if (isEmpty(name)) report.required(at.child('name'));
  else if (name !== '*') report.problems(at.child('name'), name, isDNS1123Subdomain(name));
  if (isEmpty(namespace)) report.required(at.child('namespace'), 'must specify namespace for service account');
  else report.problems(at.child('namespace'), namespace, isDNS1123Label(namespace));
}

const isWild = (values: string[] | null | undefined): boolean => values?.includes('*') ?? false;

/** `*` stands alone. True: it is there. */
function validateWildcard(report: Report, at: Path, values: string[] | null | undefined, others: string): boolean {
  if (isWild(values) && (values?.length ?? 0) > 1)
    report.invalid(at, values, `if '*' is present, must not specify other ${others}`);
  return isWild(values);
}

function validateVerbs(report: Report, at: Path, given: string[] | null | undefined): void {
  if (isEmpty(given)) return report.required(at, 'verbs must contain at least one value');
  if (validateWildcard(report, at, given, 'verbs') || given?.every((verb) => verbs.includes(verb))) return;
  report.errors.push({
    type: 'FieldValueNotSupported',
    field: at.toString(),
    badValue: given,
    detail: `supported values: ${verbs.map((verb) => `"${verb}"`).join(', ')}`,
  });
}

function validateNonResourceRule(report: Report, at: Path, rule: flowcontrol.NonResourcePolicyRule): void {
  validateVerbs(report, at.child('verbs'), rule.verbs);
  const urls = at.child('nonResourceURLs');
  if (isEmpty(rule.nonResourceURLs)) return report.required(urls, 'nonResourceURLs must contain at least one value');
  if (validateWildcard(report, urls, rule.nonResourceURLs, 'non-resource URLs')) return;
  rule.nonResourceURLs?.forEach((url, index) => {
    const problem = urlProblem(url);
    if (problem !== undefined) report.invalid(urls.index(index), url, problem);
  });
}

function urlProblem(url: string): string | undefined {
  if (url === '') return 'must not be empty';
  if (url === '/') return undefined;
  if (!url.startsWith('/')) return 'must start with slash';
  if (url.includes(' ')) return 'must not contain white-space';
  if (url.includes('//')) return 'must not contain double slash';
  const stars = url.split('*').length - 1;
  return stars > 1 || (stars === 1 && !url.endsWith('/*')) ? 'wildcard can only do suffix matching' : undefined;
}

function validateResourceRule(report: Report, at: Path, rule: flowcontrol.ResourcePolicyRule): void {
  validateVerbs(report, at.child('verbs'), rule.verbs);
  for (const [field, one, others] of [
    ['apiGroups', 'api group', 'api groups'],
    ['resources', 'resource', 'resources'],
  ] as const) {
    if (isEmpty(rule[field])) report.required(at.child(field), `resource rules must supply at least one ${one}`);
    else validateWildcard(report, at.child(field), rule[field], others);
  }
  const { namespaces, clusterScope } = rule;
  const list = at.child('namespaces');
  if (isEmpty(namespaces) && !clusterScope)
    return report.required(list, 'resource rules that are not cluster scoped must supply at least one namespace');
  if (validateWildcard(report, list, namespaces, 'namespaces')) return;
  namespaces?.forEach((name, index) => {
    for (const problem of isDNS1123Label(name))
      report.invalid(list.index(index), name, `each member of this list must be '*' or a DNS-1123 label; ${problem}`);
  });
}
