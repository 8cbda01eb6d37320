// Registry credentials out of a pod's pull secrets and of what the node has for all pods (upstream pkg/credentialprovider). Pure.
import type { Secret } from '#api/core/v1';
import { secretText } from '../env/environment.ts';
import type { RegistryAuth } from '../container/runtime.ts';
import { withoutTrailing } from '#utils';
import { registryOf } from './reference.ts';

interface Entry {
  username?: string;
  password?: string;
  auth?: string;
  identitytoken?: string;
  registrytoken?: string;
}

/** Credentials by the registry or the path of images. */
export type Entries = [string, Entry][];
/** The forms of Docker's file: `config.json`, and `.dockercfg` of before. */
export type DockerForm = 'json' | 'cfg';

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null && !Array.isArray(value);

/** What a file of that form holds; undefined where the text has another form. */
export function entriesIn(text: string, form: DockerForm): Entries | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    if (!isObject(parsed)) return undefined;
    const auths = form === 'json' ? ((parsed as { auths?: unknown }).auths ?? {}) : parsed;
    return isObject(auths) ? (Object.entries(auths) as Entries) : undefined;
  } catch {
    return undefined;
  }
}

/** Entries of a dockerconfigjson or dockercfg secret; nothing of what cannot be read. */
function entriesOf({ type, data }: Secret): Entries {
  const modern = data?.['.dockerconfigjson'];
  const old = data?.['.dockercfg'];
  if (type === 'kubernetes.io/dockerconfigjson' && modern) return entriesIn(secretText(modern), 'json') ?? [];
  if (type === 'kubernetes.io/dockercfg' && old) return entriesIn(secretText(old), 'cfg') ?? [];
  return [];
}

const dockerHub = new Set(['index.docker.io', 'docker.io', 'registry-1.docker.io']);

/** Whether credentials kept under `key` (`host`, `*.host`, `https://host/path`) are for the image. */
export function matchesImage(key: string, image: string): boolean {
  const [host = '', ...path] = withoutTrailing(key.replace(/^https?:\/\//, ''), '/').split('/');
  const registry = registryOf(image);
  const sameHub = dockerHub.has(host) && dockerHub.has(registry);
  const wanted = host.split('.');
  const actual = registry.split('.');
  const globs = wanted.length === actual.length && wanted.every((part, index) => globMatches(part, actual[index] ?? ''));
  if (!sameHub && !globs) return false;
  const prefix = path.filter((part) => part !== 'v1' && part !== 'v2').join('/');
  if (prefix === '' || sameHub) return true;
  const repository = image.slice(registry.length + 1);
  return repository === prefix || repository.startsWith(`${prefix}/`) || repository.startsWith(`${prefix}:`);
}

/** `*` is any text, `?` any character. It goes back to the last `*` only, so many of them do not multiply: a secret's author chose the pattern. */
function globMatches(pattern: string, text: string): boolean {
  let [at, from] = [0, 0];
  let [star, starFrom] = [-1, 0];
  while (from < text.length) {
    if (pattern[at] === '*') [star, starFrom] = [at++, from];
    else if (at < pattern.length && (pattern[at] === '?' || pattern[at] === text[from])) [at, from] = [at + 1, from + 1];
    else if (star >= 0) [at, from] = [star + 1, ++starFrom];
    else return false;
  }
  while (pattern[at] === '*') at++;
  return at === pattern.length;
}

/** The credentials for an image: those of the secrets before those of the node; among each the longest key first, as it names the image best. */
export const credentialsFor = (image: string, secrets: readonly Secret[], node: Entries = []): RegistryAuth[] => [
  ...matching(image, secrets.flatMap(entriesOf)),
  ...matching(image, node),
];

function matching(image: string, entries: Entries): RegistryAuth[] {
  return entries
    .filter(([key, entry]) => isObject(entry) && matchesImage(key, image))
    .sort(([a], [b]) => b.length - a.length)
    .map(([, { username, password, auth, identitytoken, registrytoken }]) => {
      const decoded = auth && username === undefined ? secretText(auth) : undefined;
      const colon = decoded?.indexOf(':') ?? -1;
      return {
        username: username ?? (colon >= 0 ? decoded?.slice(0, colon) : undefined),
        password: password ?? (colon >= 0 ? decoded?.slice(colon + 1) : undefined),
        // No server address: containerd compares it with the host it asks, and takes one without scheme for an error.
        identityToken: identitytoken,
        registryToken: registrytoken,
      };
    });
}
