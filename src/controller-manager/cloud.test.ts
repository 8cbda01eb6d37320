import { describe, expect, it } from 'vitest';
import { parseFlags } from '#component-base';
import { selectControllers } from '#controller-runtime/manager';
import { createControllers, defaultControllersConfig } from '#controllers';
import { absentLoops, isAbsent } from './absent.ts';
import { cloudLoops } from './cloud.ts';
import { controllersConfigOf, kubeControllerManagerFlags } from './flags.ts';

const configOf = (...argv: string[]) => controllersConfigOf(parseFlags(kubeControllerManagerFlags(), argv).values);

/** Names of v1.36 (cmd/kube-controller-manager/names and cloud-provider/names). */
const upstream = `
  bootstrap-signer-controller certificatesigningrequest-approving-controller
  certificatesigningrequest-cleaner-controller certificatesigningrequest-signing-controller
  cloud-node-lifecycle-controller clusterrole-aggregation-controller cronjob-controller daemonset-controller
  deployment-controller device-taint-eviction-controller disruption-controller endpoints-controller
  endpointslice-controller endpointslice-mirroring-controller ephemeral-volume-controller garbage-collector-controller
  horizontal-pod-autoscaler-controller job-controller kube-apiserver-serving-clustertrustbundle-publisher-controller
  legacy-serviceaccount-token-cleaner-controller namespace-controller node-ipam-controller node-lifecycle-controller
  node-route-controller persistentvolume-attach-detach-controller persistentvolume-binder-controller
  persistentvolume-expander-controller persistentvolume-protection-controller
  persistentvolumeclaim-protection-controller pod-garbage-collector-controller
  podcertificaterequest-cleaner-controller podgroup-protection-controller replicaset-controller
  replicationcontroller-controller resourceclaim-controller resourcepoolstatusrequest-controller
  resourcequota-controller root-ca-certificate-publisher-controller selinux-warning-controller service-cidr-controller
  service-lb-controller serviceaccount-controller serviceaccount-token-controller statefulset-controller
  storage-version-migrator-controller storageversion-garbage-collector-controller taint-eviction-controller
  token-cleaner-controller ttl-after-finished-controller ttl-controller validatingadmissionpolicy-status-controller
  volumeattributesclass-protection-controller
`;
/** Loops that upstream does not have. */
const own: readonly string[] = [];

describe('loops that are not here', () => {
  const all = [...createControllers(defaultControllersConfig), ...absentLoops];
  it('may be left out or asked for, and no loop that is here is among them', () => {
    expect(selectControllers(all, ['*', '-svm', '-resourceclaim-controller']).filter(isAbsent)).not.toHaveLength(0);
    expect(selectControllers(all, ['resource-claim-controller']).map(({ name }) => name)).toEqual(['resourceclaim-controller']);
    expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
  });
  it('make the list that upstream has, with those that are here', () => {
    const names = [...all, ...cloudLoops].map(({ name }) => name);
    expect(names.sort()).toEqual([...upstream.trim().split(/\s+/), ...own].sort());
  });
});

describe('clouds in kube-controller-manager', () => {
  it('are external, whatever plugin is named', () => {
    const argv = [
      '--cloud-provider=external',
      '--external-cloud-volume-plugin=aws',
      '--allocate-node-cidrs',
      '--cluster-cidr=10.244.0.0/16',
    ];
    expect(configOf(...argv)).toMatchObject({ allocateNodeCidrs: true, clusterCidrs: ['10.244.0.0/16'] });
    expect(configOf('--cidr-allocator-type=RangeAllocator').allocateNodeCidrs).toBe(false);
  });
  it.each<[string, string]>([
    [
      '--cloud-provider=aws',
      'cloud provider "aws" was specified, but built-in cloud providers are disabled. Please set --cloud-provider=external and migrate to an external cloud provider',
    ],
    ['--cidr-allocator-type=CloudAllocator', 'built-in cloud providers are disabled. The ipam CloudAllocator is not available'],
  ])('%s is refused', (flag, problem) => expect(() => configOf(flag)).toThrow(problem));
  it('have names that may be asked for, and none of their loops', () => {
    const own = createControllers(defaultControllersConfig);
    const chosen = selectControllers(
      [...own, ...cloudLoops],
      ['service', 'cloud-node-lifecycle-controller', 'route', 'nodeipam'],
    );
    expect(chosen.map(({ name }) => name)).toEqual([
      'node-ipam-controller',
      'service-lb-controller',
      'node-route-controller',
      'cloud-node-lifecycle-controller',
    ]);
    expect(chosen.filter(isAbsent)).toHaveLength(3);
    expect(own.map(({ name }) => name)).not.toContain('cloud-node-lifecycle-controller');
  });
});
