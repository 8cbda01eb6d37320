// One real node: namespaces around a containerd, made in about 150 ms (docs/nodes.md). `stop` is a power failure, as for any computer:
// what is on its disk stays, what ran is gone.
import { connect } from 'node:net';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { atomicWrite } from '#host';
import type { Clock, Exec, Logger } from '#utils';
import { cgroupProcesses, type CgroupLayout, createCgroups, removeCgroups } from './cgroups.ts';
import { containerdConfig, containerdPaths, cniConfig } from './containerd-config.ts';
import { initScript } from './init-script.ts';
import { containerdPollMs, containerdTimeoutMs, nodeBootTimeoutMs, nodeStopTimeoutMs, restartMs } from './limits.ts';
import type { NodePlan } from './plan.ts';
import { killPid, type ManagedProcess, startProcess } from './processes.ts';
import { type RegistryMirror, writeRegistryMirrors } from './registry-mirrors.ts';

export interface RealNodeOptions {
  plan: NodePlan;
  layout: CgroupLayout;
  /** The static pause program: PID 1 of the node. */
  pausePath: string;
  sandboxImage: string;
  cniBinDir: string;
  restrictOomScoreAdj: boolean;
  /** /etc/resolv.conf of the node. */
  resolvConf: string;
  registryMirrors: readonly RegistryMirror[];
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

  /** Boots the namespaces and containerd; resolves when CRI answers on `socket`. */
  async start(): Promise<void> {
    await this.#prepareDisk();
    this.#joinCgroups = await createCgroups(this.#options.layout, this.plan.cgroup);
    await this.#boot();
    const containerd = await this.service('containerd', ['--config', containerdPaths(this.plan.dir).configFile], 'containerd');
    await this.#untilListening(containerd);
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
  /** Writes the pod network; containerd picks it up at once. */
  async configurePodNetwork(podCidr: string): Promise<void> {
    const { cniConfDir } = containerdPaths(this.plan.dir);
    await atomicWrite(join(cniConfDir, '10-podnet.conflist'), cniConfig(this.plan.dir, podCidr), { mode: 0o644 });
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
    const paths = containerdPaths(dir);
    await mkdir(dir, { recursive: true, mode: 0o700 });
    await writeRegistryMirrors(paths.certsDir, this.#options.registryMirrors);
    for (const path of [paths.dir, paths.cniConfDir, join(dir, 'logs'), join(dir, 'kubelet')])
      await mkdir(path, { recursive: true });
    await writeFile(paths.configFile, containerdConfig({ ...this.#options, nodeDir: dir }), { mode: 0o600 });
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
  async #untilListening(containerd: ManagedProcess): Promise<void> {
    const { clock } = this.#options;
    const deadline = clock.monotonic() + containerdTimeoutMs;
    let over = false;
    void containerd.ended.then(() => {
      over = true;
    });
    while (!(await accepts(this.socket))) {
      if (over) throw new Error(`containerd of node ${this.plan.name} ended: ${containerd.lastWords()}`);
      if (clock.monotonic() > deadline) throw new Error(`containerd of node ${this.plan.name} does not answer on ${this.socket}`);
      await clock.sleep(containerdPollMs);
    }
  }
}

const accepts = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
