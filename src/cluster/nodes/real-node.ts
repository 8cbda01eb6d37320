// One real node: namespaces around a containerd, made in about 150 ms (docs/nodes.md). `stop` is a power failure, as for any computer:
// what is on its disk stays, what ran is gone.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, Exec, Logger } from '#utils';
import { cgroupProcesses, type CgroupLayout, createCgroups, removeCgroups } from './cgroups.ts';
import { containerdPaths } from './containerd-config.ts';
import { initScript } from './init-script.ts';
import { nodeBootTimeoutMs, nodeStopTimeoutMs, restartMs } from './limits.ts';
import type { NodePlan } from './plan.ts';
import { killPid, type ManagedProcess, startProcess } from './processes.ts';

export interface RealNodeOptions {
  plan: NodePlan;
  layout: CgroupLayout;
  /** The static pause program: PID 1 of the node. */
  pausePath: string;
  /** /etc/resolv.conf of the node. */
  resolvConf: string;
  clock: Clock;
  exec: Exec;
  logger: Logger;
}

export class RealNode {
  readonly plan: NodePlan;
  readonly socket: string;
  readonly #options: RealNodeOptions;
  readonly #processes: ManagedProcess[] = [];
  readonly #stopped = new AbortController();
  #initPid = 0;
  #joinCgroups = '';

  constructor(options: RealNodeOptions) {
    this.#options = options;
    this.plan = options.plan;
    this.socket = containerdPaths(options.plan.dir).socket;
  }

