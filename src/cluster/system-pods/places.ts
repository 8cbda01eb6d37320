// Where the image of the cluster's own programs is kept; and where the programs of a control plane in pods find their files, on the node and in their pods alike: as kubeadm has it.
import { join } from 'node:path';

export const systemImagesDir = (dataDir: string): string => join(dataDir, 'images');
export const systemImagePath = (dataDir: string): string => join(systemImagesDir(dataDir), 'kubernetes.tar');

export const kubernetesDir = '/etc/kubernetes';
export const etcdDataDir = '/var/lib/etcd';
export const manifestsDir = `${kubernetesDir}/manifests`;
