// `sagong service` under a real systemd, which is booted in namespaces with the machine's root below an overlay: nothing is written to the machine. The
// nodes are simulated, for this systemd has no controllers of cgroups. On request: SAGONG_SYSTEMD=1.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { binary, eventually, type Output, run } from '../cluster/harness.ts';

const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const unit = 'sagong.service';

const boot = (dir: string): string => `set -e
mount -t tmpfs tmpfs ${dir}
mkdir ${dir}/upper ${dir}/work ${dir}/root
mount -t overlay overlay -o lowerdir=/,upperdir=${dir}/upper,workdir=${dir}/work ${dir}/root
cd ${dir}/root
rm -rf etc/systemd/system/*.wants
mkdir -p proc sys run dev
mount -t proc proc proc
mount -t sysfs sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs tmpfs run
mount -t tmpfs tmpfs dev
for one in null zero full random urandom tty; do touch dev/$one; mount --bind /dev/$one dev/$one; done
mkdir dev/pts dev/shm
ln -s /proc/self/fd dev/fd
container=test exec chroot . /lib/systemd/systemd --system --unit=multi-user.target --log-target=journal
`;

let dir: string;
let cgroup: string;
let unshare: ChildProcess;
let init: string;

const inside = (...command: string[]): Promise<Output> =>
  run(
    'nsenter',
    ['-t', init, '-m', '-p', '-u', '-i', '-n', '-C', '-r', '-w', 'env', '-i', `PATH=${path}`, 'HOME=/root', ...command],
    {
      timeoutMs: 100_000,
    },
  );
async function good(...command: string[]): Promise<string> {
  const { code, stdout, stderr } = await inside(...command);
  if (code !== 0) throw new Error(`${command.join(' ')}: exit code ${code}\n${stdout}${stderr}`);
  return stdout.trim();
}
const sagong = (...words: string[]): Promise<string> => good(process.execPath, binary, ...words);
const active = async (): Promise<string> => (await inside('systemctl', 'is-active', unit)).stdout.trim();
const nodeReady = (): Promise<void> =>
  eventually('the node is Ready', async () => / Ready /.test((await inside('kubectl', 'get', 'nodes')).stdout)).then(() => {});
const property = (name: string): Promise<string> => good('systemctl', 'show', '--value', '-p', name, unit);

async function removeCgroups(top: string): Promise<void> {
  for (const entry of await readdir(top, { withFileTypes: true }))
    if (entry.isDirectory()) await removeCgroups(join(top, entry.name));
  await rmdir(top);
}

describe.skipIf(process.env['SAGONG_SYSTEMD'] === undefined)('a service of systemd', { timeout: 120_000 }, () => {
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'sagong-systemd-'));
    const mounts = (await readFile('/proc/self/mounts', 'utf8')).split('\n').map((line) => line.split(' '));
    cgroup = join(mounts.find(([, , type]) => type === 'cgroup2')?.[1] ?? '', `sagong-systemd-${process.pid}`);
    await mkdir(cgroup);
    const script = `echo $$ > ${cgroup}/cgroup.procs; exec unshare -m -p -u -i -n -C --fork --kill-child --propagation private sh -c '${boot(dir)}'`;
    unshare = spawn('sh', ['-c', script], { stdio: 'ignore' });
    await eventually('systemd has booted', async () => {
      init = (await readFile(`/proc/${unshare.pid}/task/${unshare.pid}/children`, 'utf8')).trim();
      return init !== '' && (await inside('systemctl', 'is-system-running')).stdout.trim() === 'running';
    });
    await sagong('up', '--detach', '--nodes', '1', '--runtime', 'simulated');
    await sagong('service', 'install');
    await sagong('stop');
  }, 120_000);
  afterAll(async () => {
    if (unshare?.exitCode === null) {
      const ended = once(unshare, 'exit');
      if (init) process.kill(Number(init), 'SIGKILL');
      else unshare.kill('SIGKILL');
      await ended;
    }
    if (cgroup) await eventually('the cgroups are empty', () => removeCgroups(cgroup).then(() => true));
    if (dir) await rm(dir, { recursive: true });
  });

  it('starts at boot', async () => {
    expect(await active()).toBe('inactive');
    await inside('systemctl', 'isolate', 'rescue.target');
    await good('systemctl', 'isolate', 'multi-user.target');
    await eventually('it runs', async () => (await active()) === 'active');
    await nodeReady();
  });
  it('starts again when it fails', async () => {
    await good('kill', '-9', await property('MainPID'));
    await eventually('it was started again', async () => (await property('NRestarts')) === '1' && (await active()) === 'active');
    await eventually('it has started', async () => (await sagong('status')).includes('" runs (process'));
  });
  it('stops cleanly', async () => {
    await good('systemctl', 'stop', unit);
    expect([await property('Result'), await property('ExecMainStatus')]).toEqual(['success', '0']);
    expect((await inside('pgrep', '-f', 'sagong.mjs')).stdout).toBe('');
  });
  it('stops cleanly in the middle of a start, too', async () => {
    await good('systemctl', 'start', unit);
    await eventually('the start has begun', async () =>
      (await inside('journalctl', '-u', unit, '-b')).stdout.includes('Starting'),
    );
    await good('systemctl', 'stop', unit);
    expect(await property('Result')).toBe('success');
  });
  it('stays down when it was stopped by hand', async () => {
    await good('systemctl', 'start', unit);
    await nodeReady();
    await sagong('stop');
    await eventually('it has ended', async () => (await active()) === 'inactive');
    expect(await property('NRestarts')).toBe('0');
  });
  it('is forgotten when it is uninstalled, and its data kept', async () => {
    await good('systemctl', 'start', unit);
    await nodeReady();
    await sagong('service', 'uninstall');
    expect(await active()).toBe('inactive');
    expect(await readdir('/etc/systemd/system')).not.toContain(unit);
    expect((await inside('ls', '/etc/systemd/system')).stdout).not.toContain(unit);
    await sagong('up', '--detach');
    await nodeReady();
    await sagong('down');
  });
});
