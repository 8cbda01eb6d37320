// What to change so that a load balancer becomes the wanted one, in an order that the API takes: what is gone goes first, listeners before the
// backend sets and rule sets that they name; what is new comes in the opposite order. Only what is asked for is compared: the rest is the API's choice,
// or its owner's. Pure.
import { differenceOf } from 'sagong/cloud-provider/kit';
import type { Backend, BackendSet, Balancer, Certificate, Listener, PieceChange, RuleSet } from '../api/types.ts';
import { backendKey } from './backends.ts';

export interface Wanted {
  listeners: Record<string, Listener>;
  backendSets: Record<string, BackendSet>;
  /** Those that are missing are made. */
  certificates: Record<string, Certificate>;
  /** Undefined: they are left as they are. */
  ruleSets?: Record<string, RuleSet>;
  /** Whether a certificate was made from a Secret of the Service. */
  isOwnCertificate(name: string): boolean;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether something of what is wanted is not there. */
export function differs(there: unknown, wanted: unknown): boolean {
  if (wanted === undefined) return false;
  if (Array.isArray(wanted))
    return !Array.isArray(there) || there.length !== wanted.length || wanted.some((one, at) => differs(there[at], one));
  if (!isRecord(wanted)) return there !== wanted;
  return !isRecord(there) || Object.entries(wanted).some(([field, value]) => differs(there[field], value));
}

/** Of what has no value by default, its absence counts as well. */
const gained = (there: object, wanted: object, fields: readonly string[]): boolean =>
  fields.some((field) => isGiven(Reflect.get(there, field)) && Reflect.get(wanted, field) === undefined);
const isGiven = (value: unknown): boolean =>
  value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0);

const sorted = (texts: readonly string[] = []): string[] => texts.toSorted();

export function listenerDiffers(there: Listener, wanted: Listener, managesRuleSets: boolean): boolean {
  const { ruleSetNames: _there, isPpv2Enabled, ...plainThere } = there;
  const { ruleSetNames: _wanted, ...plainWanted } = wanted;
  return (
    differs({ ...plainThere, isPpv2Enabled: isPpv2Enabled ?? false }, plainWanted) ||
    gained(there, wanted, ['sslConfiguration']) ||
    gained(there.connectionConfiguration ?? {}, wanted.connectionConfiguration ?? {}, ['backendTcpProxyProtocolVersion']) ||
    (managesRuleSets && differs(sorted(there.ruleSetNames), sorted(wanted.ruleSetNames)))
  );
}

/** The listener to send: one that had the PROXY protocol, and is not to have it any more, is told its idle timeout without it. */
function listenerAfter(there: Listener | undefined, wanted: Listener): Listener {
  const { connectionConfiguration: had } = there ?? {};
  const isDropped = had?.backendTcpProxyProtocolVersion !== undefined && !wanted.connectionConfiguration;
  return isDropped ? { ...wanted, connectionConfiguration: { idleTimeout: had.idleTimeout } } : wanted;
}

function backendsDiffer(there: readonly Backend[], wanted: readonly Backend[]): boolean {
  const { missing, surplus, both } = differenceOf(there, wanted, backendKey, backendKey);
  return missing.length + surplus.length > 0 || both.some(({ found, wanted: one }) => differs(found, one));
}

export function backendSetDiffers(there: BackendSet, wanted: BackendSet): boolean {
  const { backends: backendsThere = [], ...plainThere } = there;
  const { backends, ...plainWanted } = wanted;
  return (
    differs(plainThere, plainWanted) || gained(there, wanted, ['sslConfiguration']) || backendsDiffer(backendsThere, backends)
  );
}

interface Split<T> {
  gone: string[];
  fresh: [string, T][];
  other: [string, T][];
}

function split<T>(there: Record<string, T>, wanted: Record<string, T>, isOther: (there: T, wanted: T) => boolean): Split<T> {
  const found = Object.entries(there);
  const { missing, surplus, both } = differenceOf(
    found,
    Object.entries(wanted),
    ([name]) => name,
    ([name]) => name,
  );
  return {
    gone: surplus.map(([name]) => name),
    fresh: missing,
    other: both.flatMap(({ found: [, one], wanted: [name, two] }): [string, T][] => (isOther(one, two) ? [[name, two]] : [])),
  };
}

const removals = (piece: PieceChange['piece'], names: readonly string[]): PieceChange[] =>
  names.map((name) => ({ piece, verb: 'delete', name }));

type Shown = Pick<Balancer, 'listeners' | 'backendSets' | 'certificates' | 'ruleSets'>;

/**
 * A port that changes its protocol changes the name of its listener: the old one goes before the new one comes. A backend set that a listener stays
 * with is changed before it.
 */
export function changesOf(there: Shown, wanted: Wanted): PieceChange[] {
  const manages = wanted.ruleSets !== undefined;
  const listeners = split(there.listeners, wanted.listeners, (one, two) => listenerDiffers(one, two, manages));
  const updated = listeners.other.map(([name, one]): [string, Listener] => [name, listenerAfter(there.listeners[name], one)]);
  const sets = split(there.backendSets, wanted.backendSets, backendSetDiffers);
  const rules = split(there.ruleSets, wanted.ruleSets ?? there.ruleSets, differs);
  const certificates = Object.entries(wanted.certificates).filter(([name]) => !Object.hasOwn(there.certificates, name));
  const old = Object.keys(there.certificates).filter(
    (name) => wanted.isOwnCertificate(name) && !Object.hasOwn(wanted.certificates, name),
  );
  const made = <P extends 'listener' | 'backendSet' | 'ruleSet'>(piece: P, verb: 'create' | 'update', all: [string, unknown][]) =>
    all.map(([name, details]) => ({ piece, verb, name, details }) as PieceChange);
  return [
    ...certificates.map(([name, details]): PieceChange => ({ piece: 'certificate', verb: 'create', name, details })),
    ...made('ruleSet', 'create', rules.fresh),
    ...made('ruleSet', 'update', rules.other),
    ...removals('listener', listeners.gone),
    ...made('backendSet', 'create', sets.fresh),
    ...made('backendSet', 'update', sets.other),
    ...made('listener', 'create', listeners.fresh),
    ...made('listener', 'update', updated),
    ...removals('backendSet', sets.gone),
    ...removals('ruleSet', rules.gone),
    ...removals('certificate', old),
  ];
}
