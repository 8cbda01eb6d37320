// The grammars of values that are no names: ports, percentages, variables, keys, paths (k8s.io/apimachinery/pkg/util/validation).
import { type FieldError, invalid, type Path, required } from '../field/index.ts';
import {
  dns1123SubdomainMaxLength,
  isDNS1123Label,
  isDNS1123Subdomain,
  isInRange,
  isQualifiedName,
  type Problems,
} from './names.ts';
import { byteLength, emptyError, maxLenError, regexError } from './texts.ts';

const rule = (pattern: string, message: string, ...examples: string[]): ((value: string) => Problems) => {
  const regex = new RegExp(`^(?:${pattern})$`);
  return (value) => (regex.test(value) ? [] : [regexError(message, pattern, ...examples)]);
};

export const isPortNumber = (port: number): Problems => isInRange(port, 1, 65535);

const maxInt32 = 2147483647;
export const isUserID = (id: number): Problems => isInRange(id, 0, maxInt32);
export const isGroupID = (id: number): Problems => isInRange(id, 0, maxInt32);

/** An IANA service name (RFC 6335). */
export function isPortName(name: string): Problems {
  const problems: Problems = [];
  if (byteLength(name) > 15) problems.push(maxLenError(15));
  if (!/^[-a-z0-9]+$/.test(name)) problems.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  if (!/[a-z]/.test(name)) problems.push('must contain at least one letter (a-z)');
  if (name.includes('--')) problems.push('must not contain consecutive hyphens');
  if (name.startsWith('-') || name.endsWith('-')) problems.push('must not begin or end with a hyphen');
  return problems;
}

export const isPercent = rule(
  '[0-9]+%',
  "a valid percent string must be a numeric string followed by an ending '%'",
  '1%',
  '93%',
);

export const isHTTPHeaderName = rule(
  '[-A-Za-z0-9]+',
  "a valid HTTP header must consist of alphanumeric characters or '-'",
  'X-Header-Name',
);

export const isCIdentifier = rule(
  '[A-Za-z_][A-Za-z0-9_]*',
  "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'",
  'my_name',
  'MY_NAME',
  'MyName',
);

const dotDotProblems = (value: string): Problems => {
  if (value === '.' || value === '..') return [`must not be '${value}'`];
  return value.startsWith('..') ? ["must not start with '..'"] : [];
};

const envVarName = rule(
  '[-._a-zA-Z][-._a-zA-Z0-9]*',
  "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not start with a digit",
  'my.env-name',
  'MY_ENV.NAME',
  'MyEnvName1',
);

/** Says why a text is no name of an environment variable, by the rule before RelaxedEnvironmentVariableValidation. */
export const isEnvVarName = (value: string): Problems => [...envVarName(value), ...dotDotProblems(value)];

/** Printable ASCII without '=': the rule since RelaxedEnvironmentVariableValidation is on. */
export function isRelaxedEnvVarName(value: string): Problems {
  if (value === '') return [`environment variable name ${emptyError}`];
  return /^[ -<>-~]*$/.test(value)
    ? []
    : ["a valid environment variable name must consist only of printable ASCII characters other than '='"];
}

const configMapKey = rule(
  '[-._a-zA-Z0-9]+',
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
  'key.name',
  'KEY_NAME',
  'key-name',
);

/** A key of a ConfigMap's or Secret's data. */
export function isConfigMapKey(value: string): Problems {
  const tooLong = byteLength(value) > dns1123SubdomainMaxLength ? [maxLenError(dns1123SubdomainMaxLength)] : [];
  return [...tooLong, ...configMapKey(value), ...dotDotProblems(value)];
}

/** An integer as Go prints one: no sign but '-', no leading zeros. */
export function isDecimalInteger(value: string): Problems {
  if (value === '') return [emptyError];
  return /^(0|-?[1-9][0-9]*)$/.test(value) ? [] : ['must be a valid decimal integer in canonical form'];
}

/** A subdomain of at least three segments (finalizer and signer domains). */
export function validateFullyQualifiedName(path: Path, name: string): FieldError[] {
  if (name === '') return [required(path, '')];
  const problems = isDNS1123Subdomain(name);
  if (problems.length > 0) return [invalid(path, name, problems.join(','))];
  return name.split('.').length < 3
    ? [invalid(path, name, 'should be a domain with at least three segments separated by dots')]
    : [];
}

/** A DNS name of at least two labels; one trailing dot is allowed. */
export function validateFullyQualifiedDomainName(path: Path, name: string): FieldError[] {
  if (name === '') return [required(path, '')];
  const domain = name.endsWith('.') ? name.slice(0, -1) : name;
  const problems = isDNS1123Subdomain(domain);
  if (problems.length > 0) return [invalid(path, domain, problems.join(','))];
  const labels = domain.split('.');
  if (labels.length < 2) return [invalid(path, domain, 'should be a domain with at least two segments separated by dots')];
  for (const label of labels) {
    const labelProblems = isDNS1123Label(label);
    if (labelProblems.length > 0) return [invalid(path, label, labelProblems.join(','))];
  }
  return [];
}

const httpPath = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";
const httpPathRegex = new RegExp(`^${httpPath}$`);

/** Requires a text such as `acme.io/foo`, whose path is free within what a URL allows. */
export function validateDomainPrefixedPath(path: Path, value: string): FieldError[] {
  if (value === '') return [required(path, '')];
  const slash = value.indexOf('/');
  if (slash <= 0 || slash === value.length - 1)
    return [invalid(path, value, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  const host = value.slice(0, slash);
  const rest = value.slice(slash + 1);
  const errors = isDNS1123Subdomain(host).map((problem) => invalid(path, host, problem));
  if (!httpPathRegex.test(rest)) errors.push(invalid(path, rest, regexError('Invalid path', httpPath)));
  return errors;
}

/** A qualified name whose prefix must be there. */
export function validateDomainPrefixedKey(path: Path, key: string): FieldError[] {
  if (key === '') return [required(path, '')];
  const errors = isQualifiedName(key).map((problem) => invalid(path, key, problem));
  if (errors.length === 0 && !key.includes('/'))
    return [invalid(path, key, 'must be a domain-prefixed key (such as "acme.io/foo")')];
  return errors;
}
