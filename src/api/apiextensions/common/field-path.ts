// JSON paths that must lead to a field of a schema (pkg/apiserver/schema/cel, ValidFieldPath).
import type { JSONSchemaProps } from '#api/apiextensions/v1';
import { own } from '#utils';
import { isEmptyMap } from '../../common/report.ts';

export interface FieldTarget {
  /** The path in one form, for comparing. */
  path: string;
  steps: string[];
  schema: JSONSchemaProps | undefined;
}

const tokenPattern = /'(?:[^'\\]|\\.)*'|[.[\]]|[^.[\]']+/g;
const unknown = 'does not refer to a valid field';

function stepInto(schema: JSONSchemaProps | undefined, name: string): JSONSchemaProps | undefined | string {
  if (!isEmptyMap(schema?.properties)) return own(schema?.properties ?? {}, name) ?? unknown;
  const additional = schema?.additionalProperties;
  if (additional === undefined) return unknown;
  return typeof additional === 'object' ? additional : undefined;
}

/** The field a path such as `.spec.a` or `.spec['a']` names; a text says why there is none. */
export function resolveFieldPath(path: string, schema: JSONSchemaProps, allowBrackets = true): FieldTarget | string {
  const tokens = path.match(tokenPattern) ?? [];
  const steps: string[] = [];
  let here: JSONSchemaProps | undefined = schema;
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at] ?? '';
    if (token !== '.' && token !== '[') return `expected [ or . but got: ${token}`;
    if (token === '[' && !allowBrackets) return 'array notation is not allowed';
    let name = tokens[++at];
    if (name === undefined) return 'unexpected end of JSON path';
    if (token === '[') {
      if (!/^'.*'$/s.test(name)) return `expected single quoted string but got ${name}`;
      name = name.slice(1, -1).replace(/\\(.)/gs, '$1');
    }
    const next = stepInto(here, name);
    if (typeof next === 'string') return next;
    here = next;
    steps.push(name);
    if (token !== '[') continue;
    const end = tokens[++at];
    if (end === undefined) return 'unexpected end of JSON path';
    if (end !== ']') return `expected ] but got ${end}`;
  }
  return { path: JSON.stringify(steps), steps, schema: here };
}
