// A real cluster for tests: started with the built binary as a user would, in a folder of its own, and removed whatever happens.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildBusyboxImage } from '#cluster/images';
import { clusterMark } from '#cluster';

const root = resolve(fileURLToPath(import.meta.url), '..', '..', '..', '..');
/** The binary under test: the checkout's own, unless another build is named. */
export const binary = process.env['SAGONG_BINARY'] ?? join(root, 'bin', 'sagong.mjs');

export interface Output {
  code: number;
  stdout: string;
  stderr: string;
}

export function run(
  command: string,
  args: readonly string[],
  { input, env, timeoutMs = 60_000 }: { input?: string; env?: Record<string, string>; timeoutMs?: number } = {},
): Promise<Output> {
  return new Promise((done) => {
    const child = execFile(
      command,
      args,
      { timeout: timeoutMs, maxBuffer: 64 << 20, env: { ...process.env, ...env } },
      (error, stdout, stderr) => {
        const code = error ? (typeof error.code === 'number' ? error.code : 1) : 0;
        done({ code, stdout, stderr });
      },
    );
    // A program that ends without reading says why by its exit code.
    child.stdin?.on('error', () => {});
    child.stdin?.end(input ?? '');
  });
}

export class TestCluster {
  readonly home: string;
  readonly dataDir: string;
  /** Of nodes by name: found once, as an instance keeps its own. */
  readonly #netns = new Map<string, string>();
  /** The binary of its package. */
  readonly #program: string;
  constructor(home: string, program = binary) {
    this.home = home;
    this.dataDir = join(home, 'cluster');
    this.#program = program;
  }
  /** `packed`: as an installed package with a folder of its own, which a test replaces; default: the binary under test. */
  static async create(packed?: (home: string) => Promise<string>): Promise<TestCluster> {
    const home = await mkdtemp(join(tmpdir(), 'sagong-e2e-'));
    return new TestCluster(home, await packed?.(home));
  }
  get env(): Record<string, string> {
    return { HOME: this.home, KUBECONFIG: join(this.home, 'config'), KUBECACHEDIR: join(this.home, 'kubecache') };
  }
  sagong(...args: string[]): Promise<Output> {
    const words = args[0] === 'node' ? 2 : 1;
    const [command, rest] = [args.slice(0, words), args.slice(words)];
    return run(process.execPath, [this.#program, ...command, '--data-dir', this.dataDir, ...rest], {
      env: this.env,
      timeoutMs: 110_000,
    });
  }
  /** A command of several words about this cluster, or with `named` false one that asks for none. */
  run(command: readonly string[], args: readonly string[], named = true): Promise<Output> {
    const where = named ? ['--data-dir', this.dataDir] : [];
    return run(process.execPath, [this.#program, ...command, ...where, ...args], { env: this.env, timeoutMs: 110_000 });
  }
  async up(...args: string[]): Promise<Output> {
    const output = await this.sagong('up', '--detach', ...args);
    if (output.code !== 0) throw new Error(`sagong up failed:\n${output.stdout}${output.stderr}\n${await this.logs()}`);
    return output;
  }
  /** kubectl with the context that `up` has set; gives its output or throws with all it said. */
  async kubectl(...args: string[]): Promise<string> {
    const output = await this.tryKubectl(...args);
    if (output.code !== 0)
      throw new Error(`kubectl ${args.join(' ')}: exit code ${output.code}\n${output.stdout}${output.stderr}`);
    return output.stdout;
  }
  tryKubectl(...args: string[]): Promise<Output> {
    return run('kubectl', args, { env: this.env });
  }
  kubectlWithInput(input: string, ...args: string[]): Promise<Output> {
    return run('kubectl', args, { env: this.env, input });
  }
  /** Applies objects as YAML text; throws with all kubectl said. */
  async apply(yaml: string): Promise<void> {
    const output = await this.kubectlWithInput(yaml, 'apply', '-f', '-');
    if (output.code !== 0) throw new Error(`kubectl apply: ${output.stdout}${output.stderr}`);
  }
  /** An image with a shell, a web server and wget, on every node. */
  async loadBusybox(reference: string): Promise<void> {
    const path = join(this.home, 'busybox.tar');
    await writeFile(path, await buildBusyboxImage({ busyboxPath: '/bin/busybox', reference }));
    const output = await this.sagong('load-image', path);
    if (output.code !== 0) throw new Error(output.stderr);
  }
  /** The cluster's mark on the machine. */
  get mark(): string {
    return clusterMark(this.dataDir);
  }
  /** The network namespace in the nodes' network that is no node's: the control plane's, at 10.77.0.10. */
  async lanNetns(): Promise<string> {
    const { stdout } = await run('ip', ['netns', 'list']);
    const name = new RegExp(`^sagong-${this.mark}-eni-\\w+`, 'm').exec(stdout)?.[0];
    if (!name) throw new Error(`the control plane has no interface among the nodes: ${stdout}`);
    return `--net=/run/netns/${name}`;
  }
  /** That of a node: its instance's. */
  async nodeNetns(node: string): Promise<string> {
    let path = this.#netns.get(node) ?? '';
    if (!existsSync(path)) {
      const { stdout, stderr } = await this.sagong('node', 'list');
      const id = new RegExp(`^${node} +i-(\\w+)`, 'm').exec(stdout)?.[1];
      if (!id) throw new Error(`${node} has no instance: ${stdout}${stderr}`);
      path = `/run/netns/sagong-${this.mark}-i-${id}`;
      this.#netns.set(node, path);
    }
    return `--net=${path}`;
  }
  /** A program in the nodes' network, outside of the nodes. */
  async inLan(...words: string[]): Promise<Output> {
    return run('nsenter', [await this.lanNetns(), ...words]);
  }
  /** A program in the network of the node with that number, from 1. */
  async inNode(node: number, ...words: string[]): Promise<Output> {
    return run('nsenter', [await this.nodeNetns(`node-${node}`), ...words]);
  }
  /** JavaScript that goes on running in the nodes' network, once it has said something; kill it when done. */
  async startInLan(source: string, ...args: string[]): Promise<ChildProcess> {
    const child = spawn('nsenter', [await this.lanNetns(), process.execPath, '-e', source, ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await Promise.race([
      once(child.stdout, 'data'),
      once(child, 'exit').then(([code]) => Promise.reject(new Error(`it ended with exit code ${String(code)}`))),
    ]);
    return child;
  }
  /** A kubectl that goes on running, e.g. port-forward or logs -f. */
  kubectlInBackground(...args: string[]) {
    return spawn('kubectl', args, { env: { ...process.env, ...this.env }, stdio: ['ignore', 'pipe', 'pipe'] });
  }
  async json<T>(...args: string[]): Promise<T> {
    return JSON.parse(await this.kubectl(...args, '-o', 'json')) as T;
  }
  /** Process ids whose command line carries the data directory. */
  async processes(): Promise<number[]> {
    const found: number[] = [];
    for (const entry of await readdir('/proc')) {
      if (!/^\d+$/.test(entry)) continue;
      const words = (await readFile(`/proc/${entry}/cmdline`, 'utf8').catch(() => '')).split('\0');
      if (Number(entry) !== process.pid && words.some((word) => word.includes(this.dataDir))) found.push(Number(entry));
    }
    return found;
  }
  /** The binary in the network of a node; throws when it fails. */
  async sagongInNode(node: number, ...words: string[]): Promise<void> {
    const output = await this.inNode(node, process.execPath, this.#program, ...words);
    if (output.code !== 0) throw new Error(`sagong ${words.join(' ')}: ${output.stdout}${output.stderr}`);
  }
  /** The process of a node's kubelet and kube-proxy. */
  async agentPid(node: string): Promise<number> {
    const [pid] = await this.agentPids(node);
    if (pid === undefined) throw new Error(`node ${node} has no agent`);
    return pid;
  }
  /** Those of a node, or of all; `program`: what runs, or stands in front of what runs. */
  async agentPids(node = '', program = process.execPath): Promise<number[]> {
    const config = new RegExp(`/nodes/${node || '[^/]+'}/agent.json$`);
    return this.#processesOf((words) => words[0] === program && words.some((word) => config.test(word)));
  }
  /** The process of the cloud; 0: there is none. */
  async cloudPid(): Promise<number> {
    return (await this.#processesOf((words) => words.includes('cluster-cloud')))[0] ?? 0;
  }
  async #processesOf(matches: (words: string[]) => boolean): Promise<number[]> {
    const found: number[] = [];
    for (const pid of await this.processes())
      if (matches((await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0'))) found.push(pid);
    return found.sort((a, b) => a - b);
  }
  /** The process of `sagong up`. */
  async pid(): Promise<number> {
    return (JSON.parse(await readFile(join(this.dataDir, 'run.json'), 'utf8')) as { pid: number }).pid;
  }
  async logs(): Promise<string> {
    const parts: string[] = [];
    for (const file of ['logs/up.log', 'logs/sagong.log', 'nodes/node-1/logs/agent.log', 'nodes/node-2/logs/agent.log']) {
      const path = join(this.dataDir, file);
      if (existsSync(path)) parts.push(`== ${file}\n${(await readFile(path, 'utf8')).slice(-4_000)}`);
    }
    return parts.join('\n');
  }
  /** Ends and removes everything; never throws, but tells what could not be removed. */
  async destroy(): Promise<void> {
    const { code, stdout, stderr } = await this.sagong('down');
    if (code !== 0) console.error(`sagong down: exit code ${code}\n${stdout}${stderr}`);
    await rm(this.home, { recursive: true, force: true }).catch((error: unknown) => console.error(String(error)));
  }
}

/** Calls `attempt` until it gives something truthy; throws the last failure at the deadline. */
export async function eventually<T>(what: string, attempt: () => Promise<T | undefined | false>, timeoutMs = 60_000): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  let last: unknown = 'nothing yet';
  for (;;) {
    try {
      const result = await attempt();
      if (result) return result;
    } catch (error) {
      last = error;
    }
    if (performance.now() > deadline) throw new Error(`${what}: not within ${timeoutMs / 1000} s; last: ${String(last)}`);
    await new Promise((next) => setTimeout(next, 200));
  }
}
