// Tells in each FlowSchema's status whether its priority level exists, as upstream's priority-and-fairness configuration consumer does
// (k8s.io/apiserver/pkg/util/flowcontrol).
import type { FlowSchema, FlowSchemaCondition, PriorityLevelConfiguration } from '#api/flowcontrol/v1';
import { isConflict, isNotFound } from '#apimachinery/errors';
import { formatTime } from '#apimachinery/meta';
import { quote } from '#utils';
import type { ClusterWriter } from '../registry/writer.ts';
import type { ReadOnlyCluster } from '../storage/read-only-cluster.ts';

const written = { subresource: 'status', manager: 'api-priority-and-fairness-config-consumer-v1' };
const group = 'flowcontrol.apiserver.k8s.io';

function dangling(cluster: ReadOnlyCluster, { spec }: FlowSchema): Omit<FlowSchemaCondition, 'lastTransitionTime'> {
  const level = spec?.priorityLevelConfiguration.name ?? '';
  const exists = cluster.get(group, 'prioritylevelconfigurations', '', level) !== undefined;
  const about = `This FlowSchema references the PriorityLevelConfiguration object named ${quote(level)}`;
  return {
    type: 'Dangling',
    status: exists ? 'False' : 'True',
    reason: exists ? 'Found' : 'NotFound',
    message: exists ? `${about} and it exists` : `${about} but there is no such object`,
  };
}

/** The condition that a schema should have; undefined when it has it. */
function corrected(cluster: ReadOnlyCluster, schema: FlowSchema, nowMs: number): FlowSchemaCondition | undefined {
  const wanted = dangling(cluster, schema);
  const current = schema.status?.conditions?.find(({ type }) => type === wanted.type);
  const same = (['status', 'reason', 'message'] as const).every((field) => current?.[field] === wanted[field]);
  return same ? undefined : { ...wanted, lastTransitionTime: formatTime(nowMs) };
}

/** Corrects every schema now, and those that change (or whose level comes or goes) until the signal. */
export async function followFlowSchemas(
  cluster: ReadOnlyCluster,
  writer: ClusterWriter,
  signal: AbortSignal,
  now: () => number,
): Promise<void> {
  const correct = async (schema: FlowSchema): Promise<void> => {
    const condition = corrected(cluster, schema, now());
    if (signal.aborted || !condition) return;
    const { name = '', uid = '' } = schema.metadata;
    try {
      await writer.apply<FlowSchema>(
        group,
        'flowschemas',
        { metadata: { name, uid }, status: { conditions: [condition] } },
        written,
      );
    } catch (error) {
      // Another writer came first, and its change is followed as well; or the server is going down.
      if (!isConflict(error) && !isNotFound(error) && !signal.aborted) throw error;
    }
  };
  const all = (): readonly FlowSchema[] => cluster.list<FlowSchema>(group, 'flowschemas');
  const later = (schemas: readonly FlowSchema[]): void => {
    for (const schema of schemas) void correct(schema).catch(() => undefined);
  };
  const stops = [
    cluster.onChange<FlowSchema>(group, 'flowschemas', (schema) => schema && later([schema])),
    cluster.onChange<PriorityLevelConfiguration>(group, 'prioritylevelconfigurations', (level, before) => {
      if (level && before) return;
      const name = (level ?? before)?.metadata.name;
      later(all().filter(({ spec }) => spec?.priorityLevelConfiguration.name === name));
    }),
  ];
  signal.addEventListener('abort', () => stops.forEach((stop) => stop()), { once: true });
  await Promise.all(all().map(correct));
}
