// Names that manifests and the image share. Pure.
import { gitVersion } from '#component-base';

/** The tag is the version as kubeadm makes it one: `+` cannot stand there. */
export const systemImage = `sagong.local/kubernetes:${gitVersion.replace('+', '_')}`;

/** The labels of nodes that the control plane is on (https://kubernetes.io/docs/reference/labels-annotations-taints/). */
export const controlPlaneLabels = {
  'node-role.kubernetes.io/control-plane': '',
  'node.kubernetes.io/exclude-from-external-load-balancers': '',
} as const;
export const controlPlaneTaint = { key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' } as const;
