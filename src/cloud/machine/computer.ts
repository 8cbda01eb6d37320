// One instance as a computer: its power, its first process, and the program that runs as long as it does. `powerOff` is a power failure: what is on
// its disk stays, what ran is gone. Everything a later process of the cloud must know about it is in the process table.
import { mkdir, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, Logger } from '#utils';
import { instanceCgroup, type UserData } from '../model/index.ts';
import { type CgroupLayout, cgroupProcesses, clearCgroups, createCgroups } from './cgroups.ts';
import { files, type InitOptions, initScript, mountTables, ownEtc, readyWord } from './init-script.ts';
import { bootTimeoutMs, processPollMs, programStopTimeoutMs, restartMs } from './limits.ts';
import { adoptProcess, childOf, commandLine, killPid, lastWords, type ManagedProcess, startProcess } from './processes.ts';
import { kindsOf, machineRoot, makeRoot, withLog } from './root.ts';
import { foldersOf, type RootPlan, rootPlan } from './root-files.ts';

export interface ComputerDeps {
  mark: string;
  /** The directory of the cloud; an instance's files are below `instances/<id>`. */
  dir: string;
  /** The static pause program. */
  pausePath: string;
  layout: CgroupLayout;
  clock: Clock;
  logger: Logger;
}

export interface BootOptions {
  netns: string;
  hostname: string;
  address: string;
  nameServer: string;
  boots: number;
  userData?: UserData;
}

export const instanceDir = (dir: string, id: string): string => join(dir, 'instances', id);

const markedBy = (dir: string): string => `SAGONG_INSTANCE_DIR=${dir}`;

/** Whether `work` was done within `timeoutMs`. Rejects when it did before. */
export async function within(work: Promise<unknown>, timeoutMs: number, clock: Clock): Promise<boolean> {
  const patience = new AbortController();
  const late = clock.sleep(timeoutMs, patience.signal).then(
    () => false,
    () => false,
  );
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    patience.abort();
  }
}

export class Computer {
  readonly #id: string;
  readonly #dir: string;
  readonly #cgroup: string;
  readonly #deps: ComputerDeps;
  #initPid = 0;
  #init: ManagedProcess | undefined;
  #program: ManagedProcess | undefined;
  /** Aborted when its power is to end: its program is not started again. */
  #power = new AbortController();
  /** Aborted when it has no processes any more. */
  #over = new AbortController();

  constructor(id: string, deps: ComputerDeps) {
    this.#id = id;
    this.#deps = deps;
    this.#dir = instanceDir(deps.dir, id);
    this.#cgroup = instanceCgroup(deps.mark, id);
  }

