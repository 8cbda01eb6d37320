// Flags of components in kubeadm's words, as kind's configuration has them in kubeadmConfigPatches (kubeadm.k8s.io/v1beta3 and v1beta4): extraArgs of
// the control plane's components and of the kubelet. Pure.
import { parseDocument } from 'yaml';

/** Arguments that patches change, by the option of `sagong up` that sets them. */
export type PatchedArgs = Record<string, string[]>;

type Fields = Record<string, unknown>;
const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);

const wrong = (path: string, what: string): never => {
  throw new Error(`--config: ${path} ${what}`);
};

/** A map (v1beta3) or a list of names and values (v1beta4). */
export function wordsOf(value: unknown, path: string): string[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value))
    return value.map((one: unknown, index) => {
      if (!isObject(one) || typeof one['name'] !== 'string' || typeof (one['value'] ?? '') !== 'string')
        return wrong(`${path}[${index}]`, 'must have a name and a value, both texts');
      return `${one['name']}=${(one['value'] as string | undefined) ?? ''}`;
    });
  if (!isObject(value)) return wrong(path, 'must be a map, or a list of names and values');
  return Object.entries(value).map(([name, text]) => {
    if (typeof text !== 'string') return wrong(`${path}.${name}`, 'must be a text');
    return `${name}=${text}`;
  });
}

/** Where a kind of kubeadm's has flags: path, option. */
const places: Record<string, readonly (readonly [readonly string[], string])[]> = {
  ClusterConfiguration: [
    [['apiServer', 'extraArgs'], 'apiserverArg'],
    [['controllerManager', 'extraArgs'], 'controllerManagerArg'],
    [['scheduler', 'extraArgs'], 'schedulerArg'],
  ],
  InitConfiguration: [[['nodeRegistration', 'kubeletExtraArgs'], 'kubeletArg']],
  JoinConfiguration: [[['nodeRegistration', 'kubeletExtraArgs'], 'kubeletArg']],
};

/** What to use in the place of what has no counterpart, by kind or field. */
const instead: Record<string, string> = {
  KubeletConfiguration:
    'use flags of the kubelet: nodeRegistration.kubeletExtraArgs of InitConfiguration and JoinConfiguration, or --kubelet-arg',
  KubeProxyConfiguration: 'use networking.kubeProxyMode, or --kube-proxy-arg',
  'apiServer.extraVolumes':
    'components see the files of this machine; for audit logs use --audit-policy-file and --audit-log-path',
  'nodeRegistration.taints': 'use kubeletExtraArgs: register-with-taints',
};
const onlyFlags = 'only flags of components (extraArgs) can be patched';

/** Everything that is said must be known. */
function assertKnown(document: Fields, kind: string, path: string): void {
  const paths = (places[kind] ?? []).map(([words]) => words);
  for (const [name, value] of Object.entries(document)) {
    if (name === 'kind' || name === 'apiVersion' || name === 'metadata') continue;
    const inner = paths.filter(([first]) => first === name).map(([, second]) => second);
    if (inner.length === 0) wrong(`${path}.${name}`, `has no counterpart: ${onlyFlags}`);
    if (!isObject(value)) wrong(`${path}.${name}`, 'must be an object');
    for (const key of Object.keys(value as Fields))
      if (!inner.includes(key)) wrong(`${path}.${name}.${key}`, `has no counterpart: ${instead[`${name}.${key}`] ?? onlyFlags}`);
  }
}

const insteadOf = (kind: unknown): string =>
  typeof kind === 'string' && Object.hasOwn(instead, kind)
    ? (instead[kind] ?? '')
    : `there are ${Object.keys(places).join(', ')}`;

function documentOf(text: string, path: string): unknown {
  const document = parseDocument(text);
  const [error] = document.errors;
  if (error?.code === 'MULTIPLE_DOCS') return wrong(path, 'must be one document of YAML');
  if (error) return wrong(path, `is not YAML: ${error.message}`);
  return document.toJS();
}

/** `patches`: texts of YAML; a patch without a kind is one of ClusterConfiguration. Throws a sentence for all else. */
export function fromKubeadmPatches(patches: unknown, path: string): PatchedArgs {
  const found: PatchedArgs = {};
  if (patches === undefined || patches === null) return found;
  if (!Array.isArray(patches)) return wrong(path, 'must be a list of texts');
  for (const [index, text] of patches.entries()) {
    const at = `${path}[${index}]`;
    const document: unknown = typeof text === 'string' ? documentOf(text, at) : undefined;
    if (!isObject(document)) return wrong(at, 'must be a text with an object in YAML');
    const { kind = 'ClusterConfiguration' } = document;
    if (typeof kind !== 'string' || !Object.hasOwn(places, kind))
      return wrong(`${at}: kind ${JSON.stringify(kind)}`, `has no counterpart: ${insteadOf(kind)}`);
    assertKnown(document, kind, at);
    for (const [[outer = '', inner = ''], option] of places[kind] ?? []) {
      const words = wordsOf((document[outer] as Fields | undefined)?.[inner], `${at}.${outer}.${inner}`);
      if (words.length > 0) found[option] = [...(found[option] ?? []), ...words];
    }
  }
  return found;
}
