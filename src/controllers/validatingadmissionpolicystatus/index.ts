// Tells in the status of a ValidatingAdmissionPolicy what in its expressions does not fit the types of the kinds that it is about
// (pkg/controller/validatingadmissionpolicystatus).
import type { ExpressionWarning, ValidatingAdmissionPolicy } from '#api/admissionregistration/v1';
import type { GroupVersionResource } from '#apimachinery/meta';
import { type ControllerDefinition, defineController, type Plan, watch } from '#controller-runtime';
import { refOf } from '#controller-runtime/platform';
import { allow, recordEvents } from '#controller-runtime/workload';
import { checkTypes } from './actions.ts';

const policies: GroupVersionResource = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  resource: 'validatingadmissionpolicies',
};

/** What the check of a policy found out. */
export function statusPlan(policy: ValidatingAdmissionPolicy, warnings: readonly ExpressionWarning[]): Plan {
  const { name, generation } = policy.metadata;
  const typeChecking = warnings.length > 0 ? { expressionWarnings: [...warnings] } : {};
  const body = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name },
    status: { observedGeneration: generation, typeChecking },
  };
  return {
    effects: [
      {
        op: 'patch',
        ref: refOf(policies, policy),
        subresource: 'status',
        type: 'application/apply-patch+yaml',
        body,
        force: true,
        fieldManager: 'validatingadmissionpolicy-status',
        goneIsDone: true,
      },
    ],
    because: `The expressions were checked against the types of their objects: ${warnings.length} warnings.`,
  };
}

export function reconcilePolicy(policy: ValidatingAdmissionPolicy | undefined): Plan {
  if (!policy || (policy.metadata.generation ?? 0) <= (policy.status?.observedGeneration ?? 0)) return { effects: [] };
  return { effects: [{ op: 'action', name: 'check types', input: policy }] };
}

export const validatingAdmissionPolicyStatusController: ControllerDefinition = defineController<
  ValidatingAdmissionPolicy | undefined
>({
  name: 'validatingadmissionpolicy-status-controller',
  for: policies,
  rights: [
    allow('get,list,watch', 'admissionregistration.k8s.io', 'validatingadmissionpolicies'),
    allow('get,patch,update', 'admissionregistration.k8s.io', 'validatingadmissionpolicies/status'),
    recordEvents,
  ],
  concurrency: { flag: 'concurrent-validating-admission-policy-status-syncs', default: 5 },
  watches: [watch<ValidatingAdmissionPolicy>({ resource: policies, keys: ({ metadata }) => [metadata.name ?? ''] })],
  view: (key, cache) => cache.get<ValidatingAdmissionPolicy>(policies, '', key),
  reconcile: reconcilePolicy,
  actions: (deps) => [
    {
      name: 'check types',
      run(input, signal) {
        const policy = input as ValidatingAdmissionPolicy;
        return checkTypes(deps, policy.spec ?? {}, signal).then((warnings) => statusPlan(policy, warnings));
      },
    },
  ],
});
