// Where the programs of a control plane in pods find their files, on the node and in their pods alike: as kubeadm has it.

export const kubernetesDir = '/etc/kubernetes';
export const etcdDataDir = '/var/lib/etcd';
export const manifestsDir = `${kubernetesDir}/manifests`;
