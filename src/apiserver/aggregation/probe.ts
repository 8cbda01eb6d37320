// Asking another API server whether it is there (k8s.io/kube-aggregator/pkg/controllers/status/remote): it has to serve its group version to
// the aggregator. One good answer out of several is enough, so that one broken endpoint does not take a whole API away.
import type { APIService } from '#api/apiregistration/v1';
import type { Metrics } from '#component-base';
import type { Clock } from '#utils';
import { dialErrorText } from '#wire';
import type { ClusterWriter } from '../registry/writer.ts';
import type { ReadOnlyCluster } from '../storage/read-only-cluster.ts';
import { remoteAvailabilityMs, remoteDiscoveryTimeoutMs, remoteProbes } from '../limits.ts';
import { failedDiscovery, type Finding, findingOf, passed, record } from './availability.ts';
import { aggregatorUser, identityHeaders } from './identity.ts';
import { keyedLoop } from './keyed-loop.ts';
import { apiServiceGroup } from './registration.ts';
import type { Remote, RemoteConnections, RemoteTable } from './remotes.ts';

const versionPath = ({ group, version }: Remote): string => (group === '' ? `/api/${version}` : `/apis/${group}/${version}`);

/** Rejects with upstream's text. */
async function probeOnce(connections: RemoteConnections, remote: Remote): Promise<void> {
  const { client, host } = connections.to(remote);
  const url = `https://${host}${versionPath(remote)}`;
  const missing = (why: string): Error => new Error(`failing or missing response from ${url}: ${why}`);
  const signal = AbortSignal.timeout(remoteDiscoveryTimeoutMs);
  const answer = await client
    .request({ path: versionPath(remote), headers: identityHeaders(aggregatorUser), signal })
    .catch((error: unknown) => {
      client.closeIdle();
      const why = signal.aborted ? 'context deadline exceeded' : dialErrorText(error, host);
      throw missing(`Get "${url}": ${why}`);
    });
  answer.body.destroy();
  if (answer.status < 200 || answer.status >= 300) throw missing(`bad status from ${url}: ${answer.status}`);
}

async function probe(connections: RemoteConnections, remote: Remote): Promise<Finding> {
  const attempts = Array.from({ length: remoteProbes }, async () => probeOnce(connections, remote));
  try {
    await Promise.any(attempts);
    return passed;
  } catch (error) {
    const last = (error as AggregateError).errors.at(-1) as Error;
    return failedDiscovery(last.message);
  }
}

export interface AvailabilityDeps {
  cluster: ReadOnlyCluster;
  writer: ClusterWriter;
  remotes: RemoteTable;
  connections: RemoteConnections;
  clock: Clock;
  metrics: Metrics;
}

/** Keeps the condition Available of the APIServices of other servers true. */
export function followAvailability(deps: AvailabilityDeps, signal: AbortSignal): void {
  const { cluster, writer, remotes, connections, clock, metrics } = deps;
  const lost = metrics.counter({
    name: 'aggregator_unavailable_apiservice_total',
    help: 'Counter of APIServices which are marked as unavailable broken down by APIService name and reason.',
    labels: ['name', 'reason'],
  });
  const unavailable = metrics.gauge({
    name: 'aggregator_unavailable_apiservice',
    help: 'Gauge of APIServices which are marked as unavailable broken down by APIService name.',
    labels: ['name'],
  });
  const run = async (name: string): Promise<void> => {
    const remote = remotes.get(name);
    const service = cluster.get<APIService>(apiServiceGroup, 'apiservices', '', name);
    if (!remote || !service) return;
    const finding = findingOf(service, cluster) ?? (await probe(connections, remote));
    if (signal.aborted || !remotes.get(name)) return;
    unavailable.set(finding.status === 'True' ? 0 : 1, name);
    if (await record(writer, name, finding, () => clock.now())) lost.inc(1, name, finding.reason ?? '');
    if (finding.reason === 'FailedDiscoveryCheck') throw new Error(finding.message);
  };
  const loop = keyedLoop({ clock, signal, pauses: remoteAvailabilityMs, run });
  const all = (namespace: string, service: string | undefined): void => {
    for (const remote of remotes.all())
      if (remote.service.namespace === namespace && remote.service.name === service) void loop.add(remote.name);
  };
  // The status is written here: only what a probe depends on is a reason to look again.
  const seen = new Map<string, string>();
  const changed = (name: string): void => {
    const remote = remotes.get(name);
    if (!remote) {
      seen.delete(name);
      unavailable.remove(name);
      return loop.forget(name);
    }
    const { available: _, ...facts } = remote;
    const text = JSON.stringify(facts);
    if (seen.get(name) === text) return;
    seen.set(name, text);
    void loop.add(name);
  };
  remotes.onChange(changed);
  for (const { name } of remotes.all()) changed(name);
  const stops = [
    cluster.onChange('', 'services', (now, before) => {
      const { namespace = '', name } = (now ?? before)?.metadata ?? {};
      all(namespace, name);
    }),
    cluster.onChange('discovery.k8s.io', 'endpointslices', (now, before) => {
      const { namespace = '', labels } = (now ?? before)?.metadata ?? {};
      all(namespace, labels?.['kubernetes.io/service-name']);
    }),
  ];
  signal.addEventListener('abort', () => stops.forEach((stop) => stop()), { once: true });
}
