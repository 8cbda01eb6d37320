// The values that upstream's OpenAPI lists for a field. The published documents leave them out; the generated definitions that servers publish have them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The last parts of a type's name tell it apart: group, version and kind. */
const keyOf = (parts) => parts.slice(-3).join('.');

/** `core.v1.Container` -> field -> values, in the order of the definitions. */
function readEnums(upstream) {
  const found = new Map();
  let type;
  let field;
  for (const line of readFileSync(join(upstream, 'pkg/generated/openapi/zz_generated.openapi.go'), 'utf8').split('\n')) {
    type = /^func schema_(\w+)\(/.exec(line)?.[1] ?? type;
    field = /^\t{5}"([^"]+)": \{$/.exec(line)?.[1] ?? field;
    const values = /^\s+Enum:\s+\[\]interface\{\}\{(.*)\},$/.exec(line)?.[1];
    if (values === undefined) continue;
    const key = keyOf(type.split('_'));
    if (!found.has(key)) found.set(key, {});
    found.get(key)[field] = JSON.parse(`[${values}]`);
  }
  return found;
}

/** Puts them into definitions as `readOpenAPI` reads them, where a field's own facts are looked for. */
export function addEnums(definitions, upstream) {
  const enums = readEnums(upstream);
  for (const [name, definition] of definitions) {
    for (const [field, values] of Object.entries(enums.get(keyOf(name.split('.'))) ?? {})) {
      const property = definition.properties?.[field];
      if (property) property.enum = values;
    }
  }
}
