// What a cluster holds from the start: the apiserver's post-start hooks.
import type { ServiceCIDR } from '#api/networking/v1';
import { formatTime } from '#apimachinery/meta';
import type { Clock } from '#utils';
import type { StartHook } from '../registry/start-hook.ts';
import type { ClusterWriter } from '../registry/writer.ts';
import type { ReadOnlyCluster } from '../storage/read-only-cluster.ts';
import { ensure } from './ensure.ts';
import { followFlowSchemas } from './flow-schema-status.ts';
import { keepFlowControl } from './keep-flow-control.ts';
import type { KubernetesServiceController } from './kubernetes-service.ts';
import { reconcileRbac } from './reconcile-rbac.ts';
import {
  type AuthenticationTrust,
  authenticationConfigMap,
  defaultPriorityClasses,
  namespace,
  reconciledConfigMap,
  systemNamespaces,
  tokenTrackingConfigMap,
  trackedSince,
} from './system-objects.ts';

export { defaultClusterRoles, defaultRoles } from './policy.ts';
export { KubernetesServiceController, type KubernetesServiceOptions } from './kubernetes-service.ts';
export type { AuthenticationTrust } from './system-objects.ts';

export interface BootstrapOptions {
  service: KubernetesServiceController;
  /** `--service-cluster-ip-range`, one or two. */
  serviceCidrs: readonly string[];
  trust: AuthenticationTrust;
  clock: Clock;
}

const serviceCidr = (cidrs: readonly string[]): ServiceCIDR => ({
  metadata: { name: 'kubernetes' },
  spec: { cidrs: [...cidrs] },
});

async function serviceRange(
  cluster: ReadOnlyCluster,
  writer: ClusterWriter,
  cidrs: readonly string[],
  now: () => number,
): Promise<void> {
  const group = 'networking.k8s.io';
  await ensure(cluster, writer, [{ group, resource: 'servicecidrs', object: serviceCidr(cidrs) }]);
  const isReady = (object: ServiceCIDR | undefined): boolean =>
    object?.status?.conditions?.some((condition) => condition.type === 'Ready') ?? false;
  if (isReady(cluster.get<ServiceCIDR>(group, 'servicecidrs', '', 'kubernetes'))) return;
  const status = { conditions: [readyCondition(now())] } as ServiceCIDR['status'];
  const wanted = { metadata: { name: 'kubernetes' }, ...(status && { status }) };
  const written = { subresource: 'status', manager: 'kubernetes-service-cidr-controller' };
  await writer.apply<ServiceCIDR>(group, 'servicecidrs', wanted, written);
}

/** Upstream applies no reason, so nobody owns that field. */
const readyCondition = (nowMs: number) => ({
  type: 'Ready',
  status: 'True',
  lastTransitionTime: formatTime(nowMs),
  message: 'Kubernetes default Service CIDR is ready',
});

const namespacesHook = 'start-system-namespaces-controller';

/** The hooks, named as upstream's post-start hooks; namespaces come first, the others need them. */
export function bootstrapHooks(options: BootstrapOptions): StartHook[] {
  const now = (): number => options.clock.now();
  return [
    {
      name: namespacesHook,
      loop: true,
      run: (cluster, writer) =>
        ensure(
          cluster,
          writer,
          systemNamespaces.map((name) => ({ group: '', resource: 'namespaces', object: namespace(name) })),
        ),
    },
    { name: 'rbac/bootstrap-roles', after: namespacesHook, run: reconcileRbac },
    {
      name: 'scheduling/bootstrap-system-priority-classes',
      after: namespacesHook,
      run: (cluster, writer) =>
        ensure(
          cluster,
          writer,
          defaultPriorityClasses().map((object) => ({ group: 'scheduling.k8s.io', resource: 'priorityclasses', object })),
        ),
    },
    {
      name: 'priority-and-fairness-config-producer',
      after: namespacesHook,
      run: (cluster, writer, signal) => keepFlowControl(cluster, writer, signal, options.clock),
    },
    {
      name: 'priority-and-fairness-config-consumer',
      loop: true,
      run: (cluster, writer, signal) => followFlowSchemas(cluster, writer, signal, now),
    },
    {
      name: 'start-kubernetes-service-cidr-controller',
      after: namespacesHook,
      loop: true,
      run: (cluster, writer) => serviceRange(cluster, writer, options.serviceCidrs, now),
    },
    {
      name: 'bootstrap-controller',
      loop: true,
      run: (cluster, writer, signal) => options.service.start(cluster, writer, signal),
    },
    {
      name: 'start-legacy-token-tracking-controller',
      after: namespacesHook,
      loop: true,
      run: (cluster, writer) =>
        ensure(cluster, writer, [{ group: '', resource: 'configmaps', object: tokenTrackingConfigMap(now()) }], trackedSince),
    },
    {
      name: 'start-cluster-authentication-info-controller',
      after: namespacesHook,
      loop: true,
      run: (cluster, writer) =>
        ensure(
          cluster,
          writer,
          [{ group: '', resource: 'configmaps', object: authenticationConfigMap(options.trust) }],
          reconciledConfigMap,
        ),
    },
  ];
}
