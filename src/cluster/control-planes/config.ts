// What a control-plane machine's agent process is told: written by `sagong up` into the machine's folder, beside its certificates and kubeconfigs.
import { join } from 'node:path';
import type { ComponentArgs } from '../component-args/args.ts';

/** Programs that run on a control-plane machine. */
export const controlPlanePrograms = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'cloud-controller-manager',
] as const;
export type ControlPlaneProgram = (typeof controlPlanePrograms)[number];

export interface ControlPlaneMember {
  name: string;
  address: string;
}

export interface ControlPlaneConfig extends ControlPlaneMember {
  /** Everything the machine keeps. */
  directory: string;
  /** How to run this program: executable and first arguments. */
  program: readonly string[];
  cluster: string;
  /** All machines of the control plane, this one among them. */
  members: readonly ControlPlaneMember[];
  /** Name of the etcd cluster, so that members of two clusters never meet. */
  etcdToken: string;
  podCidr: string;
  /** The cloud-controller-manager runs on the machine. */
  cloud: boolean;
  /** A user's flags of the components. */
  args: ComponentArgs;
  /** Configuration of encryption at rest; absent: objects are stored as they are. */
  encryptionConfig?: string;
}

export const controlPlanesDir = (dataDir: string): string => join(dataDir, 'control-planes');
export const controlPlaneDir = (dataDir: string, name: string): string => join(controlPlanesDir(dataDir), name);
export const controlPlaneConfigPath = (dataDir: string, name: string): string =>
  join(controlPlaneDir(dataDir, name), 'agent.json');

/** Files of a machine; those of certificates have kubeadm's names. */
export const controlPlaneFiles = (directory: string) => {
  const pki = join(directory, 'pki');
  const pair = (name: string) => ({ cert: join(pki, `${name}.crt`), key: join(pki, `${name}.key`) });
  return {
    pki,
    logs: join(directory, 'logs'),
    etcdData: join(directory, 'etcd'),
    /** Written when the machine's etcd has first been a member: from then on a disk without data joins anew. */
    etcdJoined: join(directory, 'etcd-joined'),
    ca: join(pki, 'ca.crt'),
    caKey: join(pki, 'ca.key'),
    etcdCa: join(pki, 'etcd', 'ca.crt'),
    frontProxyCa: join(pki, 'front-proxy-ca.crt'),
    serviceAccountPublic: join(pki, 'sa.pub'),
    serviceAccountPrivate: join(pki, 'sa.key'),
    apiserver: pair('apiserver'),
    kubeletClient: pair('apiserver-kubelet-client'),
    etcdClient: pair('apiserver-etcd-client'),
    frontProxyClient: pair('front-proxy-client'),
    etcdServer: pair(join('etcd', 'server')),
    etcdPeer: pair(join('etcd', 'peer')),
    controllerManager: join(directory, 'controller-manager.conf'),
    scheduler: join(directory, 'scheduler.conf'),
    cloudControllerManager: join(directory, 'cloud-controller-manager.conf'),
    cloudConfig: join(directory, 'cloud', 'cloud-config.yaml'),
  };
};
