// HAProxy's processes on the machine: starting it in a router's namespace with few rights, finding the one that an earlier process started, ending it.
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Clock } from '#utils';
import { limits } from '../limits.ts';

/** What the master keeps: workers' account and root, low ports, ending workers. Workers keep nothing (their account is not root's). */
const capabilities = ['setuid', 'setgid', 'sys_chroot', 'net_bind_service', 'kill'];

export interface StartOptions {
  netns: string;
  /** HAProxy runs in it; its configuration is there. */
  dir: string;
  configFile: string;
  logFile: string;
  masterSocket: string;
}

export const haproxyArguments = ({ netns, configFile, masterSocket }: StartOptions): string[] => [
  `--net=/run/netns/${netns}`,
  'setpriv',
  '--no-new-privs',
  `--bounding-set=-all,${capabilities.map((name) => `+${name}`).join(',')}`,
  'haproxy',
  '-W',
  '-f',
  configFile,
  '-S',
  `unix@${masterSocket},mode,600`,
];

export interface Running {
  pid: number;
  /** Calls `ended` once when the process is gone; cancelled by `stop`. */
  watch(ended: () => void): { stop(): void };
}

/** Starts the master. It lives on when this process ends, so that connections do. */
export async function startHaproxy(options: StartOptions): Promise<Running> {
  const log = await open(options.logFile, 'a', 0o600);
  try {
    const child = spawn('nsenter', haproxyArguments(options), {
      cwd: options.dir,
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
    });
    await new Promise<void>((resolve, reject) => {
      child.once('error', reject);
      child.once('spawn', resolve);
    });
    child.unref();
    const { pid } = child;
    if (pid === undefined) throw new Error('HAProxy has no process id');
    return {
      pid,
      watch(ended) {
        let over = !isAlive(pid);
        if (over) ended();
        child.once('exit', () => {
          if (!over) ended();
        });
        return {
          stop() {
            over = true;
          },
        };
      },
    };
  } finally {
    await log.close();
  }
}

/** A master process that is not a child of this process. Nothing reports its end, so it is checked regularly. */
export function watched(pid: number, clock: Clock): Running {
  return {
    pid,
    watch(ended) {
      let timer = clock.setTimer(limits.watchPollMs, look);
      function look(): void {
        if (isAlive(pid)) timer = clock.setTimer(limits.watchPollMs, look);
        else ended();
      }
      return { stop: () => timer.cancel() };
    },
  };
}

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
};

/** Whether a process runs; one that has ended and was not waited for does not. */
export function isAlive(pid: number): boolean {
  const stat = read(`/proc/${pid}/stat`);
  return stat !== '' && !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
}

const parentOf = (pid: number): number => {
  const stat = read(`/proc/${pid}/stat`);
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? 0);
};

/** Masters by process id, with the configuration file they run with: this one, or any below this folder when it ends in a slash. */
export function findHaproxy(configFile: string): Map<number, string> {
  const isOurs = (word: string): boolean => (configFile.endsWith('/') ? word.startsWith(configFile) : word === configFile);
  const found = new Map<number, string>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const words = read(`/proc/${name}/cmdline`).split('\0');
    const file = words[0]?.endsWith('haproxy') ? words.find(isOurs) : undefined;
    if (file !== undefined && isAlive(Number(name))) found.set(Number(name), file);
  }
  return new Map([...found].filter(([pid]) => !found.has(parentOf(pid))));
}

function signal(pid: number, name: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Ends a master and all its workers. The master leads the process group that they are in. */
export async function stopHaproxy(pid: number, clock: Clock): Promise<void> {
  if (!isAlive(pid)) return;
  signal(pid, 'SIGTERM');
  const deadline = clock.monotonic() + limits.stopGraceMs;
  while (isAlive(pid)) {
    if (clock.monotonic() > deadline) {
      signal(-pid, 'SIGKILL');
      signal(pid, 'SIGKILL');
    }
    await clock.sleep(limits.stopPollMs);
  }
}