  /** Boots the namespaces. */
  async start(): Promise<void> {
    await this.#prepareDisk();
    this.#joinCgroups = await createCgroups(this.#options.layout, this.plan.cgroup);
    await this.#boot();
  }
  /** Runs a program that is to live as long as the node: started again, after a growing pause, when it ends. Gives its first process. */
  async service(command: string, args: readonly string[], name: string): Promise<ManagedProcess> {
    const first = await this.run(command, args, name);
    this.#keepRunning(first, command, args, name).catch((error: unknown) =>
      this.#options.logger.error('a program of a node cannot be started again', {
        node: this.plan.name,
        program: name,
        error: String(error),
      }),
    );
    return first;
  }
  /** Runs a program inside the node, as its child in cgroups and namespaces. Its output goes to `<dir>/logs/<logName>.log`. */
  async run(
    command: string,
    args: readonly string[],
    logName: string,
    env: Record<string, string> = {},
  ): Promise<ManagedProcess> {
    const words = ['-t', String(this.#initPid), '-m', '-u', '-i', '-n', '-p', '-C', '--', command, ...args];
    const script = `${this.#joinCgroups}; exec nsenter "$@"`;
    const managed = await startProcess('sh', ['-c', script, this.plan.dir, ...words], {
      logFile: join(this.plan.dir, 'logs', `${logName}.log`),
      env,
    });
    this.#processes.push(managed);
    void managed.ended.then(() => this.#forget(managed));
    return managed;
  }
  /** Runs a short program inside the node and waits for it. */
  exec(command: string, args: readonly string[]): ReturnType<Exec> {
    return this.#options.exec(
      'nsenter',
      ['-t', String(this.#initPid), '-m', '-u', '-i', '-n', '-p', '-C', '--', command, ...args],
      { timeoutMs: 60_000 },
    );
  }
  /** Kills PID 1: every process, mount and interface of the node goes with it. */
  async stop(): Promise<void> {
    const { layout, clock } = this.#options;
    this.#stopped.abort();
    if (this.#initPid > 0) killPid(this.#initPid, 'SIGKILL');
    this.#initPid = 0;
    const ended = Promise.all(this.#processes.map((managed) => managed.ended));
    const patience = new AbortController();
    await Promise.race([ended, clock.sleep(nodeStopTimeoutMs, patience.signal).catch(() => {})]);
    patience.abort();
    for (const pid of await cgroupProcesses(layout, this.plan.cgroup)) killPid(pid, 'SIGKILL');
    await removeCgroups(layout, this.plan.cgroup, clock);
  }

  async #prepareDisk(): Promise<void> {
    const { dir } = this.plan;
    await mkdir(join(dir, 'logs'), { recursive: true, mode: 0o700 });
    await writeFile(join(dir, 'resolv.conf'), this.#options.resolvConf);
  }
  async #boot(): Promise<void> {
    const { plan, layout, pausePath } = this.#options;
    const init = initScript({
      nodeName: plan.name,
      nodeDir: plan.dir,
      pausePath,
      cgroupVersion: layout.version,
      controllers: layout.controllers,
    });
    const ready = `${init.slice(0, init.lastIndexOf('\n'))}\necho ready\n${init.slice(init.lastIndexOf('\n') + 1)}`;
    const enter = [
      '--net=/run/netns/' + plan.netns,
      'unshare',
      '--mount',
      '--propagation',
      'slave',
      '--uts',
      '--ipc',
      '--cgroup',
      '--pid',
      '--fork',
      '--mount-proc',
      'sh',
      '-c',
      ready,
    ];
    let announce: () => void = () => {};
    const announced = new Promise<void>((resolve) => {
      announce = resolve;
    });
    const script = `${this.#joinCgroups}; exec nsenter "$@"`;
    const managed = await startProcess('sh', ['-c', script, plan.dir, ...enter], {
      logFile: join(plan.dir, 'logs', 'init.log'),
      onStdout: (text) => text.includes('ready') && announce(),
    });
    this.#processes.push(managed);
    const patience = new AbortController();
    const failed = managed.ended.then(() => {
      throw new Error(`node ${plan.name} did not boot: ${managed.lastWords() || 'its init ended'}`);
    });
    const late = this.#options.clock.sleep(nodeBootTimeoutMs, patience.signal).then(() => {
      throw new Error(`node ${plan.name} did not boot in ${nodeBootTimeoutMs / 1000} s`);
    });
    late.catch(() => {});
    failed.catch(() => {});
    await Promise.race([announced, failed, late]).finally(() => patience.abort());
    const pid = managed.child.pid ?? 0;
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
    this.#initPid = Number(children.trim().split(' ')[0]);
    if (!(this.#initPid > 0)) throw new Error(`node ${plan.name} has no init process`);
    void managed.ended.then(() => {
      if (!this.#stopped.signal.aborted)
        this.#options.logger.error('a node has lost its power; stop the cluster and start it again to bring it back', {
          node: plan.name,
        });
    });
  }
  async #keepRunning(first: ManagedProcess, command: string, args: readonly string[], name: string): Promise<void> {
    const { clock, logger } = this.#options;
    const { signal } = this.#stopped;
    let pauseMs = restartMs.first;
    for (let current = first; ; ) {
      const startedMs = clock.monotonic();
      const { code, signal: killedBy } = await current.ended;
      if (signal.aborted) return;
      if (clock.monotonic() - startedMs > restartMs.forgivenAfter) pauseMs = restartMs.first;
      const about = { node: this.plan.name, program: name, code, signal: killedBy, error: current.lastWords() };
      logger.error('a program of a node has ended and is started again', { ...about, pauseMs });
      await clock.sleep(pauseMs, signal).catch(() => {});
      pauseMs = Math.min(pauseMs * 2, restartMs.max);
      // Without its PID 1 a node has no power: nothing can be started there until the next `up`.
      if (signal.aborted || !this.#hasPower()) return;
      current = await this.run(command, args, name);
    }
  }
  /** Processes that have ended are reaped and done with; the first one is the node's own. */
  #forget(managed: ManagedProcess): void {
    const at = this.#processes.indexOf(managed);
    if (at > 0) this.#processes.splice(at, 1);
  }
  #hasPower(): boolean {
    return this.#initPid > 0 && this.#processes[0]?.child.exitCode === null && this.#processes[0].child.signalCode === null;
  }
}
