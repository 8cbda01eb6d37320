// What a namespace asks for in its labels (k8s.io/pod-security-admission/api), and what a pod breaks of it.
import { type FieldError, invalid, root } from '#apimachinery/field';
import { baselineChecks } from './baseline.ts';
import type { Check, CheckPod, PodView, Violation } from './check.ts';
import { restrictedChecks } from './restricted.ts';

export type Level = 'privileged' | 'baseline' | 'restricted';

export interface LevelVersion {
  level: Level;
  /** A minor of 1.x; undefined: latest. */
  minor: number | undefined;
}

export interface Policy {
  enforce: LevelVersion;
  audit: LevelVersion;
  warn: LevelVersion;
}

export const levels: readonly Level[] = ['privileged', 'baseline', 'restricted'];

/** A level with its version in the words of messages: `baseline:latest`, `restricted:v1.30`. */
export const levelText = ({ level, minor }: LevelVersion): string => `${level}:${minor === undefined ? 'latest' : `v1.${minor}`}`;

/** Compares two levels for sorting: the result is below 0 where `a` is laxer than `b`. */
export const compareLevels = (a: Level, b: Level): number => levels.indexOf(a) - levels.indexOf(b);

export const sameLevel = (a: LevelVersion, b: LevelVersion): boolean => a.level === b.level && a.minor === b.minor;

const prefix = 'pod-security.kubernetes.io/';
const labelPath = (label: string) => root('metadata', 'labels').key(label);

/** The minor of `v1.30`; undefined for `latest`, null for what is no version. */
export function minorOf(version: string): number | undefined | null {
  if (version === 'latest') return undefined;
  const [, digits] = /^v1\.([0-9]|[1-9][0-9]*)$/.exec(version) ?? [];
  return digits === undefined ? null : Number(digits);
}

/** `fallback` is what counts where a label is wrong. */
function readMode(
  labels: Record<string, string>,
  mode: keyof Policy,
  given: LevelVersion,
  fallback: Level,
  errors: FieldError[],
): LevelVersion {
  const levelLabel = prefix + mode;
  const versionLabel = `${levelLabel}-version`;
  let { level, minor } = given;
  const wantedLevel = labels[levelLabel];
  if (wantedLevel !== undefined) {
    const known = levels.find((candidate) => candidate === wantedLevel);
    if (!known) errors.push(invalid(labelPath(levelLabel), wantedLevel, `must be one of ${levels.join(', ')}`));
    level = known ?? fallback;
  }
  const wantedVersion = labels[versionLabel];
  if (wantedVersion !== undefined) {
    const found = minorOf(wantedVersion);
    if (found === null) errors.push(invalid(labelPath(versionLabel), wantedVersion, 'must be "latest" or "v1.x"'));
    minor = found ?? undefined;
  }
  return { level, minor };
}

/** The policy of a namespace, and what is wrong with its labels. */
export function policyOf(labels: Record<string, string> | undefined, defaults: Policy): { policy: Policy; errors: FieldError[] } {
  if (!labels || Object.keys(labels).length === 0) return { policy: defaults, errors: [] };
  const errors: FieldError[] = [];
  const enforce = readMode(labels, 'enforce', defaults.enforce, 'restricted', errors);
  const enforceIsSet = labels[`${prefix}enforce`] !== undefined && levels.some((level) => level === labels[`${prefix}enforce`]);
  const audit = readMode(labels, 'audit', defaults.audit, 'privileged', errors);
  let warn = readMode(labels, 'warn', defaults.warn, 'privileged', errors);
  const warnIsSet = labels[`${prefix}warn`] !== undefined;
  if (!warnIsSet && enforceIsSet && compareLevels(enforce.level, warn.level) > 0) {
    warn = { level: enforce.level, minor: labels[`${prefix}warn-version`] === undefined ? enforce.minor : warn.minor };
  }
  return { policy: { enforce, audit, warn }, errors };
}

export const fullyPrivileged = ({ enforce, audit, warn }: Policy): boolean =>
  [enforce, audit, warn].every(({ level }) => level === 'privileged');

const newestMinor = Math.max(
  ...[...baselineChecks, ...restrictedChecks].flatMap(({ versions }) => versions.map(({ since }) => since)),
);

const formFor = ({ versions }: Check, minor: number): CheckPod | undefined =>
  versions.findLast(({ since }) => since <= minor)?.check;

function checksFor(level: Level, minor: number): CheckPod[] {
  const forms = (checks: readonly Check[]): CheckPod[] => checks.flatMap((check) => formFor(check, minor) ?? []);
  if (level === 'baseline') return forms(baselineChecks);
  const overridden = new Set(restrictedChecks.filter((check) => formFor(check, minor)).map(({ overrides }) => overrides));
  return [...forms(baselineChecks.filter(({ id }) => !overridden.has(id))), ...forms(restrictedChecks)];
}

const tables = new Map<string, readonly CheckPod[]>();

/** What the pod breaks, in order; none when it is fine. */
export function violations({ level, minor = newestMinor }: LevelVersion, pod: PodView): Violation[] {
  if (level === 'privileged') return [];
  const effective = Math.min(minor, newestMinor);
  const key = `${level}:${effective}`;
  let checks = tables.get(key);
  if (!checks) {
    checks = checksFor(level, effective);
    tables.set(key, checks);
  }
  return checks.flatMap((check) => check(pod) ?? []);
}

/** All violations in one line: `host namespaces (hostPID=true), hostPort (...)`. */
export const violationText = (found: readonly Violation[]): string =>
  found.map(({ reason, detail }) => (detail === '' ? reason : `${reason} (${detail})`)).join(', ');
