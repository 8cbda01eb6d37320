// What a kubelet's summary says of CPU and memory, judged before anybody reads it: a node that answers nonsense loses its own metrics only. Pure.
import * as z from 'zod';

/** CPU and memory of a node or container; fields that the kubelet has not measured yet are absent. */
export interface Reading {
  cpu?: { time?: string | undefined; usageNanoCores?: number | undefined } | undefined;
  memory?: { workingSetBytes?: number | undefined } | undefined;
}
export interface ContainerReading extends Reading {
  name: string;
}
/** What one node measured. `pods` has the containers of each pod, by `podKey`. */
export interface NodeReading {
  node: Reading;
  pods: ReadonlyMap<string, readonly ContainerReading[]>;
}

function makeSummarySchema() {
  const amount = z
    .number()
    .min(0)
    .max(Number.MAX_SAFE_INTEGER)
    .nullish()
    .transform((value) => value ?? undefined);
  const absent = <T>(value: T | null | undefined): T | undefined => value ?? undefined;
  const time = z.string().max(64).nullish().transform(absent);
  const used = {
    cpu: z.object({ time, usageNanoCores: amount }).nullish().transform(absent),
    memory: z.object({ workingSetBytes: amount }).nullish().transform(absent),
  };
  const name = z
    .string()
    .nullish()
    .transform((value) => value ?? '');
  const list = <T extends z.ZodType>(item: T) =>
    z
      .array(item)
      .nullish()
      .transform((items) => items ?? []);
  const podRef = z.object({ name, namespace: name, uid: name });
  return z.object({
    node: z
      .object(used)
      .nullish()
      .transform((node) => node ?? {}),
    pods: list(z.object({ podRef, containers: list(z.object({ name, ...used })) })),
  });
}
/** Made when the first kubelet has answered: schemas take their time, and a start has none. */
let summary: ReturnType<typeof makeSummarySchema> | undefined;

export const podKey = (ref: { namespace?: string | undefined; name?: string | undefined; uid?: string | undefined }): string =>
  `${ref.namespace ?? ''}/${ref.name ?? ''}/${ref.uid ?? ''}`;

/** Reads GET /stats/summary (k8s.io/kubelet/pkg/apis/stats/v1alpha1). Throws what is wrong with it, in a sentence. */
export function readSummary(value: unknown): NodeReading {
  summary ??= makeSummarySchema();
  const { success, data, error } = summary.safeParse(value);
  if (!success) {
    const [issue] = error.issues;
    throw new Error(`the summary cannot be read: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`);
  }
  return { node: data.node, pods: new Map(data.pods.map(({ podRef: ref, containers }) => [podKey(ref), containers])) };
}
