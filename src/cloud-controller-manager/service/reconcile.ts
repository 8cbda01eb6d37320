// What is to happen to the load balancer of one Service: removed, made, given other hosts, or left alone (k8s.io/cloud-provider
// controllers/service/controller.go). Pure.
import type { LoadBalancerStatus, Node, Service } from '#api/core/v1';
import type { Effect, Plan, ViewContext } from '#controller-runtime';
import { loadBalancerCleanupFinalizer as finalizer } from '#cloud-provider';
import { refOf } from '#controller-runtime/platform';
import { services } from '#controller-runtime/workload';
import { deepEqual } from '#utils';
import { type CloudView, getLoadBalancer } from '../ask.ts';
import { deleteBalancer, deletePrevious, deleteVanished, ensureBalancer, updateHosts } from './actions.ts';
import { asService, normal, warning } from '../events.ts';
import { hasFinalizer, hostsKey, needsCleanup, needsUpdate, wantsLoadBalancer } from './select.ts';

/** What was last brought to the cloud for a Service. */
export interface ServiceMemory {
  /** The Service as it was then. A changed Service is compared with it, and a vanished one is deleted by it. */
  service: Service;
  /** Whether the load balancer was made and its status written; false while that fails. */
  ensured: boolean;
  /** `hostsKey` of its hosts. */
  hosts: string;
}

export interface ServiceView extends CloudView {
  service: Service | undefined;
  /** Nodes that are hosts. */
  hosts: readonly Node[];
  memory: ServiceMemory | undefined;
  lastFailure: ViewContext['lastFailure'];
}

/** What the actions of the service loop are given. */
export interface BalancerInput {
  service: Service;
  hosts: readonly Node[];
}

const syncFailed = 'SyncLoadBalancerFailed';
export const syncFailure = (text: string): string => `Error syncing load balancer: ${text}`;

/** A patch of `services/status`, which is also how finalizers are changed: no right to write Services is needed. */
const patchStatus = (
  service: Service,
  body: { metadata?: object; status?: object },
  failure: string,
): Extract<Effect, { op: 'patch' }> => ({
  op: 'patch',
  ref: refOf(services, service),
  type: 'application/strategic-merge-patch+json',
  subresource: 'status',
  body: { ...body, metadata: { uid: service.metadata.uid, ...body.metadata } },
  afterSuccess: true,
  events: {
    regarding: asService(service),
    failure: { reason: syncFailed, message: syncFailure(`${failure}: {error}`) },
  },
});

const comparable = ({ ingress = [] }: LoadBalancerStatus): unknown =>
  ingress.map(({ ip, hostname, ipMode, ports }) => [ip ?? '', hostname ?? '', ipMode ?? (ip ? 'VIP' : ''), ports ?? []]);

/** Writes the load balancer's state where it differs. The list of addresses is replaced whole. */
export const writeStatus = (service: Service, status: LoadBalancerStatus): Effect[] =>
  deepEqual(comparable(service.status?.loadBalancer ?? {}), comparable(status))
    ? []
    : [
        {
          ...patchStatus(
            service,
            { status: { loadBalancer: { ingress: status.ingress ?? null } } },
            'failed to update load balancer status',
          ),
          type: 'application/merge-patch+json',
          goneIsDone: true,
        },
      ];

export function reconcileService(view: ServiceView): Plan {
  const { service, memory } = view;
  if (!service) return memory ? vanished(memory) : { effects: [] };
  if (memory && memory.service.metadata.uid !== service.metadata.uid)
    return {
      effects: [deletePrevious.on({ service: memory.service, hosts: [] })],
      remember: memory,
      because: 'The load balancer of a deleted Service of the same name goes first.',
    };
  if (needsCleanup(service) || (!wantsLoadBalancer(service) && memory)) return cleanUp(view, service);
  if (!wantsLoadBalancer(service)) return { effects: [] };
  if (!memory?.ensured || view.lastFailure || needsUpdate(memory.service, service)) return ensure(view, service);
  return hostsKey(view.hosts) === memory.hosts ? { effects: [], remember: memory } : sendElsewhere(view, service, memory);
}

/** The plan for a Service that is gone and did not have our finalizer: its load balancer is deleted by what is remembered. */
const vanished = (memory: ServiceMemory): Plan => ({
  effects: [
    normal(asService(memory.service), 'DeletingLoadBalancer', 'Deleting load balancer'),
    deleteVanished.on({ service: memory.service, hosts: [] }),
  ],
  remember: memory,
  because: 'The Service is gone, so its load balancer goes.',
});

function cleanUp(view: ServiceView, service: Service): Plan {
  const question = getLoadBalancer.about(service.metadata.uid ?? '', service);
  const answer = getLoadBalancer.answer(view, question);
  if (!answer) return { effects: [], needsAnswers: [question] };
  const remember: ServiceMemory = { service, ensured: false, hosts: '' };
  const regarding = asService(service);
  if ('error' in answer) {
    const failure = `failed to check if load balancer exists before cleanup: ${answer.error.message}`;
    return { effects: [warning(regarding, syncFailed, syncFailure(failure))], failure, remember };
  }
  if (!answer.value) return { effects: releaseEffects(service), because: 'It wants no load balancer, and has none.' };
  return {
    effects: [normal(regarding, 'DeletingLoadBalancer', 'Deleting load balancer'), deleteBalancer.on({ service, hosts: [] })],
    remember,
    because: 'It wants no load balancer any more.',
  };
}

/** The load balancer is gone: the Service may go, too. */
export function releaseEffects(service: Service): Effect[] {
  const release: Effect[] = hasFinalizer(service)
    ? [
        patchStatus(
          service,
          { metadata: { '$deleteFromPrimitiveList/finalizers': [finalizer] } },
          'failed to remove load balancer cleanup finalizer',
        ),
      ]
    : [];
  return [
    ...release,
    { ...normal(asService(service), 'DeletedLoadBalancer', 'Deleted load balancer'), afterSuccess: true },
    // A Service that goes is gone with its last finalizer.
    ...(service.metadata.deletionTimestamp ? [] : writeStatus(service, {})),
  ];
}

function ensure({ hosts }: ServiceView, service: Service): Plan {
  const regarding = asService(service);
  const finalizers: Effect[] = hasFinalizer(service)
    ? []
    : [patchStatus(service, { metadata: { finalizers: [finalizer] } }, 'failed to add load balancer cleanup finalizer')];
  const noHosts: Effect[] = hosts.length === 0 ? [noHostsEvent(service)] : [];
  return {
    effects: [
      normal(regarding, 'EnsuringLoadBalancer', 'Ensuring load balancer'),
      ...finalizers,
      ...noHosts,
      ensureBalancer.on({ service, hosts }),
    ],
    remember: { service, ensured: false, hosts: '' } satisfies ServiceMemory,
    because: 'Its load balancer is not as the Service says.',
  };
}

export const noHostsEvent = (service: Service): Effect => ({
  ...warning(asService(service), 'UnAvailableLoadBalancer', 'There are no available nodes for LoadBalancer'),
  afterSuccess: true,
});

const sendElsewhere = ({ hosts }: ServiceView, service: Service, memory: ServiceMemory): Plan => ({
  effects: [updateHosts.on({ service, hosts })],
  // Until that went well: a failed update is followed by making the load balancer again.
  remember: { ...memory, ensured: false },
  because: 'Its load balancer sends traffic to other nodes than it should.',
});
