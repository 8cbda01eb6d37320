// The published OpenAPI v3 documents of every group and version as one map of definitions, and what they say of one field.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

export function readOpenAPI(upstream) {
  const folder = join(upstream, 'api', 'openapi-spec', 'v3');
  const definitions = new Map();
  for (const file of readdirSync(folder)) {
    const document = JSON.parse(readFileSync(join(folder, file), 'utf8'));
    for (const [name, definition] of Object.entries(document.components?.schemas ?? {})) {
      if (!definitions.has(name)) definitions.set(name, definition);
    }
  }
  return definitions;
}

/** The facts of one field that only OpenAPI knows. `default` is left out where it is the zero value the encoder writes anyway. */
export function fieldFacts(definition, name) {
  const property = definition?.properties?.[name];
  if (!property) return {};
  const facts = {};
  if (definition.required?.includes(name)) facts.required = true;
  if (property['x-kubernetes-list-type']) facts.listType = property['x-kubernetes-list-type'];
  if (property['x-kubernetes-list-map-keys']) facts.listMapKeys = property['x-kubernetes-list-map-keys'];
  if (property['x-kubernetes-map-type']) facts.mapType = property['x-kubernetes-map-type'];
  if (property.enum) facts.enum = property.enum;
  if ('default' in property) {
    const zero = [0, '', false].includes(property.default) || JSON.stringify(property.default) === '{}';
    if (zero) facts.zeroDefault = true;
    else facts.default = property.default;
  }
  return facts;
}
