// Formats of strings that schemas may name (k8s.io/kube-openapi/pkg/validation/strfmt; apiextensions-apiserver, supported formats).
import { isDNS1123Label, isDNS1123Subdomain } from '#apimachinery/validation';

type Test = (text: string) => boolean;

const matches =
  (pattern: RegExp): Test =>
  (text) =>
    pattern.test(text);

const daysIn = (year: number, month: number): number => new Date(Date.UTC(year, month, 0)).getUTCDate();

const isDate: Test = (text) => {
  const parts = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text);
  if (!parts) return false;
  const [year, month, day] = [Number(parts[1]), Number(parts[2]), Number(parts[3])];
  return month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month);
};

const isDateTime: Test = (text) => {
  const [date = '', time = '', ...more] = text.toUpperCase().split('T');
  const parts = /^(\d\d):(\d\d):(\d\d)(.\d+)?(Z|[+-]\d\d:\d\d)$/.exec(time);
  return more.length === 0 && isDate(date) && !!parts && Number(parts[1]) < 24 && Number(parts[2]) < 60 && Number(parts[3]) < 60;
};

/** Upstream reads addresses as Go did once: zeros may lead. */
const octet = '0*(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const ipv4 = new RegExp(`^${octet}(?:\\.${octet}){3}$`);

const isIPv6: Test = (text) => {
  const halves = text.split('::');
  if (halves.length > 2 || !text.includes(':')) return false;
  const groups = halves.flatMap((half) => (half === '' ? [] : half.split(':')));
  const last = groups.at(-1) ?? '';
  const size = groups.length + (ipv4.test(last) ? 1 : 0);
  const good = groups.every((group, at) => /^[0-9a-f]{1,4}$/i.test(group) || (at === groups.length - 1 && ipv4.test(group)));
  return good && (halves.length === 2 ? size < 8 : size === 8);
};

const isCIDR: Test = (text) => {
  const [address = '', bits = '', ...more] = text.split('/');
  const bitsMax = ipv4.test(address) ? 32 : isIPv6(address) ? 128 : -1;
  return more.length === 0 && /^\d+$/.test(bits) && Number(bits) <= bitsMax;
};

const digitsOf = (text: string): string => text.replace(/[\s-]+/g, '');

const isISBN10: Test = (text) => {
  const digits = digitsOf(text);
  if (!/^\d{9}[\dX]$/.test(digits)) return false;
  return Array.from(digits).reduce((sum, digit, at) => sum + (at + 1) * (digit === 'X' ? 10 : Number(digit)), 0) % 11 === 0;
};

const isISBN13: Test = (text) => {
  const digits = digitsOf(text);
  return (
    /^\d{13}$/.test(digits) && Array.from(digits).reduce((sum, digit, at) => sum + Number(digit) * (at % 2 ? 3 : 1), 0) % 10 === 0
  );
};

const cardPattern =
  /^(?:4\d{12}(?:\d{3})?|5[1-5]\d{14}|(?:222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}|6(?:011|5\d\d)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|(?:2131|1800|35\d{3})\d{11}|6[27]\d{14})$/;

/** With the check digit of Luhn. */
const isCreditCard: Test = (text) => {
  const digits = text.replace(/\D+/g, '');
  const sum = Array.from(digits)
    .reverse()
    .reduce((total, digit, at) => {
      const value = Number(digit) * (at % 2 ? 2 : 1);
      return total + (value > 9 ? value - 9 : value);
    }, 0);
  return cardPattern.test(digits) && sum % 10 === 0;
};

const colour = '(?:0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])';
const uuid = (third: string, fourth: string): Test =>
  matches(new RegExp(`^[0-9a-f]{8}-?[0-9a-f]{4}-?${third}-?${fourth}-?[0-9a-f]{12}$`, 'i'));

const tests: Readonly<Record<string, Test>> = {
  bsonobjectid: matches(/^[0-9a-f]{24}$/i),
  uri: matches(/^(?:[a-z][a-z0-9+.-]*:|\/)[^\s]*$/i),
  email: matches(/^(?:[^<>@]*<[^\s@<>]+@[^\s@<>]+>|[^\s@<>]+@[^\s@<>]+)$/),
  hostname: (text) =>
    text.length <= 255 &&
    text.split('.').every(matches(/^[a-z0-9\p{S}\p{L}](?:[a-z0-9\p{S}\p{L}-]{0,61}[a-z0-9\p{S}\p{L}])?$/iu)),
  ipv4: matches(ipv4),
  ipv6: isIPv6,
  cidr: isCIDR,
  mac: matches(
    /^(?:[0-9a-f]{2}([:-])(?:[0-9a-f]{2}\1){4}[0-9a-f]{2}|[0-9a-f]{2}([:-])(?:[0-9a-f]{2}\2){6}[0-9a-f]{2}|(?:[0-9a-f]{4}\.){2,3}[0-9a-f]{4})$/i,
  ),
  uuid: uuid('[0-9a-f]{4}', '[0-9a-f]{4}'),
  uuid3: uuid('3[0-9a-f]{3}', '[0-9a-f]{4}'),
  uuid4: uuid('4[0-9a-f]{3}', '[89ab][0-9a-f]{3}'),
  uuid5: uuid('5[0-9a-f]{3}', '[89ab][0-9a-f]{3}'),
  isbn: (text) => isISBN10(text) || isISBN13(text),
  isbn10: isISBN10,
  isbn13: isISBN13,
  creditcard: isCreditCard,
  ssn: matches(/^\d{3}[- ]?\d{2}[- ]?\d{4}$/),
  hexcolor: matches(/^#?(?:[0-9a-f]{3}|[0-9a-f]{6})$/i),
  rgbcolor: matches(new RegExp(`^rgb\\(\\s*${colour}\\s*,\\s*${colour}\\s*,\\s*${colour}\\s*\\)$`)),
  byte: matches(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)$/),
  password: () => true,
  date: isDate,
  datetime: isDateTime,
  duration: matches(
    /^[+-]?(?:0|(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h)(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))*|\d+\s*(?:ns|us|µs|ms|s|m|h|d|w|nano|micro|milli|sec|second|minute|min|hour|hr|day|dy|week|wk)s?)$/,
  ),
  k8sshortname: (text) => isDNS1123Label(text).length === 0,
  k8slongname: (text) => isDNS1123Subdomain(text).length === 0,
};

/** The test of a format of strings; undefined: no such format. */
export function stringFormat(format: string): Test | undefined {
  const name = format.replaceAll('-', '');
  return Object.hasOwn(tests, name) ? tests[name] : undefined;
}

/** Whether values of the type are checked against the format. */
export function isKnownFormat(type: string, format: string): boolean {
  if (type === '' || type === 'string') return stringFormat(format) !== undefined;
  if (type === 'integer') return format === 'int32' || format === 'int64';
  return type === 'number' && (format === 'float' || format === 'double');
}
