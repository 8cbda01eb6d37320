// An audit policy from the text of its file (k8s.io/apiserver/pkg/audit/policy, LoadPolicyFromBytes): unknown fields are only warned of.
import { parseYaml } from '#apimachinery/codec';
import { aggregate } from '#apimachinery/field';
import { parseApiVersion } from '#apimachinery/meta';
import { quote } from '#utils';
import type { GroupResources, Policy, PolicyRule } from './policy.ts';
import { policyErrors } from './validation.ts';

/** What a field holds: a text, a switch, texts, anything, or objects of that shape. */
type Shape = 'text' | 'flag' | 'texts' | 'any' | { readonly each: Fields };
type Fields = Readonly<Record<string, Shape>>;

const groupFields = { group: 'text', resources: 'texts', resourceNames: 'texts' } as const satisfies Record<
  keyof GroupResources,
  Shape
>;
const ruleFields = {
  level: 'text',
  users: 'texts',
  userGroups: 'texts',
  verbs: 'texts',
  resources: { each: groupFields },
  namespaces: 'texts',
  nonResourceURLs: 'texts',
  omitStages: 'texts',
  omitManagedFields: 'flag',
} as const satisfies Record<keyof PolicyRule, Shape>;
const policyFields: Fields = {
  apiVersion: 'text',
  kind: 'text',
  metadata: 'any',
  rules: { each: ruleFields },
  omitStages: 'texts',
  omitManagedFields: 'flag',
};

const goKinds: Record<string, string> = { boolean: 'bool', number: 'number', string: 'string' };
const goKind = (value: unknown): string => (Array.isArray(value) ? 'array' : (goKinds[typeof value] ?? 'object'));

/** Go's name of the struct a field is in. */
const structOf = (path: string): string =>
  /\.resources\[\d+\]\./.test(path) ? 'GroupResources' : path.includes('].') ? 'PolicyRule' : 'Policy';

function checkType(value: unknown, go: string, right: boolean, path: string): void {
  if (right) return;
  const type = path.endsWith('.level') ? 'v1.Level' : go;
  const field = `${structOf(path)}.${path.replace(/\[\d+\]/g, '')}`;
  throw new Error(`failed decoding: json: cannot unmarshal ${goKind(value)} into Go struct field ${field} of type ${type}`);
}

function readField(value: unknown, shape: Shape, path: string, unknown: string[]): unknown {
  if (shape === 'any') return value;
  if (shape === 'text') checkType(value, 'string', typeof value === 'string', path);
  else if (shape === 'flag') checkType(value, 'bool', typeof value === 'boolean', path);
  else if (shape === 'texts') {
    checkType(value, '[]string', Array.isArray(value), path);
    for (const item of value as unknown[]) checkType(item, 'string', typeof item === 'string', path);
  } else {
    checkType(value, 'slice', Array.isArray(value), path);
    return (value as unknown[]).map((item, at) => readFields(item, shape.each, `${path}[${at}]`, unknown));
  }
  return value;
}

function readFields(value: unknown, fields: Fields, path: string, unknown: string[]): Record<string, unknown> {
  if (value === null || value === undefined) return {};
  checkType(value, 'struct', typeof value === 'object' && !Array.isArray(value), path);
  const out: Record<string, unknown> = {};
  for (const [name, given] of Object.entries(value)) {
    const at = path === '' ? name : `${path}.${name}`;
    const shape = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (shape === undefined) unknown.push(`unknown field ${quote(at)}`);
    else if (given !== null) out[name] = readField(given, shape, at, unknown);
  }
  return out;
}

function checkKind(value: unknown): void {
  const { apiVersion = '', kind = 'Policy' } = (value ?? {}) as { apiVersion?: unknown; kind?: unknown };
  const fail = (why: string): never => {
    throw new Error(`failed decoding: ${why}`);
  };
  if (apiVersion === '') throw new Error(`unknown group version field audit.k8s.io/__internal, Kind=${String(kind)} in policy`);
  const { group, version } = parseApiVersion(String(apiVersion));
  if (group === 'audit.k8s.io' && version === 'v1') {
    if (kind === 'Policy') return;
    if (kind === 'Event' || kind === 'EventList' || kind === 'PolicyList')
      fail(`converting (v1.${kind}) to (audit.Policy): unknown conversion`);
  }
  fail(
    `no kind ${quote(String(kind))} is registered for version ${quote(String(apiVersion))} in scheme "pkg/runtime/scheme.go:111"`,
  );
}

/** Throws an Error in upstream's words. `warn` hears of fields that are not known. */
export function readPolicy(text: string, warn: (problem: string) => void): Policy {
  let value: unknown;
  try {
    ({ value } = parseYaml(text));
  } catch (error) {
    throw new Error(`failed decoding: ${(error as Error).message}`, { cause: error });
  }
  checkKind(value);
  const unknown: string[] = [];
  const read = readFields(value, policyFields, '', unknown) as unknown as Partial<Policy>;
  if (unknown.length > 0)
    warn(`Audit policy contains errors, falling back to lenient decoding: strict decoding error: ${unknown.join(', ')}`);
  const rules = (read.rules ?? []).map((rule) => ({ ...rule, level: rule.level ?? ('' as never) }));
  const policy: Policy = { ...read, rules };
  const problems = policyErrors(policy);
  if (problems.length > 0) throw new Error(aggregate(problems));
  if (rules.length === 0) throw new Error('loaded illegal policy with 0 rules');
  return policy;
}
