// The documented ClusterRole (https://kubernetes.io/docs/concepts/architecture/cloud-controller/#authorization) beside what the loops do, so that
// a test sees the two drift apart. Pure.
import type { PolicyRule } from '#controller-runtime';

const rule = (verbs: string, resources: string): PolicyRule => ({
  apiGroups: [''],
  resources: resources.split(','),
  verbs: verbs.split(','),
});

/** The rules of the ClusterRole `system:cloud-controller-manager`, as upstream documents it. */
export const documentedRole: readonly PolicyRule[] = [
  rule('create,patch,update', 'events'),
  rule('*', 'nodes'),
  rule('patch', 'nodes/status'),
  rule('list,patch,update,watch', 'services'),
  rule('create', 'serviceaccounts'),
  rule('get,list,update,watch', 'persistentvolumes'),
  rule('create,get,list,watch,update', 'endpoints'),
];

/** What the documented role lacks and the loops need, each with the reason. */
export const beyondDocumented: readonly { verb: string; resource: string; group: string; reason: string }[] = [
  {
    verb: 'patch',
    resource: 'services/status',
    group: '',
    reason: 'The load balancer’s addresses and the clean-up finalizer are written through this subresource, by upstream too.',
  },
  {
    verb: 'update',
    resource: 'services/status',
    group: '',
    reason: 'In upstream’s bootstrap role of the service controller; kept so that the two roles stay equal.',
  },
  {
    verb: 'get',
    resource: 'services',
    group: '',
    reason: 'In upstream’s bootstrap role of the service controller; the loop itself only lists and watches.',
  },
  ...['create', 'patch', 'update'].map((verb) => ({
    verb,
    resource: 'events',
    group: 'events.k8s.io',
    reason: 'The rule that every loop here shares; the cloud loops write core events only.',
  })),
];

/** The Role in kube-system for leader election; the lease of leader migration is beside it. */
export const leaderElectionRole: readonly PolicyRule[] = [
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create', 'get', 'list', 'update', 'watch'] },
];

/** What `--use-service-account-credentials` needs besides: the documented role only makes accounts. */
export const ownIdentityRole: readonly PolicyRule[] = [
  { apiGroups: [''], resources: ['serviceaccounts'], verbs: ['get'] },
  { apiGroups: [''], resources: ['serviceaccounts/token'], verbs: ['create'] },
];

/** What serving /metrics to callers needs besides: asking the apiserver who they are and what they may. */
export const delegationRole: readonly PolicyRule[] = [
  { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
  { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
];
