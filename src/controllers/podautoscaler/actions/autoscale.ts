// The shell of the loop: reads the target's scale, asks for measurements, writes the new size. What they mean is decided in decide.ts and status.ts.
import type { Scale } from '#api/autoscaling/v1';
import { parse as parseSelector } from '#apimachinery/labels';
import type { DiscoveredResource, KubeClient, Plan } from '#controller-runtime';
import { propose, withoutMetrics } from '../decide.ts';
import type { History } from '../limits.ts';
import { conclude, withoutScale, withoutSelector } from '../status.ts';
import type { AutoscalerView, Hpa } from '../view.ts';
import { measure } from './measure.ts';

const noHistory: History = { recommendations: [], ups: [], downs: [] };

export interface Input extends AutoscalerView {
  hpa: Hpa;
  resources: DiscoveredResource[];
}

/** The first of the target's resources that has a scale of that name. */
async function scaleOf(
  client: KubeClient,
  { hpa, resources }: Input,
): Promise<{ resource: DiscoveredResource; scale: Scale } | string> {
  let failure: string | undefined;
  for (const resource of resources) {
    const { group, version } = resource;
    const call = { group, version, resource: resource.resource, subresource: 'scale' } as const;
    const names = { namespace: hpa.metadata.namespace ?? '', name: hpa.spec?.scaleTargetRef.name ?? '' };
    try {
      return { resource, scale: await client.transport.call<Scale>({ verb: 'get', ...call, ...names }) };
    } catch (error) {
      failure ??= error instanceof Error ? error.message : String(error);
    }
  }
  return failure ?? 'unrecognized resource';
}

async function resize(
  client: KubeClient,
  { resource, group, version }: DiscoveredResource,
  scale: Scale,
  replicas: number,
): Promise<string | undefined> {
  const { namespace, name = '' } = scale.metadata;
  const object: Scale = { ...scale, spec: { ...scale.spec, replicas } };
  try {
    await client.transport.call({ verb: 'update', group, version, resource, subresource: 'scale', namespace, name, object });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Measures one autoscaler's target and gives it the size that follows. */
export async function autoscale(client: KubeClient, input: Input, now: number): Promise<Plan> {
  const { hpa, discovered, history = noHistory } = input;
  const found = await scaleOf(client, input);
  if (typeof found === 'string') return withoutScale(hpa, found, now);
  const { resource, scale } = found;
  const current = scale.spec?.replicas ?? 0;
  const selector = scale.status?.selector ?? '';
  if (selector === '' && withoutMetrics({ hpa, current }) === undefined) return withoutSelector(hpa, current, now);
  const labels = parseSelector(selector);
  const selected = input.pods.filter(({ metadata }) => labels.matches(metadata.labels ?? {}));
  const needed = withoutMetrics({ hpa, current }) === undefined ? (hpa.spec?.metrics ?? []) : [];
  const measured = await measure({ client, namespace: hpa.metadata.namespace ?? '', selector, discovered }, needed);
  const proposal = propose({ hpa, current, observed: scale.status?.replicas ?? 0, pods: selected, measured, history, now });
  const failure = proposal.rescale && (await resize(client, resource, scale, proposal.rescale.replicas));
  return conclude(hpa, current, proposal, failure, now);
}
