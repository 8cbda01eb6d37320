// Registry credentials out of a pod's pull secrets (upstream pkg/credentialprovider). Pure.
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

/** Entries of a dockerconfigjson or dockercfg secret; nothing of what cannot be read. */
function entriesOf(secret: Secret): [string, Entry][] {
  const modern = secret.data?.['.dockerconfigjson'];
  const old = secret.data?.['.dockercfg'];
  try {
    if (secret.type === 'kubernetes.io/dockerconfigjson' && modern)
      return Object.entries((JSON.parse(secretText(modern)) as { auths?: Record<string, Entry> }).auths ?? {});
    if (secret.type === 'kubernetes.io/dockercfg' && old)
      return Object.entries(JSON.parse(secretText(old)) as Record<string, Entry>);
  } catch {
    return [];
  }
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

/** Longest key first, as it names the image best. */
export function credentialsFor(image: string, secrets: readonly Secret[]): RegistryAuth[] {
  return secrets
    .flatMap(entriesOf)
    .filter(([key, entry]) => typeof entry === 'object' && entry !== null && matchesImage(key, image))
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
