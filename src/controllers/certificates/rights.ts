// What the three loops over certificate signing requests may do: they share one account.
import type { PolicyRule } from '#controller-runtime';
import { allow, recordEvents } from '#controller-runtime/workload';

const signers = (verb: string, ...names: string[]): PolicyRule => ({
  ...allow(verb, 'certificates.k8s.io', 'signers'),
  resourceNames: names.map((name) => `kubernetes.io/${name}`),
});

export const serviceAccount = 'certificate-controller';

export const rights: PolicyRule[] = [
  allow('delete,get,list,watch', 'certificates.k8s.io', 'certificatesigningrequests'),
  allow('update', 'certificates.k8s.io', 'certificatesigningrequests/approval,certificatesigningrequests/status'),
  signers('approve', 'kube-apiserver-client-kubelet'),
  signers('sign', 'kube-apiserver-client', 'kube-apiserver-client-kubelet', 'kubelet-serving', 'legacy-unknown'),
  allow('create', 'authorization.k8s.io', 'subjectaccessreviews'),
  recordEvents,
];
