// Assigning a pod to a node: pods/binding and the older bindings (pkg/registry/core/pod/storage, BindingREST).
import type { Binding, Pod, PodCondition } from '#api/core/v1';
import { badRequest, conflict, plainError } from '#apimachinery/errors';
import { aggregate, type FieldError, notSupported, required, root } from '#apimachinery/field';
import { asKind, formatTime, type KubeObject } from '#apimachinery/meta';
import type { SpecialContext, SpecialRest } from '../../special.ts';
import { successStatus } from '../success-status.ts';

const binding = { group: '', resource: 'pods/binding' };

function targetErrors({ target }: Binding): FieldError[] {
  const path = root('target');
  const kind = target?.kind ?? '';
  return [
    ...(kind !== '' && kind !== 'Node' ? [notSupported(path.child('kind'), kind, ['Node', '<empty>'])] : []),
    ...(target?.name ? [] : [required(path.child('name'))]),
  ];
}

function withCondition(conditions: readonly PodCondition[], wanted: PodCondition, nowMs: number): PodCondition[] {
  const current = conditions.find(({ type }) => type === wanted.type);
  const since = current?.status === wanted.status ? current.lastTransitionTime : formatTime(nowMs);
  const fresh = { ...wanted, ...(since && { lastTransitionTime: since }) };
  return current ? conditions.map((condition) => (condition === current ? fresh : condition)) : [...conditions, fresh];
}

function checkAssignable(pod: Pod, name: string, wanted: Binding): void {
  const { uid, resourceVersion } = wanted.metadata;
  const pods = { group: '', resource: 'pods' };
  const precondition = (what: string, asked: string, stored: string | undefined): string =>
    `StorageError: invalid object, Code: 4, Key: /registry/pods/${pod.metadata.namespace}/${name}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: ${what} in precondition: ${asked}, ${what} in object meta: ${stored}`;
  if (uid && uid !== pod.metadata.uid) throw conflict(pods, name, precondition('UID', uid, pod.metadata.uid));
  if (resourceVersion && resourceVersion !== pod.metadata.resourceVersion) {
    throw conflict(pods, name, precondition('ResourceVersion', resourceVersion, pod.metadata.resourceVersion));
  }
  if (pod.metadata.deletionTimestamp) throw conflict(binding, name, `pod ${name} is being deleted, cannot be assigned to a host`);
  if (pod.spec?.nodeName) throw conflict(binding, name, `pod ${name} is already assigned to node "${pod.spec.nodeName}"`);
  if (pod.spec?.schedulingGates?.length) throw conflict(binding, name, `pod ${name} has non-empty .spec.schedulingGates`);
}

/** The pod as it is once a Binding has put it on its node. */
export function assigned(pod: Pod, wanted: Binding, nowMs: number): Pod {
  const { nominatedNodeName: _, ...status } = pod.status ?? {};
  const { annotations, labels } = wanted.metadata;
  const scheduled: PodCondition = { type: 'PodScheduled', status: 'True' };
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      ...(annotations && { annotations: { ...pod.metadata.annotations, ...annotations } }),
      ...(labels && { labels: { ...pod.metadata.labels, ...labels } }),
    },
    spec: { ...(pod.spec ?? { containers: [] }), nodeName: wanted.target.name ?? '' },
    status: { ...status, conditions: withCondition(status.conditions ?? [], scheduled, nowMs) },
  };
}

async function bind(context: SpecialContext, name: string, now: () => number): Promise<KubeObject> {
  const wanted = asKind<Binding>(context.object);
  const errors = targetErrors(wanted);
  if (errors.length > 0) throw plainError(aggregate(errors));
  await context.validate();
  if (name === '') throw badRequest('Name parameter required.');
  await context.writer.update<Pod>(
    '',
    'pods',
    context.target.namespace,
    name,
    (pod) => {
      checkAssignable(pod, name, wanted);
      return assigned(pod, wanted, now());
    },
    { dryRun: context.dryRun, unchecked: true },
  );
  return successStatus(201);
}

/** The two endpoints that bind a pod: `bindings` and `pods/binding`. */
export function bindingEndpoints(now: () => number): SpecialRest[] {
  const common = {
    group: '',
    version: 'v1',
    namespaced: true,
    methods: ['POST'],
    kind: { group: '', version: 'v1', kind: 'Binding' },
  };
  return [
    {
      ...common,
      resource: 'pods',
      subresource: 'binding',
      async handle(context) {
        if (context.object?.metadata.name !== context.target.name)
          throw badRequest('name in URL does not match name in Binding object');
        return { status: 201, object: await bind(context, context.target.name, now) };
      },
    },
    {
      ...common,
      resource: 'bindings',
      subresource: '',
      handle: async (context) => ({ status: 201, object: await bind(context, context.object?.metadata.name ?? '', now) }),
    },
  ];
}
