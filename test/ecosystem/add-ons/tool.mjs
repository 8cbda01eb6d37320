// What people install into a cluster of machines, each by its makers' own manifests: the network of its pods, where there is none; and one after the other into one that has
// ours, a CSI driver, an agent that collects logs, an ingress controller. The images that the manifests name hold programs built from their Go modules.
import { csi } from './csi.mjs';
import { flannel } from './flannel.mjs';
import { ingressController } from './ingress.mjs';
import { logs } from './logs.mjs';

const needs = ['go', 'gcc', 'npm', 'unzip', 'kubectl', 'curl', 'openssl', 'ip', 'iptables', 'losetup', 'busybox'];

export default { name: 'Add-ons', needs, cluster: 'containers', runs: [flannel, csi, logs, ingressController] };
