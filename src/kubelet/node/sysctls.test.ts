import { describe, expect, it } from 'vitest';
import type { Pod } from '#api/core/v1';
import { dottedSysctl, sysctlRules } from './sysctls.ts';

const podWith = (names: string[], spec: Pod['spec'] = { containers: [] }): Pod => ({
  metadata: { name: 'p' },
  spec: { ...spec, securityContext: { sysctls: names.map((name) => ({ name, value: '1' })) } },
});
const refusal = (pod: Pod, allowed: string[] = [], kernel = '6.1.0-18-amd64'): string | undefined =>
  sysctlRules(allowed, kernel).refusalOf(pod)?.message;

describe('settings of the kernel for pods', () => {
  it.each([
    ['none', [], {}, undefined],
    ['safe', ['kernel.shm_rmid_forced', 'net/ipv4/tcp_syncookies'], {}, undefined],
    ['unsafe', ['net.core.somaxconn'], {}, 'forbidden sysctl: "net.core.somaxconn" not allowlisted'],
    [
      'unsafe after a safe one',
      ['kernel.shm_rmid_forced', 'kernel/msgmax'],
      {},
      'forbidden sysctl: "kernel.msgmax" not allowlisted',
    ],
    ['of the machine', ['vm.swappiness'], {}, 'forbidden sysctl: "vm.swappiness" not allowlisted'],
    [
      'safe, on the network of the node',
      ['net.ipv4.tcp_syncookies'],
      { hostNetwork: true },
      'forbidden sysctl: "net.ipv4.tcp_syncookies" not allowed with host Net enabled',
    ],
    [
      'safe, in the IPC namespace of the node',
      ['kernel.shm_rmid_forced'],
      { hostIPC: true },
      'forbidden sysctl: "kernel.shm_rmid_forced" not allowed with host IPC enabled',
    ],
    ['of the other namespace', ['kernel.shm_rmid_forced'], { hostNetwork: true }, undefined],
  ])('%s', (_, names, spec, expected) => {
    expect(refusal(podWith(names, { containers: [], ...spec }))).toBe(expected);
  });

  it('are refused by their reason', () => {
    expect(sysctlRules([], '6.1').refusalOf(podWith(['net.core.somaxconn']))?.reason).toBe('SysctlForbidden');
  });

  it('may be allowed by name and by pattern', () => {
    const allowed = ['net.core.somaxconn', 'kernel.msg*', 'fs.mqueue.*', 'net/ipv4/conf/*'];
    for (const name of ['net.core.somaxconn', 'kernel.msgmax', 'fs.mqueue.msg_max', 'net.ipv4.conf.eth0.forwarding'])
      expect(refusal(podWith([name]), allowed), name).toBeUndefined();
    expect(refusal(podWith(['net.core.somaxconn2']), allowed)).toContain('not allowlisted');
    expect(refusal(podWith(['kernel.msgmax'], { containers: [], hostIPC: true }), allowed)).toContain('with host IPC enabled');
  });

  it('cannot be allowed outside of namespaces, nor in other forms', () => {
    expect(() => sysctlRules(['vm.swappiness'], '6.1')).toThrow('the sysctls "vm.swappiness" are not known to be namespaced');
    expect(() => sysctlRules(['kernel.*'], '6.1')).toThrow('the sysctls "kernel." are not known to be namespaced');
    for (const pattern of ['', 'Net.core', 'net..core', `net.${'a'.repeat(260)}`, 'net.core.*x*y$'])
      expect(() => sysctlRules([pattern], '6.1'), pattern).toThrow('must have at most 253 characters and match regex');
  });

  it('are not safe where the kernel is too old for it', () => {
    expect(refusal(podWith(['net.ipv4.tcp_rmem']), [], '4.14.1')).toContain('not allowlisted');
    expect(refusal(podWith(['net.ipv4.tcp_rmem']), [], '4.15')).toBeUndefined();
    expect(refusal(podWith(['net.ipv4.tcp_rmem']), [], 'simulated')).toBeUndefined();
  });

  it('are written with dots, whichever way they are given', () => {
    expect(dottedSysctl('net/ipv4/conf/eth0.100/forwarding')).toBe('net.ipv4.conf.eth0/100.forwarding');
    expect(dottedSysctl('net.ipv4.conf.eth0/100.forwarding')).toBe('net.ipv4.conf.eth0/100.forwarding');
    expect(dottedSysctl('plain')).toBe('plain');
  });
});
