// All that runs on a control-plane machine, each in a process of its own that is started again when it ends: etcd, kube-apiserver,
// kube-controller-manager, kube-scheduler, cloud-controller-manager. The first and only program of the instance (its user data): a machine that is
// switched off and on comes back by itself.
import { join } from 'node:path';
import { type Running, type Supervised, Supervisor } from '#component-base';
import { watchFile } from '#host';
import type { Clock, Logger } from '#utils';
import { accepts, type ManagedProcess, startProcess } from '../nodes/processes.ts';
import { componentWords, etcdWords } from './commands.ts';
import {
  type ControlPlaneConfig,
  controlPlaneFiles,
  type ControlPlaneProgram,
  controlPlanePrograms,
  programsOf,
  readAtStart,
} from './config.ts';
import { acceptPollMs, renewalMs, stopPatienceMs } from './limits.ts';
import { membershipOf, whileMember } from './member.ts';
import { apiPort, etcdPorts } from './names.ts';
import { keepRoutes } from './customer-side.ts';

interface Deps {
  clock: Clock;
  logger: Logger;
  /** The process's supervisor; default: a new one. */
  supervisor?: Supervisor;
}

/** The kernel ends a program whose agent has died: the next agent starts its own. */
const withAgent = ['setpriv', '--pdeathsig', 'KILL', '--'];
const loopback = '127.0.0.1';
/** What must accept connections before a program is started. */
const after = (program: ControlPlaneProgram, { port = apiPort }: ControlPlaneConfig): number | undefined => {
  if (program === 'etcd') return undefined;
  return program === 'kube-apiserver' ? etcdPorts.client : port;
};

export class ControlPlaneAgent {
  readonly #config: ControlPlaneConfig;
  readonly #deps: Deps;
  readonly #supervisor: Supervisor;
  readonly #stopping = new AbortController();
  #started: Promise<[ControlPlaneProgram, Supervised<Running>][]> = Promise.resolve([]);

  constructor(config: ControlPlaneConfig, deps: Deps) {
    this.#config = config;
    this.#deps = deps;
    this.#supervisor = deps.supervisor ?? new Supervisor(deps);
  }
  /** From now on these programs are kept running. */
  start(programs: readonly ControlPlaneProgram[] = controlPlanePrograms): void {
    const { customer } = this.#config;
    if (customer) void keepRoutes(customer, { ...this.#deps, signal: this.#stopping.signal }).catch(() => {});
    const wanted = programsOf(this.#config).filter((program) => programs.includes(program));
    this.#started = Promise.all(
      wanted.map(async (program): Promise<[ControlPlaneProgram, Supervised<Running>]> => {
        const begin = (fail: (error: Error) => void) => this.#begin(program, fail);
        return [program, await this.#supervisor.run(program, begin, { retryFirst: true })];
      }),
    );
  }
  /** The managers at once, then the apiserver, then etcd: nothing loses what it needs before it ends. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    const units = new Map(await this.#started);
    const last = ['kube-apiserver', 'etcd'] as const;
    const first = [...units].filter(([program]) => !last.some((one) => one === program));
    await Promise.all(first.map(([, unit]) => unit.stop()));
    for (const program of last) await units.get(program)?.stop();
  }

  async #begin(program: ControlPlaneProgram, fail: (error: Error) => void): Promise<Running> {
    const { clock } = this.#deps;
    const words = await this.#words(program);
    const [command = '', ...args] = [...withAgent, ...words];
    const logFile = join(controlPlaneFiles(this.#config.directory).logs, `${program}.log`);
    const started = await startProcess(command, args, { logFile });
    let stopping = false;
    void started.ended.then(({ code, signal }) => {
      const how = signal ?? `exit code ${code}`;
      if (!stopping) fail(new Error(`${program} has ended (${how}): ${lastLine(started)}`));
    });
    if (program === 'etcd') {
      const over = new AbortController();
      void started.ended.then(() => over.abort());
      const signal = AbortSignal.any([over.signal, this.#stopping.signal]);
      void whileMember(this.#config, { ...this.#deps, signal }).catch(() => {});
    }
    const renewed = this.#onRenewal(program, () => fail(new Error(`${program} is started again: its certificate was renewed`)));
    return {
      async stop() {
        renewed();
        stopping = true;
        started.child.kill('SIGTERM');
        const timer = clock.setTimer(stopPatienceMs, () => started.child.kill('SIGKILL'));
        await started.ended;
        timer.cancel();
      },
    };
  }
  /** Machines take their turns: all at once would be nobody for a moment. Gives what ends the looking. */
  #onRenewal(program: ControlPlaneProgram, changed: () => void): () => void {
    const { members, name, directory } = this.#config;
    const turn = members.findIndex((member) => member.name === name);
    const over = new AbortController();
    const inTurn = (): void =>
      void this.#deps.clock.sleep(renewalMs.settle + turn * renewalMs.turn, over.signal).then(changed, () => {});
    const watches = readAtStart(program, directory).map((path) => watchFile(path, inTurn));
    return () => {
      over.abort();
      for (const watch of watches) watch.close();
    };
  }
  async #words(program: ControlPlaneProgram): Promise<string[]> {
    const { signal } = this.#stopping;
    if (program === 'etcd') {
      const membership = await membershipOf(this.#config, { ...this.#deps, signal });
      return ['etcd', ...etcdWords(this.#config, membership)];
    }
    const port = after(program, this.#config);
    while (port !== undefined && !(await accepts({ host: loopback, port }))) await this.#deps.clock.sleep(acceptPollMs, signal);
    return [...this.#config.program, ...componentWords(this.#config, program)];
  }
}

const lastLine = (ended: ManagedProcess): string => ended.lastWords().split('\n').at(-1) ?? '';
