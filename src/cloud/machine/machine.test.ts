import { describe, expect, it } from 'vitest';
import { cgroupLayout } from './cgroups.ts';
import { createGate } from './commands.ts';
import { initScript, mountTable } from './init-script.ts';
import { freePair, uplinkRules } from './uplink.ts';

describe('the uplink', () => {
  it('has addresses that nobody uses, outside of what is reserved', () => {
    const first = freePair('000000', new Set());
    expect(first).toEqual({ machine: '169.254.128.1', edge: '169.254.128.2' });
    expect(freePair('000000', new Set(['169.254.128.2']))).toEqual({ machine: '169.254.128.5', edge: '169.254.128.6' });
    const wellKnown = ((169 - 128) * 64).toString(16).padStart(6, '0');
    expect(freePair(wellKnown, new Set())?.machine).toBe('169.254.170.1');
    for (const mark of ['ffffff', 'abcdef'])
      expect(freePair(mark, new Set())?.edge).toMatch(/^169\.254\.(12[89]|1[3-9]\d|2\d\d)\./);
  });
  it('has rules that name only its own link', () => {
    expect(uplinkRules('abc123', '198.18.0.0/24').flatMap(({ hook, rules }) => [hook, ...rules])).toEqual([
      'POSTROUTING -j SAGONG-abc123',
      '-s 198.18.0.0/24 ! -o sgabc123up -j MASQUERADE',
      'FORWARD -j SAGONG-abc123',
      '-s 198.18.0.0/24 -i sgabc123up -j ACCEPT',
      '-o sgabc123up -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT',
    ]);
  });
});

describe('an instance', () => {
  const options = {
    hostname: "it's",
    disk: '/data/my disk',
    dir: '/data/i-1',
    pausePath: '/data/pause',
    boots: 2,
    resolvConf: '/etc/resolv.conf',
    layout: { version: 1, controllers: ['cpu', 'cpu,cpuacct'], systemd: true },
  } as const;
  it('mounts controllers before the system tree and its own folders after it', () => {
    const table = mountTable({ ...options, layout: { ...options.layout, controllers: ['cpu', 'memory'] } }).split('\n');
    expect(table.map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual([
      'sagong-cgroup /data/i-1/cgroup',
      'sagong-cpu /data/i-1/cgroup/cpu',
      'sagong-memory /data/i-1/cgroup/memory',
      'sagong-systemd /data/i-1/cgroup/systemd',
      'sagong-sys /sys',
      '/data/i-1/cgroup /sys/fs/cgroup',
      '/data/my\\040disk/run/containerd /run/containerd',
      '/data/my\\040disk/lib/cni /var/lib/cni',
      '/data/my\\040disk/run/netns /run/netns',
      '/data/my\\040disk/xtables.lock /run/xtables.lock',
      '/data/i-1/resolv.conf /etc/resolv.conf',
      '',
    ]);
    const newer = mountTable({ ...options, resolvConf: undefined, layout: { version: 2, controllers: [], systemd: false } });
    expect(newer).toContain('sagong-cgroup /sys/fs/cgroup cgroup2 defaults 0 0\n');
    expect(newer).not.toContain('resolv.conf');
  });
  it('ends its start as the pause program that says which boot it is', () => {
    const lines = initScript({ ...options, layout: { ...options.layout, controllers: [] } }).split('\n');
    expect(lines).toContain("hostname 'it'\\''s'");
    expect(lines.slice(-3)).toEqual(['mount --make-rshared /', 'echo ready', "exec '/data/pause' '/data/i-1' 'boots=2'"]);
  });
});

it('finds the cgroups of both versions', () => {
  const hybrid = 'cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\ncgroup /sys/fs/cgroup/systemd cgroup rw,name=systemd 0 0\n';
  expect(cgroupLayout(hybrid)).toEqual({ version: 1, controllers: ['cpu'], systemd: true });
  expect(cgroupLayout('cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n')).toEqual({ version: 2, controllers: [], systemd: false });
  expect(() => cgroupLayout('proc /proc proc rw 0 0\n')).toThrow('no cgroups are mounted');
});

it('a gate lets in as many as there is room for, in order, whether they succeed or not', async () => {
  const gate = createGate(2);
  const ends: (() => void)[] = [];
  const begun: number[] = [];
  const work = (n: number) =>
    gate(() => {
      begun.push(n);
      return new Promise<number>((resolve, reject) => ends.push(() => (n === 0 ? reject(new Error('no')) : resolve(n))));
    }).catch(() => -1);
  const all = [0, 1, 2, 3].map(work);
  await Promise.resolve();
  expect(begun).toEqual([0, 1]);
  ends[0]?.();
  expect(await all[0]).toBe(-1);
  expect(begun).toEqual([0, 1, 2]);
  ends[1]?.();
  ends[2]?.();
  await Promise.all([all[1], all[2]]);
  ends[3]?.();
  expect(await Promise.all(all)).toEqual([-1, 1, 2, 3]);
});
