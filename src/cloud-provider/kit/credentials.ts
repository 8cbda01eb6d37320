// Secrets in files: read with bounds and with errors that name the file and never show what is in it, and read again when somebody replaced them.
import { readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import type { Clock } from '#utils';
import { textOf } from './failure.ts';
import { secretBytesMax, secretFileLookMs } from './limits.ts';

/** A path of a configuration as it is meant: `~/` is the home folder, a relative one begins at the folder of the configuration. */
export function configPath(path: string, configDir: string): string {
  if (path.startsWith('~/')) return join(homedir(), path.slice(2));
  return isAbsolute(path) ? path : resolve(configDir, path);
}

/** The text of a file with a secret, without white space at its ends. `what` names the setting for the error. */
export async function readSecretFile(path: string, what: string): Promise<string> {
  let size: number;
  let text = '';
  try {
    ({ size } = await stat(path));
    if (size <= secretBytesMax) text = await readFile(path, 'utf8');
  } catch (error) {
    throw new Error(`${what}: ${path} cannot be read: ${textOf(error)}`, { cause: error });
  }
  if (size > secretBytesMax) throw new Error(`${what}: ${path} is larger than ${secretBytesMax} bytes`);
  if (text.trim() === '') throw new Error(`${what}: ${path} is empty`);
  return text.trim();
}

/** A file with JSON in it. The parser's message is left out, as it quotes the file. */
export async function readSecretJson(path: string, what: string): Promise<Record<string, unknown>> {
  const text = await readSecretFile(path, what);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Told below, like a value of another type.
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error(`${what}: ${path} is not a JSON object`);
  return value as Record<string, unknown>;
}

export interface SecretFileOptions<Secret> {
  path: string;
  /** Name of the setting. */
  what: string;
  clock: Pick<Clock, 'monotonic'>;
  /** Throws for what is no such secret. */
  parse(text: string): Secret;
  lookMs?: number;
}

/** A secret that may be replaced while the program runs (a mounted Secret, a projected token): the file is read again once it has changed. */
export function secretFile<Secret>({
  path,
  what,
  clock,
  parse,
  lookMs = secretFileLookMs,
}: SecretFileOptions<Secret>): () => Promise<Secret> {
  let known: { secret: Secret; version: string } | undefined;
  let lookAtMs = Number.NEGATIVE_INFINITY;
  return async () => {
    if (known && clock.monotonic() < lookAtMs) return known.secret;
    const { mtimeMs, size, ino } = await stat(path).catch((error: unknown) => {
      throw new Error(`${what}: ${path} cannot be read: ${textOf(error)}`, { cause: error });
    });
    const version = `${mtimeMs} ${size} ${ino}`;
    if (known?.version !== version) known = { secret: parse(await readSecretFile(path, what)), version };
    lookAtMs = clock.monotonic() + lookMs;
    return known.secret;
  };
}

/** A place where credentials may be. `find` gives undefined where there are none, and throws where there are unusable ones. */
export interface CredentialSource<Credentials> {
  name: string;
  find(): Promise<Credentials | undefined> | Credentials | undefined;
}

/** The first credentials that are found. Rejects with a list of all places when there are none, and at the first unusable ones. */
export async function firstCredentials<Credentials>(
  sources: readonly CredentialSource<Credentials>[],
): Promise<{ credentials: Credentials; from: string }> {
  for (const { name, find } of sources) {
    let credentials: Credentials | undefined;
    try {
      credentials = await find();
    } catch (error) {
      throw new Error(`credentials from ${name}: ${textOf(error)}`, { cause: error });
    }
    if (credentials !== undefined) return { credentials, from: name };
  }
  throw new Error(`no credentials; looked for in: ${sources.map(({ name }) => name).join(', ')}`);
}
