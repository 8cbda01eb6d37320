import { describe, expect, it } from 'vitest';
import { endpointOf, endpointOfMachine, machineOfStart } from './choice.ts';

describe('a cluster of machines, as a start chooses it', () => {
  it('is none without an address', () => {
    expect(machineOfStart({ nodes: 3 }, undefined)).toBeUndefined();
  });
  it.each([
    [{ controlPlaneEndpoint: 'kube.example' }, '--control-plane-endpoint needs --advertise-address'],
    [{ advertiseAddress: '192.0.2.1', nodes: 2 }, 'join others with sagong join'],
    [{ advertiseAddress: '192.0.2.1', cni: 'none' }, '--cni none cannot be used'],
    [{ advertiseAddress: '192.0.2.1' }, 'is no IPv4 address of this machine'],
  ])('%j is refused', (given, why) => {
    expect(() => machineOfStart(given, undefined)).toThrow(why);
  });
  it('is found at its own address, or where its user says', () => {
    const machine = { advertiseAddress: '10.0.0.1', node: true };
    expect(endpointOfMachine(machine, 6443)).toBe('10.0.0.1:6443');
    expect(endpointOfMachine({ ...machine, controlPlaneEndpoint: 'kube.example:443' }, 6443)).toBe('kube.example:443');
    expect(endpointOf('kube.example', '--control-plane-endpoint')).toBe('kube.example:6443');
    expect(() => endpointOf('https://kube.example', '--control-plane-endpoint')).toThrow('must be host:port');
  });
});
