// The claims that OpenID gives a meaning, by the types that upstream's reader of tokens asks of them: a claim of another type makes a token
// none, so that what bounds it (`nbf` as a word) is never passed over. Pure.
import { own } from '#utils';
import type { Claims } from './mapping.ts';

export interface StandardClaims {
  audiences: string[];
  /** Seconds since 1970; undefined: a token without an end, which has ended. */
  expires: number | undefined;
  notBefore: number | undefined;
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isSource = (value: unknown): boolean =>
  isMap(value) && ['endpoint', 'access_token'].every((name) => isNothing(own(value, name)) || isText(own(value, name)));
const isNothing = (value: unknown): value is undefined | null => value === undefined || value === null;

const failed = (name: string, wanted: string): Error =>
  new Error(`oidc: failed to unmarshal claims: claim ${JSON.stringify(name)} must be ${wanted}`);

const numberText = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

/** A time in seconds, which may be written as a text of digits. */
function secondsOf(claims: Claims, name: string): number | undefined {
  const value = own(claims, name);
  if (value === undefined || (value === null && name === 'nbf')) return undefined;
  if (typeof value === 'number') return Math.trunc(value);
  if (isText(value) && numberText.test(value)) return Math.trunc(Number(value));
  throw failed(name, 'a number');
}

function audiencesOf(claims: Claims): string[] {
  const value = own(claims, 'aud');
  if (isNothing(value)) return [];
  if (isText(value)) return [value];
  if (Array.isArray(value) && value.every((one) => isText(one) || one === null)) return value.filter(isText);
  throw failed('aud', 'a string or a list of strings');
}

/** Throws an Error that names the claim of a wrong type. */
export function standardClaims(claims: Claims): StandardClaims {
  for (const name of ['sub', 'nonce', 'at_hash'])
    if (!isNothing(own(claims, name)) && !isText(own(claims, name))) throw failed(name, 'a string');
  const [names, sources] = [own(claims, '_claim_names'), own(claims, '_claim_sources')];
  if (!isNothing(names) && !(isMap(names) && Object.values(names).every((one) => isNothing(one) || isText(one))))
    throw failed('_claim_names', 'a map of strings');
  if (!isNothing(sources) && !(isMap(sources) && Object.values(sources).every((one) => isNothing(one) || isSource(one))))
    throw failed('_claim_sources', 'a map of sources');
  for (const source of Object.values(isMap(names) ? names : {})) {
    if (isNothing(source) || source === '') throw new Error('oidc: failed to obtain source from claim name');
    if (!isMap(sources) || !Object.hasOwn(sources, source as string)) throw new Error('oidc: source does not exist');
  }
  secondsOf(claims, 'iat');
  return { audiences: audiencesOf(claims), expires: secondsOf(claims, 'exp'), notBefore: secondsOf(claims, 'nbf') };
}
