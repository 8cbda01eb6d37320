// The configuration of PodSecurity (pod-security.admission.config.k8s.io): the policy of namespaces that say nothing, and who is exempt. Checked in upstream's
// words (k8s.io/pod-security-admission/admission/api/validation).
import { aggregate, duplicate, type FieldError, invalid, root } from '#apimachinery/field';
import { isDNS1123Label, isDNS1123Subdomain } from '#apimachinery/validation';
import { type Fields, type FieldsOf, readConfiguration } from '../../../configuration/index.ts';
import { type Level, levels, minorOf, type Policy } from './policy.ts';

export interface PodSecurityConfiguration {
  defaults: Policy;
  exemptions: { usernames: readonly string[]; namespaces: readonly string[]; runtimeClasses: readonly string[] };
}

const modes = ['enforce', 'warn', 'audit'] as const;
const defaultFields = {
  enforce: 'string',
  'enforce-version': 'string',
  audit: 'string',
  'audit-version': 'string',
  warn: 'string',
  'warn-version': 'string',
} as const;
const exemptionFields = { usernames: 'strings', namespaces: 'strings', runtimeClasses: 'strings' } as const;
const fields = { defaults: { object: defaultFields }, exemptions: { object: exemptionFields } } as const satisfies Fields;
const file = {
  group: 'pod-security.admission.config.k8s.io',
  kind: 'PodSecurityConfiguration',
  versions: ['v1', 'v1beta1', 'v1alpha1'],
  fields,
};

function readMode(given: FieldsOf<typeof defaultFields>, mode: (typeof modes)[number], errors: FieldError[]) {
  const { [mode]: level = '', [`${mode}-version` as const]: version = '' } = given;
  const known = levels.find((one) => one === (level || 'privileged'));
  const minor = minorOf(version || 'latest');
  if (!known) errors.push(invalid(root('defaults', mode), level, `must be one of ${levels.join(', ')}`));
  if (minor === null) errors.push(invalid(root('defaults', `${mode}-version`), version, 'must be "latest" or "v1.x"'));
  return { level: known ?? ('restricted' satisfies Level), minor: minor ?? undefined };
}

function checkNames(names: readonly string[], field: string, problems: (name: string) => readonly string[]): FieldError[] {
  const seen = new Set<string>();
  return names.flatMap((name, index) => {
    const path = root('exemptions', field).index(index);
    const found = problems(name);
    if (found.length > 0) return [invalid(path, name, found.join(', '))];
    if (seen.has(name)) return [duplicate(path, name)];
    seen.add(name);
    return [];
  });
}

/** Reads the configuration; without a text nothing is enforced. Throws an Error that lists what is wrong. */
export function podSecurityConfiguration(text: string | undefined): PodSecurityConfiguration {
  const { defaults = {}, exemptions = {} } = text === undefined ? {} : readConfiguration(text, file);
  const { usernames = [], namespaces = [], runtimeClasses = [] } = exemptions;
  const errors: FieldError[] = [];
  const [enforce, warn, audit] = modes.map((mode) => readMode(defaults, mode, errors)) as [
    Policy['enforce'],
    Policy['warn'],
    Policy['audit'],
  ];
  errors.push(
    ...checkNames(namespaces, 'namespaces', isDNS1123Label),
    ...checkNames(runtimeClasses, 'runtimeClasses', isDNS1123Subdomain),
    ...checkNames(usernames, 'usernames', (name) => (name === '' ? ['username must not be empty'] : [])),
  );
  if (errors.length > 0) throw new Error(aggregate(errors));
  return { defaults: { enforce, warn, audit }, exemptions: { usernames, namespaces, runtimeClasses } };
}
