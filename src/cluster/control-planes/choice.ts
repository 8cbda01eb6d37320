// Whether a cluster's control plane is on machines of its own, as its first start chose it.
import { findProgram } from '../capabilities.ts';
import type { ClusterSettings } from '../state/settings.ts';
import { type UpFlags, upDefaults } from '../flags/index.ts';
import { controlPlaneCounts, controlPlaneNames } from './names.ts';

interface Given extends Pick<UpFlags, 'controlPlanes' | 'layout' | 'topology' | 'port' | 'runtime' | 'quotaBytes'> {
  name: string;
  etcd?: object | undefined;
  audit?: object | undefined;
}

/** Program, Debian package. */
const programs = [
  ['etcd', 'etcd-server'],
  ['haproxy', 'haproxy'],
  ['setpriv', 'util-linux'],
] as const;

export function assertControlPlanePrograms(
  wanted: readonly string[] = programs.map(([program]) => program),
  known: readonly (readonly [string, string])[] = programs,
): void {
  const missing = known.filter(([program]) => wanted.includes(program)).filter(([program]) => !findProgram(program));
  if (missing.length === 0) return;
  const names = missing.map(([program]) => program).join(', ');
  throw new Error(
    `a control plane on etcd needs ${names}, which ${missing.length > 1 ? 'are' : 'is'} not on this machine; install with: node scripts/setup.mjs --for control-planes (or: apt-get install ${missing.map(([, name]) => name).join(' ')})`,
  );
}

/** Programs that pods of the cluster's own carry. */
const podPrograms = [...[...programs, ['etcdctl', 'etcd-client'], ['nft', 'nftables'], ['conntrack', 'conntrack']]] as [
  string,
  string,
][];

/** What has no meaning beside control-plane machines, by flag. */
const excluded = (given: Given, pods: boolean): readonly [string, boolean][] => [
  ['--etcd-servers', given.etcd !== undefined],
  ['--port', Boolean(given.port)],
  ['--runtime simulated', given.runtime === 'simulated'],
  // In pods the cluster's own manifests would need folders of a user's.
  ['--audit-policy-file', pods && given.audit !== undefined],
  ['--quota-backend-bytes', given.quotaBytes !== undefined],
];

/** The layout is chosen with the first start. Throws a sentence for another one, and where it cannot be had. */
export function assertLayout({ layout }: Pick<Given, 'layout'>, before: ClusterSettings | undefined, machine: boolean): void {
  const kept = before?.layout ?? upDefaults.layout;
  if (before && layout !== undefined && layout !== kept)
    throw new Error(
      `this cluster has the layout ${kept}, which cannot change; start another one with a --name or --data-dir of its own`,
    );
  if (layout === 'pods' && machine) throw new Error('--layout pods cannot be used with --advertise-address');
}

/** The names of the machines; undefined: the control plane is in the process of `sagong up`. Throws a sentence for what cannot be. */
export function controlPlanesOfStart(given: Given, before: ClusterSettings | undefined): string[] | undefined {
  const { controlPlanes: count = !before && given.layout === 'pods' ? 1 : undefined } = given;
  if (before && count !== undefined && count !== (before.controlPlanes?.length ?? 0))
    throw new Error(
      `this cluster has ${before.controlPlanes?.length ?? 'no'} control-plane machines, which cannot change; start another one with a --name or --data-dir of its own`,
    );
  const names = before ? before.controlPlanes : count === undefined ? undefined : controlPlaneNames(given.name, count);
  if (count !== undefined && !controlPlaneCounts.includes(count))
    throw new Error(`--control-planes must be one of ${controlPlaneCounts.join(', ')}, not ${count}`);
  if (!names) return undefined;
  const pods = (given.layout ?? before?.layout) === 'pods';
  const managed = (given.topology ?? before?.topology) === 'managed';
  if (managed && pods)
    throw new Error('--layout pods cannot be used with --topology managed: nobody sees the parts of a managed control plane');
  if (managed && names.length < 3)
    throw new Error('a managed control plane needs 3 or 5 machines, in the zones of the provider: --control-planes 3');
  for (const [flag, is] of excluded(given, pods))
    if (is) throw new Error(`${flag} cannot be used with ${pods ? '--layout pods' : '--control-planes'}`);
  const needed = pods ? podPrograms : programs;
  assertControlPlanePrograms(
    needed.map(([program]) => program),
    needed,
  );
  return names;
}