  /** Makes the namespaces in a network namespace that is there. Gives the first process. Rejects, and leaves nothing, when it does not boot. */
  async boot(options: BootOptions): Promise<number> {
    const { clock, layout } = this.#deps;
    const init: InitOptions = {
      ...this.#deps,
      ...options,
      disk: options.userData?.directory ?? join(this.#dir, 'disk'),
      dir: this.#dir,
    };
    const { command = [], shows = foldersOf(command, init.disk), mounts } = options.userData ?? {};
    const plan = rootPlan({ ...init, shows, mounts: await kindsOf(mounts), machine: await machineRoot() });
    await this.#prepare(init, plan);
    await clearCgroups(layout, this.#cgroup, clock);
    const joinCgroups = await createCgroups(layout, this.#cgroup);
    this.#powerOn();
    try {
      this.#init = await this.#startInit(joinCgroups, init, plan, options.netns);
      this.#initPid = (await childOf(this.#init.pid)) ?? 0;
      if (this.#initPid === 0) throw new Error('its first process has ended');
    } catch (error) {
      await this.powerOff();
      throw error;
    }
    if (options.userData) this.#supervise(options.userData, joinCgroups, undefined);
    return this.#initPid;
  }

  /** Takes over what an earlier process of the cloud booted. Undefined: there is nothing that runs, or not in that network namespace. */
  async adopt({
    netns,
    userData,
  }: Pick<BootOptions, 'netns' | 'userData'>): Promise<{ initPid: number; boots: number } | undefined> {
    const { layout, pausePath, clock } = this.#deps;
    let program: number | undefined;
    let boots = 0;
    for (const pid of await cgroupProcesses(layout, this.#cgroup)) {
      const words = await commandLine(pid);
      if (words[0] === pausePath && words[1] === this.#dir) {
        boots = Number(words[2]?.slice(words[2].indexOf('=') + 1));
        this.#initPid = pid;
      } else if (words[0] === 'nsenter' && words.includes(markedBy(this.#dir))) program = pid;
    }
    if (this.#initPid === 0 || !(await livesIn(this.#initPid, netns))) return undefined;
    this.#powerOn();
    this.#init = adoptProcess(this.#initPid, clock, this.#over.signal);
    if (userData) {
      const joinCgroups = await createCgroups(layout, this.#cgroup);
      this.#supervise(userData, joinCgroups, program === undefined ? undefined : adoptProcess(program, clock, this.#over.signal));
    }
    return { initPid: this.#initPid, boots };
  }

  /** Resolves when its first process has ended, for whatever reason. */
  async ended(): Promise<void> {
    await this.#init?.ended;
  }

  /** Asks the program to end, waits a while, and takes the power away. Safe to repeat. */
  async powerOff(): Promise<void> {
    const { clock, layout } = this.#deps;
    this.#power.abort();
    if (this.#program && this.#initPid > 0) {
      const pid = await childOf(this.#program.pid);
      if (pid !== undefined) {
        killPid(pid, 'SIGTERM');
        await within(this.#program.ended, programStopTimeoutMs, clock);
      }
    }
    if (this.#initPid > 0) killPid(this.#initPid, 'SIGKILL');
    await clearCgroups(layout, this.#cgroup, clock);
    this.#over.abort();
    await Promise.all([this.#init?.ended, this.#program?.ended]);
    this.#initPid = 0;
    this.#init = undefined;
    this.#program = undefined;
  }

  /** Removes its files, but not a disk that was given. */
  async discard(): Promise<void> {
    await rm(this.#dir, { recursive: true, force: true });
  }

  async #prepare(init: InitOptions, plan: RootPlan): Promise<void> {
    const { disk, dir } = init;
    await Promise.all([disk, dir].map((path) => mkdir(path, { recursive: true, mode: 0o700 })));
    const folders = [join(dir, files.cgroups), join(dir, files.etc)];
    await Promise.all(folders.map((path) => mkdir(path, { recursive: true })));
    await makeRoot(plan, disk);
    const { overlays, mounts } = mountTables(init, plan);
    await Promise.all([
      ...Object.entries(ownEtc(init)).map(([name, text]) => writeFile(join(dir, files.etc, name), text)),
      writeFile(join(dir, files.overlays), overlays),
      writeFile(join(dir, files.mounts), mounts),
    ]);
  }
  #powerOn(): void {
    this.#power = new AbortController();
    this.#over = new AbortController();
  }
  async #startInit(joinCgroups: string, init: InitOptions, plan: RootPlan, netns: string): Promise<ManagedProcess> {
    const namespaces = ['--mount', '--propagation', 'slave', '--uts', '--ipc', '--cgroup', '--pid', '--fork'];
    const words = [`--net=/run/netns/${netns}`, 'unshare', ...namespaces, 'sh', '-c', initScript(init, plan)];
    let announce: (ready: boolean) => void = () => {};
    const announced = new Promise<boolean>((resolve) => {
      announce = resolve;
    });
    const started = await withLog(init.disk, 'init.log', (logFile) =>
      startProcess('sh', ['-c', `${joinCgroups}; exec nsenter "$@"`, this.#dir, ...words], {
        logFile,
        onStdout: (text) => text.includes(readyWord) && announce(true),
      }),
    );
    void started.ended.then(() => announce(false));
    const ready = (await within(announced, bootTimeoutMs, this.#deps.clock)) && (await announced);
    if (!ready)
      throw new Error(
        `it did not boot: ${(await withLog(init.disk, 'init.log', lastWords)) || 'its first process said nothing'}`,
      );
    return started;
  }
  #supervise(userData: UserData, joinCgroups: string, first: ManagedProcess | undefined): void {
    this.#keepRunning(userData, joinCgroups, first).catch((error: unknown) =>
      this.#deps.logger.error('the program of an instance cannot be started', { instance: this.#id, error: String(error) }),
    );
  }
  async #keepRunning(userData: UserData, joinCgroups: string, first: ManagedProcess | undefined): Promise<void> {
    const { clock, logger } = this.#deps;
    const { signal } = this.#power;
    const initPid = this.#initPid;
    let pauseMs = restartMs.first;
    for (let current = first; !signal.aborted; current = undefined) {
      const startedMs = clock.monotonic();
      if (!current) await this.#endStrays(userData);
      current ??= await this.#startProgram(userData, joinCgroups, initPid);
      this.#program = current;
      const how = await current.ended;
      if (signal.aborted || (await commandLine(initPid)).length === 0) return;
      if (clock.monotonic() - startedMs > restartMs.forgivenAfter) pauseMs = restartMs.first;
      logger.warn('the program of an instance has ended and is started again', { instance: this.#id, how, pauseMs });
      await clock.sleep(pauseMs, signal).catch(() => {});
      pauseMs = Math.min(pauseMs * 2, restartMs.max);
    }
  }
  /** Never two of them: a program goes on when only the nsenter in front of it was killed, and nobody looks after it any more. */
  async #endStrays({ command }: UserData): Promise<void> {
    const { clock, layout } = this.#deps;
    const lateMs = clock.monotonic() + programStopTimeoutMs;
    const strays = async (): Promise<number[]> => {
      const pids = await cgroupProcesses(layout, this.#cgroup);
      const words = await Promise.all(pids.map(commandLine));
      return pids.filter((_, at) => endsWith(words[at] ?? [], command));
    };
    for (let pids = await strays(); pids.length > 0; pids = await strays()) {
      for (const pid of pids) killPid(pid, clock.monotonic() > lateMs ? 'SIGKILL' : 'SIGTERM');
      await clock.sleep(processPollMs);
    }
  }
  /** Runs inside the instance, in its disk's folder, as a child of this process in the instance's cgroups and namespaces. */
  #startProgram({ command, env, directory }: UserData, joinCgroups: string, initPid: number): Promise<ManagedProcess> {
    const inside = ['env', markedBy(this.#dir), 'sh', '-c', 'cd "$0" && exec "$@"', directory, ...command];
    const words = ['-t', String(initPid), '-m', '-u', '-i', '-n', '-p', '-C', '--', ...inside];
    return withLog(directory, 'program.log', (logFile) =>
      startProcess('sh', ['-c', `${joinCgroups}; exec nsenter "$@"`, this.#dir, ...words], { logFile, ...(env && { env }) }),
    );
  }
}

/** Also of what is about to become the command. */
const endsWith = (words: readonly string[], command: readonly string[]): boolean =>
  words.length >= command.length && command.every((word, at) => words[words.length - command.length + at] === word);

/** Whether the process is in the network namespace of that name. */
async function livesIn(pid: number, netns: string): Promise<boolean> {
  try {
    const [link, { ino }] = await Promise.all([readlink(`/proc/${pid}/ns/net`), stat(`/run/netns/${netns}`)]);
    return link === `net:[${ino}]`;
  } catch {
    return false;
  }
}
