import { describe, expect, it } from 'vitest';
import { kubeApiServerFlags } from '#apiserver/app';
import { cloudControllerManagerFlags } from '#cloud-controller-manager';
import { kubeControllerManagerFlags } from '#controller-manager';
import { kubeSchedulerFlags } from '#scheduler';
import { componentWords, etcdWords } from './commands.ts';
import { type ControlPlaneConfig, programsOf } from './config.ts';

const config: ControlPlaneConfig = {
  name: 'control-plane-2',
  address: '10.77.16.5',
  directory: '/data/control-planes/control-plane-2',
  program: ['node', 'sagong'],
  cluster: 'c',
  members: [
    { name: 'control-plane-1', address: '10.77.0.5' },
    { name: 'control-plane-2', address: '10.77.16.5' },
  ],
  etcdToken: 'sagong-abc',
  podCidr: '10.244.0.0/16',
  cloud: true,
  args: { 'kube-scheduler': ['--v=4'] },
  encryptionConfig: '/data/encryption.json',
};
const tables = {
  'kube-apiserver': kubeApiServerFlags(),
  'kube-controller-manager': kubeControllerManagerFlags(),
  'kube-scheduler': kubeSchedulerFlags(),
  'cloud-controller-manager': cloudControllerManagerFlags,
};

describe('command lines of a control-plane machine', () => {
  it.each(Object.keys(tables) as (keyof typeof tables)[])('of %s have flags that it knows', (program) => {
    const [name, ...words] = componentWords(config, program);
    expect(name).toBe(program);
    const known = new Set(Object.values(tables[program]).map((flag) => (flag as { name: string }).name));
    expect(words.map((word) => /^--([a-z0-9-]+)=/.exec(word)?.[1]).filter((flag) => !known.has(flag ?? ''))).toEqual([]);
    expect(words.length).toBeGreaterThan(5);
    if (program === 'kube-scheduler') expect(words.at(-1)).toBe('--v=4');
  });
  it('sign what kubelets serve with by an authority that only the apiserver believes, where there is one', () => {
    const manager = { ...config, kubeletAuthority: true };
    const pki = `${config.directory}/pki`;
    expect(componentWords(manager, 'kube-controller-manager').filter((word) => word.startsWith('--cluster-signing-'))).toEqual(
      ['kubelet-serving', 'kubelet-client', 'kube-apiserver-client', 'legacy-unknown'].flatMap((signer) => {
        const authority = signer === 'kubelet-serving' ? 'kubelet-serving-ca' : 'ca';
        return [
          `--cluster-signing-${signer}-cert-file=${pki}/${authority}.crt`,
          `--cluster-signing-${signer}-key-file=${pki}/${authority}.key`,
        ];
      }),
    );
    expect(componentWords(manager, 'kube-apiserver')).toContain(`--kubelet-certificate-authority=${pki}/kubelet-trust.crt`);
    // Of a cluster from before: its machines have no such files.
    expect(componentWords(config, 'kube-controller-manager')).toContain(`--cluster-signing-cert-file=${pki}/ca.crt`);
    expect(componentWords(config, 'kube-apiserver')).toContain(`--kubelet-certificate-authority=${pki}/ca.crt`);
  });
  it('record requests among the logs of the machine, where that is wanted', () => {
    const audits = (auditLog?: string): string[] =>
      componentWords({ ...config, ...(auditLog && { auditLog }) }, 'kube-apiserver').filter((word) => /^--audit-/.test(word));
    expect(audits()).toEqual([]);
    const policy = `--audit-policy-file=${config.directory}/audit-policy.yaml`;
    expect(audits('audit.log')).toEqual([policy, `--audit-log-path=${config.directory}/logs/audit.log`]);
    expect(audits('-')).toEqual([policy, '--audit-log-path=-']);
  });
  it('of a managed control plane are found by the customer', () => {
    const customer = { link: 'eth1', address: '10.77.16.10', gateway: '10.77.16.1', destinations: ['10.77.0.0/16'] };
    const words = componentWords({ ...config, port: 443, customer }, 'kube-apiserver');
    expect(words).toContain('--advertise-address=10.77.16.10');
    expect(words).toContain('--secure-port=443');
    expect(programsOf({ cloud: true, etcdOnly: true })).toEqual(['etcd']);
  });
  it('name all members of etcd, and whether they begin together', () => {
    const cluster: [string, string][] = [
      ['control-plane-1', 'https://10.77.0.5:2380'],
      ['control-plane-2', 'https://10.77.16.5:2380'],
    ];
    const words = etcdWords(config, { cluster, fresh: true });
    expect(words).toContain('--initial-cluster=control-plane-1=https://10.77.0.5:2380,control-plane-2=https://10.77.16.5:2380');
    expect(words).toContain('--initial-cluster-state=new');
    expect(etcdWords(config, { cluster, fresh: false })).toContain('--initial-cluster-state=existing');
  });
});
