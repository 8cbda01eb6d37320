// Objects of every built-in kind in which one list, map or text is as large as a request may be, made from the schema: a field that is new is
// grown as well. What the server says of a small one (a supported value, a required field) is learned before it grows, so that most are accepted.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const depthMax = 9;
const bodyBytes = 1_000_000;
const itemsMax = 40_000;
const lessonsMax = 12;
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Values that most validations take, told apart by `at`. The first whose words the field's name has. */
const plausible = [
  [
    /^(clusterIP|podIP|hostIP|ip|ips|podIPs|clusterIPs|externalIPs|addresses|address|.*IP)$/,
    (at) => `10.${(at >> 16) & 255}.${(at >> 8) & 255}.${at & 255}`,
  ],
  [/cidr|SourceRanges/i, (at) => `10.${(at >> 16) & 255}.${(at >> 8) & 255}.${at & 255}/32`],
  [/time|timestamp/i, () => '2026-01-01T00:00:00Z'],
  [/^(mountPath|devicePath)$/, (at) => `/p${at}`],
  [/^path$/, (at) => `p${at}`],
  [/^protocol$/, () => 'TCP'],
  [/^operator$/, () => 'Exists'],
  [/^verbs?$/, (at) => `v${at}`],
  [/^(uid)$/, (at) => `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`],
  [/^apiVersion$/, () => 'v1'],
  [/^kind$/, () => 'ConfigMap'],
  [/^type$/, (at) => `Type${at}`],
  [/^(expression|rule)$/, () => 'true'],
];
const scalar = (field, at) => {
  switch (field.type) {
    case 'string':
      return field.enum?.[0] ?? (plausible.find(([name]) => name.test(field.name))?.[1] ?? ((n) => `n${n}`))(at);
    case 'bool':
      return true;
    case 'int32':
    case 'uint32':
    case 'int64':
    case 'uint64':
      return /port/i.test(field.name) ? (at % 65_000) + 1 : at % 2_000_000_000;
    case 'float':
    case 'double':
      return at;
    case 'bytes':
      return 'AA==';
    case 'time':
      return '2026-01-01T00:00:00Z';
    case 'microTime':
      return '2026-01-01T00:00:00.000000Z';
    case 'quantity':
      return String((at % 1000) + 1);
    case 'intOrString':
      return (at % 65_000) + 1;
    case 'schemaOrBool':
      return true;
    default:
      return {};
  }
};

const filled = (text, after = '', bytes = 300_000) => [
  `${JSON.stringify(text)} again and again${after && `, then ${after}`}`,
  text.repeat(Math.floor(bytes / text.length)) + after,
];
/** Texts on which expressions go back and forth, and loops that cut off one piece at a time copy the rest. */
const hardTexts = [
  filled('0', 'x', 1023),
  ...[
    'a',
    '0',
    ' ',
    '-',
    '/',
    'a.',
    '1,',
    'a=b,',
    '$(',
    '%',
    '\n',
    '-----BEGIN A-----\n',
    '(',
    '[',
    '"',
    '\\',
    '0-1,',
    ':',
    '@',
  ].map((text) => filled(text, '!')),
];

export class Grower {
  #schema;
  #seen = new Set();

