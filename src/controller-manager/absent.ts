// Loops of upstream's kube-controller-manager that do not run here: their names may be asked for and left out as there. Pure.

import type { PolicyRule } from '#controller-runtime';
import { allow, recordEvents } from '#controller-runtime/workload';

export interface AbsentLoop {
  name: string;
  aliases: string[];
  /** `*` does not mean it. */
  disabledByDefault?: boolean;
  /** The text of the error for a command line that names the loop. */
  why: string;
  /** Its role of the bootstrap policy (`system:controller:<name>`), which others who run such a loop rely on. */
  role?: { name: string; rights: PolicyRule[] };
}

const unserved = (feature: string): string => `${feature} is off, as by default in v1.36: there is nothing for it to do.`;
const missing = 'Sagong has no such controller yet. Will not start it.';

export const absentLoops: readonly AbsentLoop[] = [
  {
    name: 'kube-apiserver-serving-clustertrustbundle-publisher-controller',
    aliases: [],
    why: unserved('ClusterTrustBundle'),
  },
  { name: 'podcertificaterequest-cleaner-controller', aliases: [], why: unserved('PodCertificateRequest') },
  { name: 'podgroup-protection-controller', aliases: [], why: unserved('GenericWorkload') },
  { name: 'resourcepoolstatusrequest-controller', aliases: [], why: unserved('DRAResourcePoolStatus') },
  {
    name: 'selinux-warning-controller',
    aliases: [],
    disabledByDefault: true,
    why: missing,
    role: {
      name: 'selinux-warning-controller',
      rights: [
        recordEvents,
        allow('get,list,watch', 'core', 'persistentvolumes'),
        allow('get,list,watch', 'core', 'persistentvolumeclaims'),
        allow('get,list,watch', 'core', 'pods'),
        allow('get,list,watch', 'storage.k8s.io', 'csidrivers'),
      ],
    },
  },
  { name: 'storage-version-migrator-controller', aliases: ['svm'], why: unserved('StorageVersionMigrator') },
  { name: 'storageversion-garbage-collector-controller', aliases: ['storage-version-gc'], why: unserved('StorageVersionAPI') },
];

/** Whether a loop is only a name here. */
export const isAbsent = (loop: object): loop is AbsentLoop => 'why' in loop;
