// The grammars of names (k8s.io/apimachinery/pkg/util/validation). Each check returns the problems as messages: none means valid.
import { byteLength, emptyError, inclusiveRangeError, maxBytesError, maxLenError, regexError } from './texts.ts';

/** What is wrong with a name; empty where it is valid. */
export type Problems = string[];

const whole = (pattern: string): RegExp => new RegExp(`^(?:${pattern})$`);

export const dns1123LabelMaxLength = 63;
export const dns1123SubdomainMaxLength = 253;
export const labelValueMaxLength = 63;

const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const labelRegex = whole(label);
const labelMessage =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
const subdomain = `${label}(\\.${label})*`;
const subdomainRegex = whole(subdomain);
const subdomainMessage =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";

/** One DNS label (RFC 1123), lower case. */
export function isDNS1123Label(value: string): Problems {
  const problems: Problems = [];
  if (byteLength(value) > dns1123LabelMaxLength) problems.push(maxLenError(dns1123LabelMaxLength));
  if (!labelRegex.test(value)) {
    problems.push(subdomainRegex.test(value) ? 'must not contain dots' : regexError(labelMessage, label, 'my-name', '123-abc'));
  }
  return problems;
}

/** Dot separated DNS labels, lower case: the default for object names. */
export function isDNS1123Subdomain(value: string): Problems {
  return limited(value, subdomainRegex, () => regexError(subdomainMessage, subdomain, 'example.com'));
}

const limited = (value: string, regex: RegExp, message: () => string): Problems => {
  const problems: Problems = [];
  if (byteLength(value) > dns1123SubdomainMaxLength) problems.push(maxLenError(dns1123SubdomainMaxLength));
  if (!regex.test(value)) problems.push(message());
  return problems;
};

const caselessRegex = new RegExp(`^(?:${subdomain})$`, 'i');
const caselessMessage =
  "an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";

/** Says why a name is no DNS subdomain, with letters in either case. */
export function isDNS1123SubdomainCaseless(value: string): Problems {
  const problems: Problems = [];
  if (byteLength(value) > dns1123SubdomainMaxLength) problems.push(maxBytesError(dns1123SubdomainMaxLength));
  if (!caselessRegex.test(value)) problems.push(regexError(caselessMessage, subdomain, 'Example.com'));
  return problems;
}

const underscoreLabel = '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const underscoreSubdomain = `${underscoreLabel}(\\.${underscoreLabel})*`;
const underscoreRegex = whole(underscoreSubdomain);
const underscoreMessage =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character";

/** A subdomain whose labels may hold underscores (DNS search paths). */
export function isDNS1123SubdomainWithUnderscore(value: string): Problems {
  return limited(value, underscoreRegex, () => regexError(underscoreMessage, underscoreSubdomain, 'example.com'));
}

const wildcard = `\\*\\.${subdomain}`;
const wildcardRegex = whole(wildcard);
const wildcardMessage =
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character";

/** Says why a name is not `*.` and a DNS subdomain. */
export function isWildcardDNS1123Subdomain(value: string): Problems {
  return limited(value, wildcardRegex, () => regexError(wildcardMessage, wildcard, '*.example.com'));
}

const dns1035Label = '[a-z]([-a-z0-9]*[a-z0-9])?';
const dns1035Regex = whole(dns1035Label);
const dns1035Message =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character";

/** One DNS label that starts with a letter (RFC 1035): service names. */
export function isDNS1035Label(value: string): Problems {
  const problems: Problems = [];
  if (byteLength(value) > dns1123LabelMaxLength) problems.push(maxLenError(dns1123LabelMaxLength));
  if (!dns1035Regex.test(value)) problems.push(regexError(dns1035Message, dns1035Label, 'my-name', 'abc-123'));
  return problems;
}

const qualified = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const qualifiedRegex = whole(qualified);
const qualifiedMessage =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const qualifiedRule = (): string => regexError(qualifiedMessage, qualified, 'MyName', 'my.name', '123-abc');

/** A label key or similar: a name with an optional DNS subdomain and '/' before it. */
export function isQualifiedName(value: string): Problems {
  const slash = value.indexOf('/');
  // Most are good, and objects may have tens of thousands. What the pattern takes has as many bytes as characters.
  if (slash < 0 && value.length <= 63 && qualifiedRegex.test(value)) return [];
  const name = slash < 0 ? value : value.slice(slash + 1);
  if (name.includes('/'))
    return [`a valid label key ${qualifiedRule()} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  const problems = slash < 0 ? [] : prefixProblems(value.slice(0, slash));
  if (name === '') problems.push(`name part ${emptyError}`);
  else if (byteLength(name) > 63) problems.push(`name part ${maxBytesError(63)}`);
  if (!qualifiedRegex.test(name)) problems.push(`name part ${qualifiedRule()}`);
  return problems;
}

function prefixProblems(prefix: string): Problems {
  if (prefix === '') return [`prefix part ${emptyError}`];
  const problems: Problems = [];
  if (byteLength(prefix) > dns1123SubdomainMaxLength) problems.push(`prefix part ${maxBytesError(dns1123SubdomainMaxLength)}`);
  if (!subdomainRegex.test(prefix)) problems.push(`prefix part ${regexError(subdomainMessage, subdomain, 'example.com')}`);
  return problems;
}

const labelValue = `(${qualified})?`;
const labelValueRegex = whole(labelValue);
const labelValueMessage =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

export function isLabelValue(value: string): Problems {
  if (value.length <= labelValueMaxLength && labelValueRegex.test(value)) return [];
  const problems: Problems = [];
  if (byteLength(value) > labelValueMaxLength) problems.push(maxBytesError(labelValueMaxLength));
  if (!labelValueRegex.test(value)) problems.push(regexError(labelValueMessage, labelValue, 'MyValue', 'my_value', '12345'));
  return problems;
}

/** A name that can be one segment of a URL path: what the registry asks of every name. */
export function isPathSegmentName(name: string): Problems {
  return name === '.' || name === '..' ? [`may not be '${name}'`] : isPathSegmentPrefix(name);
}

export const isPathSegmentPrefix = (name: string): Problems =>
  ['/', '%'].filter((bad) => name.includes(bad)).map((bad) => `may not contain '${bad}'`);

export const isInRange = (value: number, low: number, high: number): Problems =>
  value >= low && value <= high ? [] : [inclusiveRangeError(low, high)];
