// `--runtime-config`: which API versions are served (k8s.io/apiserver/pkg/server/options/api_enablement.go, resourceconfig). All versions that are
// here are generally available; beta and alpha ones, which upstream has off by default, are not there to be switched on.
import { builtinGroups } from '#api';
import { parseBool } from '#component-base';
import { quote } from '#utils';

export type IsServed = (group: string, version: string) => boolean;

const stages = new Set(['api/all', 'api/ga', 'api/beta', 'api/alpha']);
const absentStages = new Set(['api/all', 'api/beta', 'api/alpha']);

function switchOf(key: string, text: string): boolean {
  const value = text === '' ? true : parseBool(text);
  if (value === undefined)
    throw new Error(
      `runtime-config invalid value ${key}=${text}, err: strconv.ParseBool: parsing ${quote(text)}: invalid syntax`,
    );
  return value;
}

/** `v1` and `api/v1` are the core. */
function versionOf(key: string): string {
  const parts = key.split('/');
  if (parts.length === 1) return `/${key}`;
  if (parts.length === 2) return parts[0] === 'api' ? `/${parts[1]}` : key;
  throw new Error(`--runtime-config ${key}: single resources cannot be switched`);
}

/** Throws an Error for values, groups and versions that cannot be. */
export function servedVersions(config: Readonly<Record<string, string>>): IsServed | undefined {
  const entries = Object.entries(config).map(([key, text]): [string, boolean] => [key, switchOf(key, text)]);
  if (entries.length === 0) return undefined;
  if (entries.length === 1 && entries[0]?.[0] === 'api/all' && !entries[0][1])
    throw new Error('invalid key with only api/all=false');
  const known = new Set(builtinGroups().flatMap(({ group, versions }) => versions.map(({ version }) => `${group}/${version}`)));
  const groups = new Set([...known].map((name) => name.slice(0, name.indexOf('/'))));
  const single = new Map<string, boolean>();
  for (const [key, on] of entries) {
    if (stages.has(key)) {
      if (on && absentStages.has(key))
        throw new Error(`--runtime-config ${key}=true is not supported: versions that are off by default are not there`);
      continue;
    }
    const version = versionOf(key);
    const group = version.slice(0, version.indexOf('/'));
    if (!groups.has(group) && group.endsWith('.k8s.io')) {
      if (on) throw new Error(`--runtime-config ${key}=true is not supported: ${group} is not there`);
    } else if (!groups.has(group)) throw new Error(`unknown api groups ${group}`);
    else if (on && !known.has(version))
      throw new Error(`--runtime-config ${key}=true is not supported: this version is not there`);
    single.set(version, on);
  }
  const usual = Object.fromEntries(entries)['api/ga'] ?? Object.fromEntries(entries)['api/all'] ?? true;
  return (group, version) => single.get(`${group}/${version}`) ?? usual;
}
