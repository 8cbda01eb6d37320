// Values as upstream's internal types print in messages: every field by its Go name, in the order of its struct, what is absent as null or zero.
import internalFile from '../internal.gen.json' with { type: 'json' };

/** The Go name of a JSON field, where it is more than the JSON name with a capital letter, and where Go's name begins in lower case. */
const jsonNames: Record<string, string> = {
  CephMonitors: 'monitors',
  RBDImage: 'image',
  RBDPool: 'pool',
  RadosUser: 'user',
  DataDiskURI: 'diskuri',
  EndpointsName: 'endpoints',
  DiscoveryCHAPAuth: 'chapauthdiscovery',
  SessionCHAPAuth: 'chapauthsession',
  IntValue: 'int',
  BoolValue: 'bool',
  StringValue: 'string',
  VersionValue: 'version',
  IntValues: 'ints',
  BoolValues: 'bools',
  StringValues: 'strings',
  VersionValues: 'versions',
};

const zeros: Record<string, unknown> = { string: '', bool: false, number: 0, quantity: '0', object: {}, json: null };

interface InternalField {
  /** '' for an embedded type, whose fields stand among the others. */
  goName: string;
  type: string;
}

const types: Record<string, string> = internalFile.types;
const parsed = new Map<string, InternalField[]>();

function fieldsOf(typeName: string): InternalField[] {
  let fields = parsed.get(typeName);
  if (fields === undefined) {
    const texts = types[typeName]?.split(', ') ?? [];
    fields = texts.map((text) => ({ goName: text.slice(0, text.indexOf(' ')), type: text.slice(text.indexOf(' ') + 1) }));
    parsed.set(typeName, fields);
  }
  return fields;
}

/** `typeName`: a type of internal.gen.json (`core.PodSpec`); `value` as JSON has it. */
export function internalForm(typeName: string, value: unknown): Record<string, unknown> {
  const given = moved(typeName, (value ?? {}) as Record<string, unknown>);
  const byName = new Map(Object.entries(given).map(([name, one]) => [name.toLowerCase(), one]));
  const form: Record<string, unknown> = {};
  for (const { goName, type } of fieldsOf(typeName)) {
    if (goName !== '') form[goName] = formOf(type, byName.get(jsonNames[goName] ?? goName.toLowerCase()));
    else Object.assign(form, type === 'json' ? given['metadata'] : internalForm(type, given));
  }
  return form;
}

/** What the internal type keeps elsewhere: the namespaces a pod shares with its host are part of its security context, which is always there. */
function moved(typeName: string, value: Record<string, unknown>): Record<string, unknown> {
  if (typeName !== 'core.PodSpec') return value;
  const { hostNetwork, hostPID, hostIPC, hostUsers, shareProcessNamespace, securityContext, ...others } = value;
  const host = { hostNetwork, hostPID, hostIPC, hostUsers, shareProcessNamespace };
  return { ...others, securityContext: { ...(securityContext as object | undefined), ...host } };
}

function formOf(type: string, value: unknown): unknown {
  const absent = value === undefined || value === null;
  if (type.startsWith('*')) return absent ? null : formOf(type.slice(1), value);
  if (type === '[]byte') return value ?? null;
  if (type.startsWith('[]')) return Array.isArray(value) ? value.map((item) => formOf(type.slice(2), item)) : null;
  if (type.startsWith('{}')) return absent ? null : mapForm(type.slice(2), value);
  return type in zeros ? (value ?? zeros[type]) : internalForm(type, value);
}

const mapForm = (type: string, value: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, one]) => [key, formOf(type, one)]),
  );
