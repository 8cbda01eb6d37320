// Fits the size of workloads to what is measured of them (pkg/controller/podautoscaler). Every autoscaler is looked at each sync period.
import type { HorizontalPodAutoscaler, HorizontalPodAutoscalerStatus } from '#api/autoscaling/v2';
import type { Scale } from '#api/autoscaling/v1';
import type { Pod } from '#api/core/v1';
import { parse as parseSelector } from '#apimachinery/labels';
import { formatTime, parseApiVersion, splitKey } from '#apimachinery/meta';
import {
  type ActionDeps,
  type ControllerDefinition,
  defineController,
  type DiscoveredResource,
  ownKey,
  type Plan,
  watch,
} from '#controller-runtime';
import { horizontalPodAutoscalers, pods } from '#controller-runtime/platform';
import { allow, recordEvents } from '#controller-runtime/workload';
import { deepEqual } from '#utils';
import type { ControllersConfig } from '../config.ts';
import { propose, type Proposal, setCondition, tell, withoutMetrics } from './decide.ts';
import { type History, withChange } from './limits.ts';
import { measure } from './measure.ts';

type Hpa = HorizontalPodAutoscaler;
type KubeClient = ActionDeps['client'];

const discoveryPeriodMs = 30_000;

export interface AutoscalerView {
  hpa: Hpa | undefined;
  /** Of the namespace. */
  pods: readonly Pod[];
  discovered: readonly DiscoveredResource[];
  history: History | undefined;
}

const noHistory: History = { recommendations: [], ups: [], downs: [] };

const targets = ({ spec }: Hpa, discovered: readonly DiscoveredResource[]): DiscoveredResource[] => {
  const { group } = parseApiVersion(spec?.scaleTargetRef.apiVersion ?? '');
  const kind = spec?.scaleTargetRef.kind;
  return discovered.filter((one) => one.group === group && one.kind === kind);
};

type Status = Partial<HorizontalPodAutoscalerStatus>;

function withStatus(hpa: Hpa, change: Status): Plan['effects'] {
  const { currentMetrics, ...status } = { ...hpa.status, ...change } as HorizontalPodAutoscalerStatus;
  if ((currentMetrics ?? []).length > 0) Object.assign(status, { currentMetrics });
  const { currentMetrics: before, ...old } = hpa.status ?? {};
  if (deepEqual(status, { ...old, ...((before ?? []).length > 0 && { currentMetrics: before }) })) return [];
  const object: Hpa = { ...hpa, status };
  return [{ op: 'update', resource: horizontalPodAutoscalers, subresource: 'status', object }];
}

/** The target's size could not be read. */
export function withoutScale(hpa: Hpa, error: string, now: number): Plan {
  const message = `the HPA controller was unable to get the target's current scale: ${error}`;
  const conditions = setCondition(hpa.status?.conditions ?? [], 'AbleToScale', false, { reason: 'FailedGetScale', message }, now);
  return { effects: [tell(hpa, 'Warning', 'FailedGetScale', error), ...withStatus(hpa, { conditions })] };
}

/** A target that cannot say which pods are its own. */
function withoutSelector(hpa: Hpa, current: number, now: number): Plan {
  const problem = { reason: 'InvalidSelector', message: "the HPA target's scale is missing a selector" };
  const conditions = setCondition(hpa.status?.conditions ?? [], 'ScalingActive', false, problem, now);
  const { desiredReplicas = 0 } = hpa.status ?? {};
  return {
    effects: [
      tell(hpa, 'Warning', 'SelectorRequired', 'selector is required'),
      tell(hpa, 'Warning', 'FailedComputeMetricsReplicas', 'selector is required'),
      ...withStatus(hpa, { currentReplicas: current, desiredReplicas, currentMetrics: [], conditions }),
    ],
  };
}

