// Values as upstream's internal types print in messages: every field by its Go name, absent pointers, lists and maps as null.
import type { FieldSchema } from '#apimachinery/schema';
import { builtinSchema } from '../builtin-schema.ts';

/** JSON names whose Go names do not follow from them by a capital letter. */
const goNames: Record<string, string> = {
  cel: 'CEL',
  uid: 'UID',
  ips: 'IPs',
  apiGroups: 'APIGroups',
  apiGroup: 'APIGroup',
  cidrs: 'CIDRs',
};

const zeros: Partial<Record<FieldSchema['type'], unknown>> = { string: '', bool: false, int32: 0, int64: 0, double: 0 };

/** `names`: further Go names of this type's fields. */
export function internalForm(typeName: string, value: unknown, names: Record<string, string> = {}): Record<string, unknown> {
  const given = (value ?? {}) as Record<string, unknown>;
  const form: Record<string, unknown> = {};
  for (const field of builtinSchema().type(typeName)?.fields ?? []) {
    // Metadata is embedded, and prints as JSON does.
    if (field.name === 'metadata') Object.assign(form, given['metadata']);
    else form[names[field.name] ?? goNames[field.name] ?? capital(field.name)] = fieldForm(field, given[field.name]);
  }
  return form;
}

const capital = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

function fieldForm(field: FieldSchema, value: unknown): unknown {
  const { ref } = field;
  const formOf = (one: unknown): unknown => (field.type === 'message' && ref ? internalForm(ref, one) : one);
  if (field.shape === 'list') return Array.isArray(value) ? value.map(formOf) : null;
  if (field.shape === 'map')
    return value ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, formOf(one)])) : null;
  if (value === undefined || value === null)
    return field.pointer || !(field.type === 'message' || field.type in zeros)
      ? null
      : field.type === 'message'
        ? formOf({})
        : zeros[field.type];
  return formOf(value);
}
