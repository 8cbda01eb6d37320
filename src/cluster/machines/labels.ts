// What the Node of a control-plane machine says, as kubeadm has it say. It has no taint: machines of a small cluster are for pods, too, and who wants
// them for the control plane alone taints them (`kubectl taint node NAME node-role.kubernetes.io/control-plane:NoSchedule`).
import type { KubeClient } from '#client';

export const controlPlaneLabel = 'node-role.kubernetes.io/control-plane';
const nodes = { group: '', version: 'v1', resource: 'nodes' };

export async function markControlPlane(admin: KubeClient, nodeName: string): Promise<void> {
  await admin
    .resource(nodes)
    .patch(nodeName, 'application/merge-patch+json', { metadata: { labels: { [controlPlaneLabel]: '' } } });
}
