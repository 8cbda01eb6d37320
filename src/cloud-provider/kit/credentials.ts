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

/** What a file is now, as far as its metadata tells. */
async function versionOf(path: string, what: string): Promise<string> {
  const { mtimeMs, size, ino } = await stat(path).catch((error: unknown) => {
    throw new Error(`${what}: ${path} cannot be read: ${textOf(error)}`, { cause: error });
  });
  return `${path} ${mtimeMs} ${size} ${ino}`;
}

export interface FromFilesOptions<Made> {
  /** The files that it is made from; asked at each look, as one may name another. */
  paths(): readonly string[];
  /** Name of the setting. */
  what: string;
  clock: Pick<Clock, 'monotonic'>;
  /** Throws for what is no such secret. */
  make(): Promise<Made> | Made;
  lookMs?: number;
}

/** What is made from files with secrets that may be replaced while the program runs (a mounted Secret): it is made anew once one of them has changed. */
export function fromFiles<Made>({
  paths,
  what,
  clock,
  make,
  lookMs = secretFileLookMs,
}: FromFilesOptions<Made>): () => Promise<Made> {
  let known: { made: Made; version: string } | undefined;
  let lookAtMs = Number.NEGATIVE_INFINITY;
  return async () => {
    if (known && clock.monotonic() < lookAtMs) return known.made;
    const version = (await Promise.all(paths().map((path) => versionOf(path, what)))).join('\n');
    if (known?.version !== version) known = { made: await make(), version };
    lookAtMs = clock.monotonic() + lookMs;
    return known.made;
  };
}

export interface SecretFileOptions<Secret> extends Pick<FromFilesOptions<Secret>, 'what' | 'clock' | 'lookMs'> {
  path: string;
  /** Throws for what is no such secret. */
  parse(text: string): Secret;
}

/** A secret that may be replaced while the program runs (a projected token): the file is read again once it has changed. */
export const secretFile = <Secret>({ path, parse, ...options }: SecretFileOptions<Secret>): (() => Promise<Secret>) =>
  fromFiles({ ...options, paths: () => [path], make: async () => parse(await readSecretFile(path, options.what)) });

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
