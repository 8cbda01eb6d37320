// What people install into a cluster of machines, one after the other into the same one, each by its makers' own manifests: the network of its pods, a CSI driver.
// The images that the manifests name hold programs built from their Go modules.
import { csi } from './csi.mjs';
import { flannel } from './flannel.mjs';

const needs = ['go', 'gcc', 'kubectl', 'ip', 'iptables', 'losetup', 'busybox'];

export default { name: 'Add-ons', needs, cluster: 'machines', runs: [flannel, csi] };
