import { describe, expect, it } from 'vitest';
import { defaultOptions as apiserverDefaults } from '#apiserver/app';
import { defaultControllersConfig } from '#controllers';
import { defaultOptions as kubeletDefaults } from '#kubelet';
import { apiserverWith, kubeletWith, managerWith, proxyWith, schedulerWith } from './apply.ts';
import { wordOf } from '../flags/component-args.ts';
import { overlay } from './overlay.ts';
import { checkComponentArgs } from './tables.ts';

const check = (args: Parameters<typeof checkComponentArgs>[0], alone = false) => checkComponentArgs(args, () => alone);

describe('flags of components', () => {
  it.each([
    ['a=b', '--a=b'],
    ['--a=b=c', '--a=b=c'],
    ['profiling', '--profiling'],
  ])('%s is the word %s', (text, word) => expect(wordOf('kubelet-arg', text)).toBe(word));
  it.each(['', '=x', 'a b', '-a', 'A=1'])('%j is no flag', (text) => {
    expect(() => wordOf('kubelet-arg', text)).toThrow('--kubelet-arg must be a flag of the component as name=value');
  });
  it('are refused as the component itself refuses them', async () => {
    await expect(check({ 'kube-apiserver': ['--nonsense=1'] })).rejects.toThrow('--apiserver-arg: unknown flag: --nonsense');
    await expect(check({ 'kube-controller-manager': ['--node-monitor-grace-period=soon'] })).rejects.toThrow(
      '--controller-manager-arg: invalid argument "soon" for "--node-monitor-grace-period" flag',
    );
    await expect(check({ 'kube-apiserver': ['--etcd-servers=http://x'] })).rejects.toThrow(
      '--apiserver-arg etcd-servers cannot be set: the cluster decides where its data is',
    );
    await expect(check({ 'kube-scheduler': ['--v=5'] })).rejects.toThrow('--scheduler-arg v cannot be set');
    await expect(check({ 'kube-scheduler': ['--v=5'] }, true)).resolves.toEqual([]);
    await expect(check({ kubelet: ['--root_dir=/x'] })).rejects.toThrow('--kubelet-arg root-dir cannot be set');
  });
  it('that change nothing are warned about', async () => {
    expect((await check({ 'kube-apiserver': ['--contention-profiling=true'] })).join()).toContain('has no effect');
    const shared = { 'kube-scheduler': ['--leader-elect-lease-duration=20s', '--tls-min-version=VersionTLS13'] };
    expect((await check(shared)).join()).toMatch(/leader-elect-lease-duration has no effect: .*tls-min-version has no effect: /);
    expect(await check(shared, true)).toEqual([]);
  });
});

describe('options with flags over them', () => {
  it('change where the flags do, and nowhere else', () => {
    expect(overlay({ a: 1, b: { c: 2, d: 3 }, e: [1] }, { b: { c: 0 }, e: [] }, { b: { c: 9 }, e: [] })).toEqual({
      ...{ a: 1, b: { c: 9, d: 3 }, e: [1] },
    });
    expect(overlay({ a: { x: 1, y: 2 } }, { a: { x: 1, y: 2 } }, { a: { y: 3 } })).toEqual({ a: { y: 3 } });
  });
  it('of the apiserver keep what the assembly has made, also back to a default', async () => {
    const ours = { ...apiserverDefaults(), securePort: 1, aggregatorRouting: true, enableAdmissionPlugins: ['NodeRestriction'] };
    const words = ['--enable-aggregator-routing=false', '--enable-admission-plugins=AlwaysPullImages', '--event-ttl=2h'];
    expect(await apiserverWith(ours, words)).toEqual({
      ...ours,
      aggregatorRouting: false,
      enableAdmissionPlugins: ['NodeRestriction', 'AlwaysPullImages'],
      eventTtlMs: 7_200_000,
    });
    expect(await apiserverWith(ours, [])).toEqual(ours);
    const trusting = {
      ...ours,
      requestHeader: {
        ca: 'ca',
        allowedNames: ['a'],
        usernameHeaders: ['u'],
        uidHeaders: [],
        groupHeaders: [],
        extraHeaderPrefixes: [],
      },
    };
    expect(await apiserverWith(trusting, ['--requestheader-allowed-names=b'])).toEqual({
      ...trusting,
      requestHeader: { ...trusting.requestHeader, allowedNames: ['b'] },
    });
  });
  it('of the managers, the kubelet and kube-proxy', async () => {
    const config = { ...defaultControllersConfig, clusterCidrs: ['10.1.0.0/16'], rootCa: 'ca' };
    const manager = await managerWith({ config, controllers: ['*'] }, [
      '--node-monitor-grace-period=40s',
      '--concurrent-deployment-syncs=7',
    ]);
    expect(manager.config).toEqual({ ...config, nodeMonitorGracePeriodMs: 40_000 });
    expect(manager.controllers).toEqual(['*']);
    expect(manager.concurrency).toMatchObject({ 'deployment-controller': 7 });
    expect(await proxyWith({ nodeName: 'n', mode: 'nftables' }, ['--masquerade-all'])).toMatchObject({
      ...{ nodeName: 'n', mode: 'nftables', masqueradeAll: true },
    });
    expect(await schedulerWith(['--pod-max-in-unschedulable-pods-duration=1m'])).toMatchObject({ unschedulableMs: 60_000 });
  });
});

describe('the kubelet of a node with flags', () => {
  const options = { ...kubeletDefaults('n'), cloudProvider: 'external' as const, rootDir: '/r' };
  const tls = { cert: 'c', key: 'k', ca: 'a', requestClientCert: true };
  const serving = { tls, anonymous: false, tokenReview: true, authorization: 'Webhook' as const };
  const ours = { options, serving, healthz: { host: '127.0.0.1', port: 10_248 } };

  it('has other options', async () => {
    expect(await kubeletWith(ours, ['--max-pods=7', '--eviction-hard=memory.available<5%'])).toEqual({
      ...ours,
      options: { ...options, podsMax: 7, eviction: { ...options.eviction, hard: { 'memory.available': '5%' } } },
      warnings: [],
    });
  });
  it('keeps its certificate and refuses strangers, unless it is told not to', async () => {
    expect((await kubeletWith(ours, ['--tls-min-version=VersionTLS13'])).serving).toEqual({
      ...serving,
      tls: { ...tls, minVersion: 'TLSv1.3' },
    });
    expect((await kubeletWith(ours, ['--authorization-mode=AlwaysAllow', '--anonymous-auth'])).serving).toEqual({
      ...serving,
      anonymous: true,
      authorization: 'AlwaysAllow',
    });
    expect((await kubeletWith(ours, ['--enable-server=false'])).serving).toBeUndefined();
  });
  it('says where it is well, and what changes nothing', async () => {
    const { healthz, warnings } = await kubeletWith(ours, ['--healthz-port=0', '--cgroup-driver=systemd']);
    expect(healthz).toEqual({ host: '127.0.0.1', port: 0 });
    expect(warnings.join()).toContain('cgroupDriver systemd has no effect');
  });
  it('is told at the start what it would refuse later', async () => {
    await expect(check({ kubelet: ['--eviction-hard=nonsense<1'] })).rejects.toThrow('--kubelet-arg: ');
    await expect(check({ kubelet: ['--tls-cipher-suites=ROT13'] })).rejects.toThrow('--kubelet-arg: ');
    expect((await check({ kubelet: ['--cgroup-driver=systemd'] })).join()).toContain('--kubelet-arg: cgroupDriver systemd');
  });
});