/** Decides what to write after the target was, or was not, given its new size. */
export function conclude(hpa: Hpa, current: number, proposal: Proposal, failure: string | undefined, now: number): Plan {
  const { rescale, events, metrics } = proposal;
  let { conditions, history } = proposal;
  let desired = current;
  if (proposal.error !== undefined && !rescale) desired = hpa.status?.desiredReplicas ?? 0;
  const told = [...events];
  if (rescale && failure !== undefined) {
    const message = `the HPA controller was unable to update the target scale: ${failure}`;
    conditions = setCondition(conditions, 'AbleToScale', false, { reason: 'FailedUpdateScale', message }, now);
    told.push(
      tell(hpa, 'Warning', 'FailedRescale', `New size: ${rescale.replicas}; reason: ${rescale.reason}; error: ${failure}`),
    );
    desired = hpa.status?.desiredReplicas ?? 0;
  } else if (rescale) {
    const message = `the HPA controller was able to update the target scale to ${rescale.replicas}`;
    conditions = setCondition(conditions, 'AbleToScale', true, { reason: 'SucceededRescale', message }, now);
    told.push(tell(hpa, 'Normal', 'SuccessfulRescale', `New size: ${rescale.replicas}; reason: ${rescale.reason}`));
    history = withChange(hpa, history, rescale.replicas - current, now);
    desired = rescale.replicas;
  }
  const status: Status = {
    currentReplicas: current,
    desiredReplicas: desired,
    currentMetrics: metrics,
    conditions,
    ...(rescale && failure === undefined && { lastScaleTime: formatTime(now) }),
  };
  return { effects: [...told, ...withStatus(hpa, status)], remember: history };
}

interface Input extends AutoscalerView {
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

async function autoscale(client: KubeClient, input: Input, now: number): Promise<Plan> {
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

export const podAutoscaler = (
  config: Pick<ControllersConfig, 'horizontalPodAutoscalerSyncPeriodMs'>,
): ControllerDefinition<AutoscalerView> =>
  defineController<AutoscalerView>({
    name: 'horizontal-pod-autoscaler-controller',
    aliases: ['horizontalpodautoscaling'],
    serviceAccount: 'horizontal-pod-autoscaler',
    eventSource: 'horizontal-pod-autoscaler',
    rights: [
      allow('get,list,watch', 'autoscaling', 'horizontalpodautoscalers'),
      allow('update', 'autoscaling', 'horizontalpodautoscalers/status'),
      allow('get,update', '*', '*/scale'),
      allow('list,watch', 'core', 'pods'),
      allow('list,watch', 'metrics.k8s.io', 'pods'),
      allow('get,list,watch', 'custom.metrics.k8s.io', '*'),
      allow('get,list,watch', 'external.metrics.k8s.io', '*'),
      recordEvents,
    ],
    watches: [
      watch<Hpa>({
        resource: horizontalPodAutoscalers,
        keys: (hpa, old) => (old && deepEqual(old.spec, hpa.spec) ? [] : ownKey(hpa)),
      }),
      watch<Pod>({ resource: pods }),
    ],
    discover: { everyMs: discoveryPeriodMs, watch: () => undefined },
    view(key, cache, { memory }) {
      const { namespace, name } = splitKey(key);
      const hpa = cache.get<Hpa>(horizontalPodAutoscalers, namespace, name);
      return {
        hpa,
        pods: hpa ? cache.list<Pod>(pods, namespace) : [],
        discovered: cache.discovered(),
        history: memory as History | undefined,
      };
    },
    reconcile(view, now): Plan {
      const { hpa, discovered, history } = view;
      if (!hpa) return { effects: [] };
      const requeueAfterMs = config.horizontalPodAutoscalerSyncPeriodMs;
      const resources = targets(hpa, discovered);
      const { kind, apiVersion = '' } = hpa.spec?.scaleTargetRef ?? { kind: '' };
      if (resources.length === 0) {
        const { group } = parseApiVersion(apiVersion);
        return {
          ...withoutScale(hpa, `no matches for kind "${kind}" in group "${group}"`, now),
          remember: history,
          requeueAfterMs,
        };
      }
      return {
        effects: [{ op: 'action', name: 'autoscale', input: { ...view, resources } }],
        remember: history,
        requeueAfterMs,
        because: `What ${kind} ${hpa.spec?.scaleTargetRef.name} uses is measured every ${requeueAfterMs / 1000} s.`,
      };
    },
    actions: ({ client, clock }) => ({ autoscale: (input) => autoscale(client, input as Input, clock.now()) }),
    concurrency: 5,
  });
