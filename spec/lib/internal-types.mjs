// The internal types of upstream's apiserver that show in messages: their fields' Go names, in order, and what each holds. Read from the
// sources, since they are published nowhere else; they carry no tags, so their JSON is their Go names.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What messages print; whatever these refer to is read too. */
const roots = [
  ...[
    'PodSpec',
    'PodTemplateSpec',
    'EphemeralContainer',
    'PersistentVolumeClaimSpec',
    'PersistentVolumeSource',
    'NodeSelectorTerm',
  ],
  ...['SecurityContext', 'Toleration', 'VolumeNodeAffinity', 'ObjectReference', 'EventSource'],
].map((name) => `core.${name}`);
roots.push('batch.PodFailurePolicy', 'batch.SuccessPolicy', 'certificates.CertificateSigningRequestCondition');
roots.push(
  'flowcontrol.FlowSchemaSpec',
  'flowcontrol.PriorityLevelConfigurationSpec',
  'networking.ParentReference',
  'storage.VolumeAttachmentSpec',
  'storage.CSINodeDriver',
);
roots.push(
  ...['ResourceClaimSpec', 'ResourceClaimTemplateSpec', 'AllocationResult', 'DeviceAttribute'].map((name) => `resource.${name}`),
);

const basics = { string: 'string', bool: 'bool', byte: 'byte', float64: 'number' };
for (const size of ['', '8', '32', '64']) for (const kind of ['int', 'uint']) basics[`${kind}${size}`] = 'number';

/** Types of other modules whose JSON is not null where nothing is set. */
const foreign = { UID: 'string', Quantity: 'quantity', IntOrString: 'number', LabelSelector: 'object' };

/** Declarations of a package: structs with their fields' lines, other types with what they stand for. */
function readPackage(upstream, name) {
  const file = join(upstream, 'pkg/apis', name, 'types.go');
  if (!existsSync(file)) throw new Error(`no types of ${name}`);
  const text = readFileSync(file, 'utf8');
  const imports = new Map();
  for (const [, alias, path] of text.matchAll(/^\t(?:(\w+) )?"k8s\.io\/kubernetes\/pkg\/apis\/(\w+)"$/gm))
    imports.set(alias ?? path, path);
  const structs = new Map();
  for (const [, type, body] of text.matchAll(/^type (\w+) struct \{\n([\s\S]*?)^\}/gm)) structs.set(type, fieldLines(body));
  for (const [, type] of text.matchAll(/^type (\w+) struct \{\}$/gm)) structs.set(type, []);
  const others = new Map();
  for (const [, type, meaning] of text.matchAll(/^type (\w+) ([\w.[\]*]+)$/gm)) others.set(type, meaning);
  return { imports, structs, others };
}

/** `[Go name, type]` of each field; an embedded one has no name. */
function fieldLines(body) {
  const fields = [];
  for (const line of body.split('\n')) {
    const found = /^\t(?:([A-Z]\w*(?:, \w+)*) +)?([\w.[\]*]+)(?: +`.*`)?(?: *\/\/.*)?$/.exec(line);
    for (const name of found ? (found[1] ?? '').split(', ') : []) fields.push([name, found[2]]);
  }
  return fields;
}

/** Each type's fields as `Name type`: types are those of `basics`, `package.Type` of this table, `object` or `json` for those that print as they are sent. */
export function internalTypes(upstream) {
  const packages = new Map();
  const types = {};
  const packageOf = (name) => {
    if (!packages.has(name)) packages.set(name, readPackage(upstream, name));
    return packages.get(name);
  };
  const resolve = (home, type) => {
    const wrapped = /^(\*|\[\]|map\[[\w.]+\])(.+)$/.exec(type);
    if (wrapped) return (wrapped[1].startsWith('map') ? '{}' : wrapped[1]) + resolve(home, wrapped[2]);
    if (basics[type]) return basics[type];
    const [, alias, name] = /^(?:(\w+)\.)?(\w+)$/.exec(type);
    const owner = alias === undefined ? home : packageOf(home).imports.get(alias);
    if (owner === undefined) return foreign[name] ?? 'json';
    const { structs, others } = packageOf(owner);
    if (others.has(name)) return resolve(owner, others.get(name));
    if (!structs.has(name)) throw new Error(`no declaration of ${owner}.${name}`);
    const full = `${owner}.${name}`;
    if (types[full] === undefined) {
      types[full] = [];
      types[full] = structs
        .get(name)
        .filter(([, held]) => !held.endsWith('TypeMeta'))
        .map(([field, held]) => `${field} ${resolve(owner, held)}`);
    }
    return full;
  };
  for (const root of roots) resolve(...root.split('.'));
  return Object.fromEntries(
    Object.entries(types)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, fields]) => [name, fields.join(', ')]),
  );
}
