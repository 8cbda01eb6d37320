import { describe, expect, it } from 'vitest';
import type { Pod } from '#api/core/v1';
import { parseResolvConf, podDns } from './dns.ts';
import { podHostsFile } from './hosts-file.ts';
import { podNames } from './names.ts';

const podOf = (spec: Partial<Pod['spec']> = {}): Pod => ({
  metadata: { name: 'p', namespace: 'ns' },
  spec: { containers: [], ...spec },
});
const host = parseResolvConf('# x\nnameserver 9.9.9.9\nsearch corp.example.\noptions timeout:1\n');

describe('podDns', () => {
  const dns = (spec: Partial<Pod['spec']>, clusterDNS = ['10.96.0.10']) =>
    podDns(podOf(spec), { clusterDNS, clusterDomain: 'cluster.local', host });
  it("is the cluster first, with the host's search", () => {
    expect(dns({}).config).toEqual({
      servers: ['10.96.0.10'],
      searches: ['ns.svc.cluster.local', 'svc.cluster.local', 'cluster.local', 'corp.example'],
      options: ['ndots:5'],
    });
  });
  it("is the host's on the host network, by policy, and without cluster DNS", () => {
    expect(dns({ hostNetwork: true }).config).toEqual(host);
    expect(dns({ dnsPolicy: 'Default' }).config).toEqual(host);
    expect(dns({}, [])).toEqual({ config: host, missing: true });
    expect(dns({ hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' }).config.servers).toEqual(['10.96.0.10']);
  });
  it("takes the pod's own settings on top", () => {
    const dnsConfig = {
      nameservers: ['1.1.1.1'],
      searches: ['x.test'],
      options: [{ name: 'ndots', value: '2' }, { name: 'edns0' }],
    };
    expect(dns({ dnsPolicy: 'None', dnsConfig }).config).toEqual({
      servers: ['1.1.1.1'],
      searches: ['x.test'],
      options: ['ndots:2', 'edns0'],
    });
    expect(dns({ dnsConfig }).config.options).toEqual(['ndots:2', 'edns0']);
  });
});

it('writes the hosts file', () => {
  const file = podHostsFile(['10.0.0.1'], 'p', 'sub.ns.svc.cluster.local', [{ ip: '1.2.3.4', hostnames: ['a', 'b'] }]);
  expect(file).toMatch(/^# Kubernetes-managed hosts file\.\n127\.0\.0\.1\tlocalhost\n/);
  expect(file).toContain('10.0.0.1\tp.sub.ns.svc.cluster.local\tp\n');
  expect(file.endsWith('\n# Entries added by HostAliases.\n1.2.3.4\ta\tb\n')).toBe(true);
});

it('names a pod for itself and for the kernel', () => {
  expect(podNames(podOf(), 'cluster.local')).toEqual({ hostname: 'p', domain: '', kernelName: 'p' });
  expect(podNames(podOf({ hostname: 'h', subdomain: 's', setHostnameAsFQDN: true }), 'cluster.local').kernelName).toBe(
    'h.s.ns.svc.cluster.local',
  );
  expect(() => podNames(podOf({ hostname: 'h'.repeat(60), subdomain: 's', setHostnameAsFQDN: true }), 'cluster.local')).toThrow(
    'is too long',
  );
});
