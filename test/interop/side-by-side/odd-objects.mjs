// Objects that are wrong, or unusual, in one or a few places: fields are drawn from the kind's OpenAPI schema (upstream's), values from lists of what
// people, programs and attackers send.

const long = 'x'.repeat(260);
const strings = [
  ...['', 'a', 'A', 'Bad Value!', 'a.b', 'a_b', 'a/b', '/a', '../a', 'a/../b', '-a', 'a-', '.a', long, 'x'.repeat(64), '1', '-1', '0', 'true', 'é', 'a\nb', ' ', '*'],
  ...['1Gi', '10%', '1.2.3.4', '01.2.3.4', '10.0.0.0/8', '10.0.0.1/8', 'fe80::1', '::ffff:1.2.3.4', '2001:db8::/64', 'example.com', '*.example.com', 'EXAMPLE.com'],
  ...['http://a.example/b', 'https://a.example', 'https://u:p@a.example/?q#f', 'node.kubernetes.io/x', 'kubernetes.io/x', 'a.example/Name', 'X-Y', '* * * * *', '@daily', 'TZ=UTC * * * * *', 'object.x == 1', '{.a}', 'system:x', 'default', 'None', 'Always'],
];
const integers = [-1, 0, 1, 2, 100, 101, 65535, 65536, 2147483647, 2147483648, -2147483649, 9007199254740991];
const wrong = ['x', 1, 1.5, true, {}, [], null, [1], { a: 1 }, [null]];
const quantities = ['1', '0', '-1', '1.5', '100m', '1Gi', '1Ei', '0.1m', 'abc', '1 Gi', '', '1e3', '12E', 1, 1.5, '99999999999999999999'];
const times = ['2020-01-01T00:00:00Z', '2020-01-01T00:00:00.5Z', '2020-01-01', 'x', '', null, '2020-01-01T00:00:00+02:00', 1];
const keys = ['a', '', 'Bad Key!', 'a/b', 'a/b/c', 'A.b_c', '-a', 'kubernetes.io/x', long, 'cpu', 'memory', 'example.com/x', 'requests.cpu', 'hugepages-2Mi'];

