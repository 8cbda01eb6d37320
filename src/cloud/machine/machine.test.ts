import { describe, expect, it } from 'vitest';
import { cgroupLayout } from './cgroups.ts';
import { type InitOptions, initScript, mountTables, ownEtc } from './init-script.ts';
import { foldersOf, type MachineRoot, rootPlan } from './root-files.ts';
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
  const options: InitOptions = {
    hostname: "it's",
    disk: '/data/my disk',
    dir: '/data/i-1',
    pausePath: '/data/cloud/pause',
    boots: 2,
    address: '10.20.1.5',
    nameServer: '10.20.0.2',
    layout: { version: 1, controllers: ['cpu', 'memory'], systemd: true },
  };
  const machine: MachineRoot = {
    entries: new Map<string, 'folder' | { link: string }>([
      ['usr', 'folder'],
      ['etc', 'folder'],
      ['home', 'folder'],
      ['bin', { link: 'usr/bin' }],
    ]),
    mountPoints: ['/', '/usr', '/usr/lib/modules', '/etc/hosts', '/home'],
  };
  const plan = rootPlan({ ...options, machine, shows: ['/data/node', '/usr/local', '/'] });
  const mounts = (table: string) => table.split('\n').map((line) => line.split(' ').slice(0, 2).join(' '));
  const root = '/data/my\\040disk/root';
  const table = (...given: Parameters<typeof mountTables>): string => Object.values(mountTables(...given)).join('');
  it('has the programs and settings of the machine through overlays, its own disk, and what its program needs to see', () => {
    expect(mounts(table(options, plan))).toEqual([
      `${root} ${root}`,
      `proc ${root}/proc`,
      'sagong-cgroup /data/i-1/cgroup',
      'sagong-cpu /data/i-1/cgroup/cpu',
      'sagong-memory /data/i-1/cgroup/memory',
      'sagong-systemd /data/i-1/cgroup/systemd',
      `sagong-sys ${root}/sys`,
      `/data/i-1/cgroup ${root}/sys/fs/cgroup`,
      `sagong-overlay ${root}/usr`,
      `sagong-overlay ${root}/etc`,
      `sagong-dev ${root}/dev`,
      `sagong-pts ${root}/dev/pts`,
      `sagong-shm ${root}/dev/shm`,
      `sagong-run ${root}/run`,
      `/data/node ${root}/data/node`,
      `/usr/lib/modules ${root}/usr/lib/modules`,
      `/data/my\\040disk ${root}/data/my\\040disk`,
      `/data/my\\040disk/logs ${root}/var/log`,
      '',
    ]);
    expect(plan.links).toContainEqual(['/data/my disk/root/bin', 'usr/bin']);
    expect(plan.targets).toContain('/data/my disk/root/data/cloud');
    expect(plan.folders).toContainEqual(['/data/my disk/changes/usr/upper', 0o755]);
    expect(plan.folders).toContainEqual(['/data/my disk/root/tmp', 0o1777]);
    const newer = table({ ...options, layout: { version: 2, controllers: [], systemd: false } }, plan);
    expect(newer).toContain(`sagong-cgroup ${root}/sys/fs/cgroup cgroup2 defaults 0 0\n`);
  });
  it('does not see the disks of others where they lie in a folder that an overlay shows', () => {
    const places = { disk: '/usr/data/nodes/one', pausePath: '/usr/data/cloud/pause' };
    const hiding = rootPlan({ ...options, ...places, machine, shows: [] });
    const at = mounts(hiding.mounts.join('\n'));
    const inside = '/usr/data/nodes/one/root/usr/data';
    expect(at.slice(-4)).toEqual([
      `sagong-hidden ${inside}/nodes`,
      `sagong-hidden ${inside}/cloud`,
      `/usr/data/nodes/one ${inside}/nodes/one`,
      '/usr/data/nodes/one/logs /usr/data/nodes/one/root/var/log',
    ]);
  });
  it('has further folders of the machine where it was asked to, over all else', () => {
    const further = [
      { source: '/home/me/my code', target: '/src', readOnly: true },
      { source: '/srv/data', target: '/var/log/data' },
      { source: '/home/me/out', target: '/src/out' },
    ];
    const asked = rootPlan({ ...options, machine, shows: [], mounts: further });
    const { mounts: lines } = asked;
    expect(initScript(options, asked)).toMatch(/findmnt .* '\/data\/my disk\/root\/src' \| .* mount -o remount,bind,ro "\$at"/);
    expect(initScript(options, asked)).toContain(
      "case \"$at\" in '/data/my disk/root/src/out'|'/data/my disk/root/src/out/'*) continue;;",
    );
    expect(initScript(options, asked)).not.toMatch(/findmnt .*\/var\/log\/data/);
    expect(lines.slice(-3)).toEqual([
      String.raw`/home/me/my\040code /data/my\040disk/root/src none rbind,ro,rprivate,X-mount.mkdir 0 0`,
      String.raw`/srv/data /data/my\040disk/root/var/log/data none rbind,rprivate,X-mount.mkdir 0 0`,
      String.raw`/home/me/out /data/my\040disk/root/src/out none rbind,rprivate,X-mount.mkdir 0 0`,
    ]);
  });
  it('has further files of the machine, mounted after all folders', () => {
    const file = { source: "/home/me/it's", target: '/etc/some/file', isFile: true };
    const asked = rootPlan({ ...options, machine, shows: [], mounts: [file, { ...file, target: '/srv/read', readOnly: true }] });
    expect(asked.mounts.filter((line) => line.includes('/home/me'))).toEqual([]);
    const script = initScript(options, asked);
    expect(script).toContain("mount --bind '/home/me/it'\\''s' '/data/my disk/root/etc/some/file'");
    expect(script).toContain("mount -o remount,bind,ro '/data/my disk/root/srv/read'");
    expect(script).not.toContain("remount,bind,ro '/data/my disk/root/etc/some/file'");
  });
  it('shows the folders of a command that does not say what it needs', () => {
    const command = ['/work/bin/run', '--config', '/data/disks/one/config', '/work/more'];
    expect(foldersOf(command, '/data/disks/one')).toEqual(['/work']);
  });
  it('ends its start as the pause program that says which boot it is', () => {
    const lines = initScript(options, plan).split('\n');
    expect(lines).toContain("hostname 'it'\\''s'");
    const last = ['rmdir /.machine', 'mount --make-rshared /', 'echo ready', "exec '/data/cloud/pause' '/data/i-1' 'boots=2'"];
    expect(lines.slice(-4)).toEqual(last);
    expect(ownEtc(options)['hosts']).toContain("10.20.1.5 it's\n");
  });
});

it('finds the cgroups of both versions', () => {
  const hybrid = 'cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\ncgroup /sys/fs/cgroup/systemd cgroup rw,name=systemd 0 0\n';
  expect(cgroupLayout(hybrid)).toEqual({ version: 1, controllers: ['cpu'], systemd: true });
  expect(cgroupLayout('cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n')).toEqual({ version: 2, controllers: [], systemd: false });
  expect(() => cgroupLayout('proc /proc proc rw 0 0\n')).toThrow('no cgroups are mounted');
});
