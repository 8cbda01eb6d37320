// The shell of the loop: one round of emptying a namespace deletes what is there and reports what is left. What the report means is decided in deletion.ts.
import type { Namespace, Pod } from '#api/core/v1';
import { isReason } from '#apimachinery/errors';
import type { GroupVersionResource, KubeObject } from '#apimachinery/meta';

import { type DiscoveredResource, type KubeClient, readDiscovery, supports } from '#controller-runtime';
import { namespaces, pods } from '#controller-runtime/platform';
import type { DeletionReport, ResourceReport } from './deletion.ts';

const isUnsupported = (error: unknown): boolean =>
  error instanceof Error && (isReason(error, 'MethodNotAllowed') || isReason(error, 'NotFound'));

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

async function emptyResource(client: KubeClient, found: DiscoveredResource, namespace: string): Promise<ResourceReport> {
  const resource: GroupVersionResource = { group: found.group, version: found.version, resource: found.resource };
  const target = client.resource<KubeObject>(resource, namespace);
  let graceSeconds: number | undefined;
  try {
    if (isPods(found)) graceSeconds = longestGrace((await target.list()).items as Pod[]);
    if (
      !supports(found, 'deletecollection') ||
      !(await tried(target.deleteCollection({}, { propagationPolicy: 'Background' })))
    ) {
      const each = supports(found, 'list') ? (await target.list()).items : [];
      for (const { metadata } of each) await tried(target.delete(metadata.name ?? '', { propagationPolicy: 'Background' }));
    }
    const remaining = supports(found, 'list') ? (await target.list()).items : [];
    return { resource, remaining, ...(graceSeconds !== undefined && { graceSeconds }) };
  } catch (error) {
    if (isUnsupported(error)) return { resource, remaining: [] };
    return { resource, remaining: [], error: textOf(error), ...(graceSeconds !== undefined && { graceSeconds }) };
  }
}

/** False when the server does not offer the operation. */
async function tried(operation: Promise<unknown>): Promise<boolean> {
  try {
    await operation;
    return true;
  } catch (error) {
    if (isUnsupported(error)) return false;
    throw error;
  }
}

const isPods = ({ group, resource }: GroupVersionResource): boolean => group === pods.group && resource === pods.resource;

const longestGrace = (all: readonly Pod[]): number =>
  Math.max(
    0,
    ...all
      .filter(({ status }) => status?.phase !== 'Succeeded' && status?.phase !== 'Failed')
      .map(({ spec }) => spec?.terminationGracePeriodSeconds ?? 0),
  );

/** Deletes all content. Pods go first; the rest is left alone while some remain (OrderedNamespaceDeletion). */
async function emptyOnce(client: KubeClient, namespace: string, signal: AbortSignal): Promise<DeletionReport> {
  const { resources, failed } = await readDiscovery(client.transport, signal);
  const failure = failed.map(({ groupVersion, reason }) => `${groupVersion}: ${reason}`).join(', ');
  const discoveryFailure =
    failed.length === 0
      ? undefined
      : `Discovery failed for some groups, ${failed.length} failing: unable to retrieve the complete list of server APIs: ${failure}`;
  const deletable = resources.filter((one) => one.preferred && one.namespaced && supports(one, 'delete'));
  const first = await Promise.all(deletable.filter(isPods).map((one) => emptyResource(client, one, namespace)));
  const podsFirst = first.some(({ remaining }) => remaining.length > 0);
  const rest = podsFirst
    ? []
    : await Promise.all(deletable.filter((one) => !isPods(one)).map((one) => emptyResource(client, one, namespace)));
  return { resources: [...first, ...rest], podsFirst, ...(discoveryFailure !== undefined && { discoveryFailure }) };
}

/** One round over the namespace `name`, and the Namespace as it is afterwards: its conditions and finalizers may have changed during the round. */
export async function emptyNamespace(
  client: KubeClient,
  name: string,
  signal: AbortSignal,
): Promise<{ namespace: Namespace; report: DeletionReport }> {
  const report = await emptyOnce(client, name, signal);
  return { namespace: await client.resource<Namespace>(namespaces).get(name), report };
}
