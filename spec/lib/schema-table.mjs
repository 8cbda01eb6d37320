// Joins the Go facts with the OpenAPI facts and writes each type in the notation of src/apimachinery/schema/notation.ts: one string per field,
// `name number type flags...`, which is small on disk and read only when the type is first asked for.
import { fieldFacts } from './openapi.mjs';

/** Group versions that are not among the served ones but whose types components exchange. */
const alsoWanted = ['admission.k8s.io/v1', 'apidiscovery.k8s.io/v2', 'meta.k8s.io/v1', 'apiextensions.k8s.io/v1'];
const metaPackage = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const unversioned = ['Status', 'APIVersions', 'APIGroup', 'APIGroupList', 'APIResourceList'];
const standalone = [
  ...['Patch', 'FieldSelectorRequirement', 'GroupKind', 'GroupVersion'],
  ...['WatchEvent', 'ListOptions', 'GetOptions', 'DeleteOptions', 'CreateOptions', 'UpdateOptions', 'PatchOptions'],
].map((name) => `${metaPackage}.${name}`);

/** Lists of which an empty one is told from none while a request is judged: without policies an autoscaler gets the default ones, with `[]` it is refused. */
const emptyTold = new Set(['io.k8s.api.autoscaling.v2.HPAScalingRules.policies']);

const packageOf = (name) => name.slice(0, name.lastIndexOf('.'));
const localName = (name) => name.slice(name.lastIndexOf('.') + 1);

export function schemaTable(facts, openapi, published) {
  const byName = new Map(facts.types.map((type) => [type.name, type]));
  const kinds = wantedKinds(facts.kinds, [...published, ...alsoWanted]);
  const names = reachable(byName, [...kinds.map((kind) => kind.type), ...standalone]);
  const definitions = withInlined(byName, openapi, names);
  const expanded = names.map((name) => joined(byName.get(name), definitions.get(name), openapi.get(name)));
  return {
    kinds: kindTable(kinds),
    types: Object.fromEntries(expanded.map((type) => [type.name, notation(type)])),
    expanded,
    expandedKinds: kinds,
  };
}

/** The metav1 kinds registered in every group version belong to the table once. */
function wantedKinds(kinds, groupVersions) {
  const wanted = new Set(groupVersions);
  return kinds.filter(({ group, version, type }) => {
    const groupVersion = group === '' ? version : `${group}/${version}`;
    if (!wanted.has(groupVersion)) return false;
    if (packageOf(type) !== metaPackage) return true;
    return (
      groupVersion === 'meta.k8s.io/v1' ||
      (groupVersion === 'v1' && unversioned.includes(localName(type))) ||
      localName(type) === 'List'
    );
  });
}

function reachable(byName, roots) {
  const seen = new Set();
  const visit = (name) => {
    if (seen.has(name)) return;
    seen.add(name);
    for (const field of byName.get(name).fields ?? []) if (field.ref) visit(field.ref);
  };
  for (const root of roots) visit(root);
  return [...seen].sort();
}

/** An inlined struct has no definition of its own: its fields are published as its owner's. */
function withInlined(byName, openapi, names) {
  const definitions = new Map(openapi);
  for (const name of names) {
    for (const field of byName.get(name).fields ?? []) {
      if (field.inline && openapi.has(name) && !definitions.has(field.ref)) definitions.set(field.ref, openapi.get(name));
    }
  }
  return definitions;
}

function joined(type, definition, own) {
  const attributes = {};
  if (own?.['x-kubernetes-map-type']) attributes.mapType = own['x-kubernetes-map-type'];
  if (own?.['x-kubernetes-unions']) attributes.unions = own['x-kubernetes-unions'].map(union);
  const fields = (type.fields ?? []).map((field) => ({
    ...field,
    ...(emptyTold.has(`${type.name}.${field.name}`) && { pointer: true }),
    ...(definition
      ? fieldFacts(definition, field.name)
      : { required: !(field.omitempty || field.omitzero || field.inline) || undefined }),
  }));
  return { name: type.name, goType: type.goType, attributes, fields };
}

const union = ({ discriminator, 'fields-to-discriminateBy': fields }) => ({ ...(discriminator && { discriminator }), fields });

function kindTable(kinds) {
  const table = {};
  for (const { group, version, kind, type } of kinds) {
    if (localName(type) !== kind) throw new Error(`kind ${kind} has the type ${type}`);
    const packages = (table[group === '' ? version : `${group}/${version}`] ??= {});
    (packages[packageOf(type)] ??= []).push(kind);
  }
  for (const packages of Object.values(table))
    for (const name of Object.keys(packages)) packages[name] = packages[name].join(' ');
  return table;
}

/** Go's name of a type as error messages print it: the last folder of its package, then its name. */
const goName = (ref) => ref.split('.').slice(-2).join('.');
const goScalars = {
  time: 'v1.Time',
  microTime: 'v1.MicroTime',
  quantity: 'resource.Quantity',
  intOrString: 'intstr.IntOrString',
  rawExtension: 'runtime.RawExtension',
  fieldsV1: 'v1.FieldsV1',
  json: 'v1.JSON',
  schemaOrArray: 'v1.JSONSchemaPropsOrArray',
  schemaOrBool: 'v1.JSONSchemaPropsOrBool',
  schemaOrStringArray: 'v1.JSONSchemaPropsOrStringArray',
  bytes: '[]uint8',
  double: 'float64',
  float: 'float32',
  any: 'interface {}',
};
function derivedGoType({ type, ref, shape }) {
  const value = type === 'message' ? goName(ref) : (goScalars[type] ?? type);
  return shape === 'list'
    ? `[]${value}`
    : shape === 'map'
      ? `map[string]${value}`
      : shape === 'mapOfLists'
        ? `map[string][]${value}`
        : value;
}

const shapes = { list: '[]', map: '{}', mapOfLists: '{}[]' };

function notation(type) {
  const home = packageOf(type.name);
  const short = (ref) => (packageOf(ref) === home ? `.${localName(ref)}` : ref);
  const lines = Object.keys(type.attributes).length > 0 ? [`@${JSON.stringify(type.attributes)}`] : [];
  for (const field of type.fields) {
    if (field.inline) {
      lines.push(`= ${field.number} ${short(field.ref)}`);
      continue;
    }
    const words = [
      field.name,
      field.number,
      (shapes[field.shape] ?? '') + (field.type === 'message' ? short(field.ref) : field.type),
    ];
    if (field.ref && field.type !== 'message') words.push(`ref=${short(field.ref)}`);
    const flags =
      (field.pointer ? '*' : '') + (field.omitempty ? 'o' : '') + (field.omitzero ? 'z' : '') + (field.required ? '!' : '');
    if (flags || field.zeroDefault || field.wrapped)
      words.push(`-${flags}${field.zeroDefault ? '0' : ''}${field.wrapped ? 'w' : ''}`);
    if (field.listType) words.push(`list=${field.listType}${field.listMapKeys ? `:${field.listMapKeys.join(',')}` : ''}`);
    if (field.mapType) words.push(`map=${field.mapType}`);
    if (field.patchStrategy || field.patchMergeKey)
      words.push(`patch=${field.patchStrategy ?? ''}${field.patchMergeKey ? `:${field.patchMergeKey}` : ''}`);
    if (field.enum) words.push(`enum=${field.enum.join(',').replaceAll(' ', '%20')}`);
    if (field.goType !== derivedGoType(field)) words.push(`go=${field.goType.replaceAll(' ', '')}`);
    if (field.default !== undefined) words.push(`default=${JSON.stringify(field.default)}`);
    lines.push(words.join(' '));
  }
  return lines;
}
