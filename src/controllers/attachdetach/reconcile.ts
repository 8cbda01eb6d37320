// One node: what its pods need is attached, everything else detached, and its status says what it may mount
// (pkg/controller/volume/attachdetach).
import type { Effect, Plan, Ref } from '#controller-runtime';
import { nodes } from '#controller-runtime/platform';
import { own } from '#utils';
import { attach, type Step } from './attach.ts';
import { detach, type DetachStep } from './detach.ts';
import type { Attempt, AttachView, Memory } from './view.ts';
import { reportedOf } from './volumes.ts';

export interface AttachDetachOptions {
  /** `--disable-attach-detach-reconcile-sync`: node status is believed, attachments are not compared with it. */
  disableSync: boolean;
  /** `--disable-force-detach-on-timeout`. */
  disableForceDetachOnTimeout: boolean;
}

/** Node status is written before attachments go, so that nothing is mounted that is on its way off. */
function reportPatch({ node, nodeName }: AttachView, changes: ReadonlyMap<string, boolean>): Effect[] {
  const listed = node?.status?.volumesAttached ?? [];
  const names = new Set(listed.map(({ name }) => name));
  const added = [...changes].filter(([name, report]) => report && !names.has(name));
  const kept = listed.filter(({ name }) => changes.get(name) !== false);
  if (!node || (added.length === 0 && kept.length === listed.length)) return [];
  const volumesAttached = [...kept, ...added.map(([name]) => ({ name, devicePath: '' }))];
  return [
    {
      op: 'patch',
      ref: { resource: nodes, namespace: '', name: nodeName },
      type: 'application/strategic-merge-patch+json',
      subresource: 'status',
      body: { status: { volumesAttached: volumesAttached.length === 0 ? null : volumesAttached } },
      goneIsDone: true,
    },
  ];
}

function inUseOf({ node, memory }: AttachView): { names: readonly string[] | undefined; has(name: string): boolean } {
  const names = node ? (node.status?.volumesInUse ?? []) : memory.inUse;
  // Of a node that was never seen anything may be mounted.
  return { names, has: (name) => names?.includes(name) ?? true };
}

function stepsOf(view: AttachView, options: AttachDetachOptions, now: number, unwantedSince: Record<string, number>) {
  const { node, nodeName, wanted, present, memory, live } = view;
  const reported = new Set(reportedOf(node));
  const inUse = inUseOf(view);
  const steps = new Map<string, DetachStep>();
  for (const one of present.values()) {
    const { uniqueName } = one;
    if (wanted.has(uniqueName)) continue;
    const since = own(memory.unwantedSince, uniqueName) ?? now;
    unwantedSince[uniqueName] = since;
    steps.set(
      uniqueName,
      detach({
        ...{ nodeName, now, node, live, since, present: one },
        reported: reported.has(uniqueName),
        inUse: inUse.has(uniqueName),
        attempt: own(memory.attempts, uniqueName),
        neverOnTimeout: options.disableForceDetachOnTimeout,
      }),
    );
  }
  for (const [name, one] of wanted)
    steps.set(
      name,
      attach({
        ...{ nodeName, now, live, wanted: one, attachment: present.get(name)?.attachment },
        reported: reported.has(name),
        detaching: memory.detaching.includes(name),
        attempt: own(memory.attempts, name),
        told: memory.told.includes(name),
        trustReported: options.disableSync,
        nodeExists: node !== undefined,
      }),
    );
  return { steps, inUse: inUse.names };
}

const isEmpty = (record: object): boolean => Object.keys(record).length === 0;

/** Nothing to remember of a node without volumes. */
const worthKeeping = (memory: Memory): Memory | undefined =>
  isEmpty(memory.attempts) &&
  isEmpty(memory.unwantedSince) &&
  isEmpty(memory.known) &&
  memory.detaching.length === 0 &&
  memory.told.length === 0
    ? undefined
    : memory;

const namesWhere = (steps: ReadonlyMap<string, DetachStep>, test: (step: DetachStep) => boolean | undefined): string[] =>
  [...steps].filter(([, step]) => test(step)).map(([name]) => name);

export function reconcileNode(view: AttachView, options: AttachDetachOptions, now: number): Plan {
  const unwantedSince: Record<string, number> = {};
  const { steps, inUse } = stepsOf(view, options, now, unwantedSince);
  const all: Step[] = [...steps.values()];
  const needsLive: Ref[] = all.flatMap((step) => step.needsLive ?? []);
  if (needsLive.length > 0) return { effects: [], needsLive };

  const attempts: Record<string, Attempt> = {};
  const reports = new Map<string, boolean>();
  for (const [name, { attempt, report }] of steps) {
    if (attempt) attempts[name] = attempt;
    if (report !== undefined) reports.set(name, report);
  }
  const memory = worthKeeping({
    ...(inUse && { inUse }),
    ...{ attempts, unwantedSince, known: view.known },
    detaching: namesWhere(steps, ({ detaching }) => detaching),
    told: namesWhere(steps, ({ told }) => told),
  });
  // A detachment that goes on while a pod wants the volume again is still ours.
  const stillDetaching = view.memory.detaching.filter(
    (name) => view.wanted.has(name) && view.present.get(name)?.attachment?.metadata.deletionTimestamp !== undefined,
  );
  const waits = all.flatMap(({ wakeAfterMs }) => wakeAfterMs ?? []);
  const because = all.flatMap((step) => step.because ?? []).join(' ');
  return {
    effects: [...reportPatch(view, reports), ...all.flatMap(({ effects = [] }) => effects)],
    ...(memory && { remember: { ...memory, detaching: [...memory.detaching, ...stillDetaching] } }),
    ...(waits.length > 0 && { requeueAfterMs: Math.max(0, Math.min(...waits)) }),
    ...(because !== '' && { because }),
  };
}
