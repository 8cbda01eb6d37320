// What people install into a cluster of machines, one after the other into the same one, each by its makers' own manifests: the network of its pods, a CSI driver,
// an agent that collects logs, an ingress controller. The images that the manifests name hold programs built from their Go modules.
import { csi } from './csi.mjs';
import { flannel } from './flannel.mjs';
import { ingressController } from './ingress.mjs';
import { logs } from './logs.mjs';

const needs = ['go', 'gcc', 'npm', 'unzip', 'kubectl', 'curl', 'openssl', 'ip', 'iptables', 'losetup', 'busybox'];

export default { name: 'Add-ons', needs, cluster: 'machines', runs: [flannel, csi, logs, ingressController] };
