// The configuration of a control-plane machine's agent process. `sagong up` writes it into the machine's folder, beside its certificates and
// kubeconfigs.
import { join } from 'node:path';
import { kubeletAuthorityName } from '../certificates/names.ts';
import type { ComponentArgs } from '../flags/component-args.ts';

/** The programs that run on a control-plane machine. */
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

/** A second interface of a machine, in the network of who has the cluster: of a managed control plane. */
export interface CustomerSide {
  link: string;
  address: string;
  gateway: string;
  /** What is reached by it: nodes and pods. */
  destinations: string[];
}

export interface ControlPlaneConfig extends ControlPlaneMember {
  /** Everything the machine keeps. */
  directory: string;
  /** How to run this program: executable and first arguments. */
  program: readonly string[];
  cluster: string;
  /** All machines of the control plane, this one among them. */
  members: readonly ControlPlaneMember[];
  /** Where etcd keeps its data; absent: in `directory`. */
  etcdData?: string;
  /** Name of the etcd cluster, so that members of two clusters never meet. */
  etcdToken: string;
  podCidr: string;
  /** The cloud-controller-manager runs on the machine. */
  cloud: boolean;
  /** The port of the API; default: `apiPort`. */
  port?: number;
  /** Absent: nodes and pods are reached as all else is. */
  customer?: CustomerSide;
  /** The machine has a member of etcd and nothing else. */
  etcdOnly?: boolean;
  /** What kubelets serve with has an authority of its own. */
  kubeletAuthority?: boolean;
  /** A user's flags of the components. */
  args: ComponentArgs;
  /** Configuration of encryption at rest; absent: objects are stored as they are. */
  encryptionConfig?: string;
  /** Name of the audit log's file in `logs`, '-' for what the apiserver says; absent: nothing is recorded. */
  auditLog?: string;
}

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
    /** Addresses of all members, as this machine last saw them. */
    etcdMembers: join(directory, 'etcd-members.json'),
    ca: join(pki, 'ca.crt'),
    caKey: join(pki, 'ca.key'),
    kubeletAuthority: pair(kubeletAuthorityName),
    /** All authorities whose certificates kubelets may serve with. */
    kubeletTrust: join(pki, 'kubelet-trust.crt'),
    auditPolicy: join(directory, 'audit-policy.yaml'),
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
    admin: join(directory, 'admin.conf'),
    controllerManager: join(directory, 'controller-manager.conf'),
    scheduler: join(directory, 'scheduler.conf'),
    cloudControllerManager: join(directory, 'cloud-controller-manager.conf'),
    cloudConfig: join(directory, 'cloud', 'cloud-config.yaml'),
  };
};

export const filesOf = ({ directory, etcdData }: Pick<ControlPlaneConfig, 'directory' | 'etcdData'>) => ({
  ...controlPlaneFiles(directory),
  ...(etcdData !== undefined && { etcdData }),
});

/** What a program reads once, at its start. etcd and the apiserver read what they serve with again by themselves. */
export function readAtStart(program: ControlPlaneProgram, directory: string): string[] {
  const files = controlPlaneFiles(directory);
  const read: Record<ControlPlaneProgram, string[]> = {
    etcd: [],
    'kube-apiserver': [files.etcdClient.cert, files.kubeletClient.cert, files.frontProxyClient.cert],
    'kube-controller-manager': [files.controllerManager],
    'kube-scheduler': [files.scheduler],
    'cloud-controller-manager': [files.cloudControllerManager],
  };
  return read[program];
}

/** The programs that run on a machine. */
export const programsOf = ({ cloud, etcdOnly = false }: Pick<ControlPlaneConfig, 'cloud' | 'etcdOnly'>): ControlPlaneProgram[] =>
  etcdOnly ? ['etcd'] : controlPlanePrograms.filter((program) => program !== 'cloud-controller-manager' || cloud);
