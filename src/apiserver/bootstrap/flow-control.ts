// The mandatory and the suggested objects of API priority and fairness (k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap) as data.
import type {
  FlowSchema,
  PolicyRulesWithSubjects,
  PriorityLevelConfiguration,
  ResourcePolicyRule,
  Subject,
} from '#api/flowcontrol/v1';

const metadata = (name: string) => ({ name, annotations: { 'apf.kubernetes.io/autoupdate-spec': 'true' } });

/** Shares, lendable percent, and queues/hand size where requests queue. */
const levels: readonly [name: string, shares: number, lendablePercent: number, queues?: number, handSize?: number][] = [
  ['catch-all', 5, 0],
  ['system', 30, 33, 64, 6],
  ['node-high', 40, 25, 64, 6],
  ['leader-election', 10, 0, 16, 4],
  ['workload-high', 40, 50, 128, 6],
  ['workload-low', 100, 90, 128, 6],
  ['global-default', 20, 50, 128, 6],
];

const queueLengthLimit = 50;

export const defaultPriorityLevels = (): PriorityLevelConfiguration[] => [
  {
    metadata: metadata('exempt'),
    spec: { type: 'Exempt', exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } },
  },
  ...levels.map(
    ([name, nominalConcurrencyShares, lendablePercent, queues, handSize]): PriorityLevelConfiguration => ({
      metadata: metadata(name),
      spec: {
        type: 'Limited',
        limited: {
          nominalConcurrencyShares,
          lendablePercent,
          limitResponse:
            queues === undefined || handSize === undefined
              ? { type: 'Reject' }
              : { type: 'Queue', queuing: { queues, handSize, queueLengthLimit } },
        },
      },
    }),
  ),
];

const group = (name: string): Subject => ({ kind: 'Group', group: { name } });
const user = (name: string): Subject => ({ kind: 'User', user: { name } });
const kubeSystemAccounts: Subject = { kind: 'ServiceAccount', serviceAccount: { namespace: 'kube-system', name: '*' } };
const everybody = [group('system:unauthenticated'), group('system:authenticated')];

const allResources: ResourcePolicyRule = {
  verbs: ['*'],
  apiGroups: ['*'],
  resources: ['*'],
  clusterScope: true,
  namespaces: ['*'],
};
const everything = (subjects: Subject[]): PolicyRulesWithSubjects => ({
  subjects,
  resourceRules: [allResources],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
});

type FlowLine = [name: string, level: string, precedence: number, distinguisher: string, rules: PolicyRulesWithSubjects];

const flows: readonly FlowLine[] = [
  ['exempt', 'exempt', 1, '', everything([group('system:masters')])],
  [
    'probes',
    'exempt',
    2,
    '',
    { subjects: everybody, nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/healthz', '/readyz', '/livez'] }] },
  ],
  [
    'system-leader-election',
    'leader-election',
    100,
    'ByUser',
    {
      subjects: [user('system:kube-controller-manager'), user('system:kube-scheduler'), kubeSystemAccounts],
      resourceRules: [
        { verbs: ['get', 'create', 'update'], apiGroups: ['coordination.k8s.io'], resources: ['leases'], namespaces: ['*'] },
      ],
    },
  ],
  [
    'system-node-high',
    'node-high',
    400,
    'ByUser',
    {
      subjects: [group('system:nodes')],
      resourceRules: [
        { ...allResources, apiGroups: [''], resources: ['nodes', 'nodes/status'] },
        { verbs: ['*'], apiGroups: ['coordination.k8s.io'], resources: ['leases'], namespaces: ['*'] },
      ],
    },
  ],
  ['system-nodes', 'system', 500, 'ByUser', everything([group('system:nodes')])],
  ['kube-controller-manager', 'workload-high', 800, 'ByNamespace', everything([user('system:kube-controller-manager')])],
  ['kube-scheduler', 'workload-high', 800, 'ByNamespace', everything([user('system:kube-scheduler')])],
  ['kube-system-service-accounts', 'workload-high', 900, 'ByNamespace', everything([kubeSystemAccounts])],
  ['service-accounts', 'workload-low', 9000, 'ByUser', everything([group('system:serviceaccounts')])],
  ['global-default', 'global-default', 9900, 'ByUser', everything(everybody)],
  ['catch-all', 'catch-all', 10000, 'ByUser', everything(everybody)],
];

export const defaultFlowSchemas = (): FlowSchema[] =>
  flows.map(([name, level, matchingPrecedence, distinguisher, rules]) => ({
    metadata: metadata(name),
    spec: {
      priorityLevelConfiguration: { name: level },
      matchingPrecedence,
      ...(distinguisher !== '' && { distinguisherMethod: { type: distinguisher } }),
      rules: [rules],
    },
  }));