const nameOf = (schema) => (schema.$ref ?? schema.allOf?.[0]?.$ref)?.split('/').at(-1);
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Draws with `chance` among the types of `schemas` (name -> OpenAPI v3 schema); `oddness` is the share of values that are not plausible. */
export function oddObjects(schemas, chance, oddness = 1) {
  const resolve = (schema) => {
    const name = nameOf(schema);
    return name ? { name, ...(schemas[name] ?? {}) } : schema;
  };

  /** A value of the right type, mostly small. */
  const plausible = (given, depth = 0) => {
    const schema = resolve(given);
    const list = given.enum ?? schema.enum;
    if (list) return chance.pick(list);
    if (schema.name?.endsWith('.Quantity')) return chance.pick(quantities.slice(0, 6));
    if (schema.name?.endsWith('.IntOrString')) return chance.pick([1, 80, '50%', 'http']);
    if (schema.format === 'date-time') return times[0];
    if (schema.type === 'string') return schema.format === 'byte' ? 'YQ==' : chance.pick(['a', 'b', 'a', 'example.com', 'c', '/a']);
    if (schema.type === 'integer') return chance.pick([1, 2, 5, 80]);
    if (schema.type === 'number') return 1;
    if (schema.type === 'boolean') return chance.chance(0.5);
    if (schema.type === 'array') return depth > 5 ? [] : [plausible(schema.items ?? {}, depth + 1)];
    if (schema.additionalProperties) return { [chance.pick(['a', 'cpu', 'example.com/x'])]: plausible(schema.additionalProperties, depth + 1) };
    const made = {};
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      const wanted = schema.required?.includes(name) ? 0.95 : depth === 0 ? 0.35 : 0.15;
      if (depth <= 5 && chance.chance(wanted)) made[name] = plausible(property, depth + 1);
    }
    return made;
  };

  /** A value that is odd for the type. */
  const odd = (given) => {
    const schema = resolve(given);
    if (oddness < 1 && !chance.chance(oddness)) return plausible(given);
    if (chance.chance(0.12)) return chance.pick(wrong);
    const list = given.enum ?? schema.enum;
    if (list && chance.chance(0.7)) return chance.pick([...list, `${list[0]}x`, '', list[0].toLowerCase()]);
    if (schema.name?.endsWith('.Quantity')) return chance.pick(quantities);
    if (schema.name?.endsWith('.IntOrString')) return chance.pick([-1, 0, 1, 70000, 2147483648, '50%', '101%', '-1%', 'x', '', 'http', 'Bad Name', '80']);
    if (schema.format === 'date-time') return chance.pick(times);
    if (schema.format === 'byte') return chance.pick(['', 'YQ==', 'YQ', '!!', 'LS0tLS1CRUdJTg==', 'bm90IGEgY2VydA==']);
    if (schema.type === 'string') return chance.pick(strings);
    if (schema.type === 'integer') return chance.pick(integers);
    if (schema.type === 'number') return chance.pick([0, -1, 1.5, 1e300]);
    if (schema.type === 'boolean') return chance.pick([true, false, true, false, 'true', 0, null]);
    if (schema.type === 'array') {
      const item = plausible(schema.items ?? {});
      return chance.pick([[], [item], [item, item], [plausible(schema.items ?? {}), item], [null], Array(3).fill(item), [odd(schema.items ?? {})]]);
    }
    if (schema.additionalProperties) {
      const value = chance.chance(0.7) ? plausible(schema.additionalProperties) : odd(schema.additionalProperties);
      return chance.pick([{}, { [chance.pick(keys)]: value }, { [chance.pick(keys)]: value, [chance.pick(keys)]: value }]);
    }
    return chance.pick([{}, plausible(given), plausible(given), plausible(given, 2), { unknownField: 1 }, null]);
  };

  /** Goes down from `holder` (a value of the type) and changes one place. */
  const changeIn = (given, holder, depth) => {
    const schema = resolve(given);
    if (Array.isArray(holder) && schema.items) {
      if (holder.length === 0 || chance.chance(0.1)) holder.push(chance.chance(0.7) && holder.length > 0 ? structuredClone(holder[0]) : plausible(schema.items));
      const at = chance.below(holder.length);
      if (isObject(holder[at]) && chance.chance(0.85)) return changeIn(schema.items, holder[at], depth + 1);
      holder[at] = odd(schema.items);
      return;
    }
    if (!isObject(holder)) return;
    if (schema.additionalProperties) {
      const key = chance.chance(0.6) ? chance.pick(keys) : (chance.pick(Object.keys(holder)) ?? 'a');
      holder[key] = odd(schema.additionalProperties);
      return;
    }
    const names = Object.keys(schema.properties ?? {}).filter((name) => depth > 0 || !['apiVersion', 'kind', 'status', 'metadata'].includes(name) || chance.chance(0.1));
    if (names.length === 0 || chance.chance(0.02)) {
      holder[chance.pick(['unknownField', 'Spec', 'nAme'])] = chance.pick(['x', { a: 1 }]);
      return;
    }
    const present = names.filter((name) => holder[name] !== undefined);
    const name = present.length > 0 && chance.chance(0.5) ? chance.pick(present) : chance.pick(names);
    const property = schema.properties[name];
    const value = holder[name];
    if (value !== undefined && chance.chance(0.08)) {
      delete holder[name];
      return;
    }
    if (typeof value === 'object' && value !== null && chance.chance(0.85)) return changeIn(property, value, depth + 1);
    const kind = resolve(property);
    if (value === undefined && kind.properties && depth < 6 && chance.chance(0.75)) {
      holder[name] = plausible(property, 1);
      if (chance.chance(0.6)) return changeIn(property, holder[name], depth + 1);
      return;
    }
    holder[name] = odd(property);
  };

  return {
    /** A copy of the valid object with one to three changes. */
    changed(typeName, valid) {
      const object = structuredClone(valid);
      for (let left = chance.pick([1, 1, 1, 2, 3]); left > 0; left--) changeIn({ $ref: typeName }, object, 0);
      return object;
    },
    /** A copy of the valid object with one to three changes in `field`. */
    changedIn(typeName, valid, field) {
      const object = structuredClone(valid);
      const property = resolve({ $ref: typeName }).properties?.[field] ?? {};
      for (let left = chance.pick([1, 1, 2, 3]); left > 0; left--) changeIn(property, object[field], 1);
      return object;
    },
    /** A JSON merge patch that changes one place of the valid object. */
    mergePatch(typeName, valid) {
      const before = structuredClone(valid);
      const after = structuredClone(valid);
      changeIn({ $ref: typeName }, after, 0);
      return mergeBetween(before, after);
    },
    odd: (typeName) => odd({ $ref: typeName }),
  };
}

/** The JSON merge patch that makes `after` of `before`. */
export function mergeBetween(before, after) {
  if (!isObject(before) || !isObject(after)) return after;
  const patch = {};
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (!(key in after)) patch[key] = null;
    else if (JSON.stringify(before[key]) !== JSON.stringify(after[key])) patch[key] = mergeBetween(before[key], after[key]);
  }
  return patch;
}