  /** `schema`: builtinSchema() of the rooms. */
  constructor(schema) {
    this.#schema = schema;
  }
  /**
   * Every field of the type that grows, as a path of field schemas from the top; a field of a type that several kinds share is there once, with the
   * kind that came first. `wanted`: list, map or text.
   */
  *paths(typeName, wanted, before = []) {
    for (const field of this.#schema.type(typeName)?.fields ?? []) {
      if (before.length === 0 && ['kind', 'apiVersion'].includes(field.name)) continue;
      const key = `${typeName}.${field.name}`;
      if (this.#seen.has(key)) continue;
      this.#seen.add(key);
      const path = [...before, field];
      const grows = field.shape
        ? 'list'
        : field.type === 'string' || field.type === 'quantity' || field.type === 'intOrString' || field.type === 'bytes'
          ? 'text'
          : '';
      if (grows === wanted) yield path;
      if (field.type === 'message' && path.length < depthMax) yield* this.paths(field.ref, wanted, path);
    }
  }
  /** One value of the field: its required fields, and what tells it from others. */
  value(field, at, depth = 0) {
    if (field.type !== 'message') return scalar(field, at);
    const fields = this.#schema.type(field.ref)?.fields ?? [];
    const told = (one) => one.required || field.listMapKeys?.includes(one.name) || ['name', 'key', 'ip'].includes(one.name);
    return Object.fromEntries(
      fields.filter((one) => depth < 4 && told(one)).map((one) => [one.name, this.whole(one, at, depth + 1)]),
    );
  }
  whole(field, at, depth = 0) {
    const one = this.value(field, at, depth);
    if (field.shape === 'list') return [one];
    if (field.shape === 'map') return { [`k${at}`]: one };
    return field.shape ? { [`k${at}`]: [one] } : one;
  }
  /** The fixture with `leaf` at the end of the path; what leads there and is not in the fixture is made. */
  put(fixture, path, leaf, lessons) {
    const object = structuredClone(fixture);
    let holder = object;
    for (const [index, field] of path.entries()) {
      const last = index === path.length - 1;
      if (last) holder[field.name] = leaf;
      else {
        const empty = holder[field.name] === undefined || holder[field.name] === null;
        if (empty) holder[field.name] = this.whole(field, 1);
        const value = holder[field.name];
        holder = Array.isArray(value) ? value[0] : field.shape ? Object.values(value)[0] : value;
        if (!isObject(holder)) return undefined;
      }
    }
    for (const [at, value] of lessons) teach(object, at.split('.'), value);
    return object;
  }
  /** `count` values, different or all the same. */
  many(field, count, same) {
    const at = (index) => (same ? 1 : index + 1);
    if (field.shape === 'list') return Array.from({ length: count }, (_, index) => this.value(field, at(index)));
    const one = (index) => (field.shape === 'map' ? this.value(field, at(index)) : [this.value(field, at(index))]);
    return Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, one(index)]));
  }
  /** What is put at the end of a path, each with its name. */
  leaves(field) {
    if (!field.shape) return hardTexts;
    const count = this.room(field);
    return [
      ['different', this.many(field, count, false)],
      ['the same', this.many(field, count, true)],
    ];
  }
  /** How many of the field's values a request has room for. */
  room(field) {
    const ten = JSON.stringify(this.many(field, 10, false)).length;
    return Math.min(itemsMax, Math.floor((bodyBytes * 10) / ten));
  }
}

/** Writes `value` wherever the path (with `*` for each item) leads; undefined takes away. */
function teach(holder, [name, ...rest], value) {
  if (typeof holder !== 'object' || holder === null) return;
  const names = name === '*' ? Object.keys(holder) : [name];
  for (const one of names) {
    if (rest.length > 0) teach(holder[one], rest, value);
    else if (value === undefined) delete holder[one];
    else if (name !== '*' || holder[one] !== undefined) holder[one] = typeof value === 'function' ? value(holder) : value;
  }
}

/** What a refusal (a Status as JSON) teaches: [path, value] of each cause. */
function lessonsOf(status, grown) {
  const lessons = [];
  for (const { field = '', reason, message = '' } of status.details?.causes ?? []) {
    if (!/^[a-zA-Z]+[.[]/.test(field)) continue;
    const at = field.replace(/\[[^\]]*\]/g, '.*');
    if (at === grown || at === `${grown}.*`) continue;
    const supported = /supported values?: "([^"]+)"/.exec(message)?.[1];
    if (supported !== undefined) lessons.push([at, supported]);
    else if (reason === 'FieldValueForbidden') lessons.push([at, undefined]);
    else if (reason === 'FieldValueRequired' && /[a-z]$/i.test(at)) lessons.push([at, /IP|address/.test(at) ? '10.0.0.9' : 'a']);
  }
  return lessons;
}

/** Learns by dry runs of two items what a request needs; `ask(object)` resolves to the Status of a refusal, or undefined. */
export async function learn(grower, fixture, path, ask) {
  const field = path.at(-1);
  const grown = path
    .map((one) => (one.shape ? `${one.name}.*` : one.name))
    .join('.')
    .replace(/\.\*$/, '');
  const lessons = [];
  for (let round = 0; round < lessonsMax; round++) {
    const object = grower.put(fixture, path, field.shape ? grower.many(field, 2, false) : grower.value(field, 1), lessons);
    const refused = object && (await ask(object));
    const more = refused ? lessonsOf(refused, grown) : [];
    if (more.length === 0) break;
    lessons.push(...more);
  }
  return lessons;
}

export const fixtures = (parse) =>
  readFileSync(fileURLToPath(new URL('../../test/kinds/fixtures.yaml', import.meta.url)), 'utf8')
    .split(/^---$/m)
    .map((text) => parse(text).value);
