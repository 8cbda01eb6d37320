// A real cluster for tests: started with the built binary as a user would, in a folder of its own, and removed whatever happens.
import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(fileURLToPath(import.meta.url), '..', '..', '..', '..');
export const binary = join(root, 'bin', 'sagong.mjs');

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
    child.stdin?.end(input ?? '');
  });
}

export class TestCluster {
  readonly home: string;
  readonly dataDir: string;
  constructor(home: string) {
    this.home = home;
    this.dataDir = join(home, 'cluster');
  }
  static async create(): Promise<TestCluster> {
    return new TestCluster(await mkdtemp(join(tmpdir(), 'sagong-e2e-')));
  }
  get env(): Record<string, string> {
    return { HOME: this.home, KUBECONFIG: join(this.home, 'config'), KUBECACHEDIR: join(this.home, 'kubecache') };
  }
  sagong(...args: string[]): Promise<Output> {
    const [command = '', ...rest] = args;
    return run(process.execPath, [binary, command, '--data-dir', this.dataDir, ...rest], { env: this.env, timeoutMs: 110_000 });
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
  /** Ends and removes everything; never throws. */
  async destroy(): Promise<void> {
    await this.sagong('down');
    await rm(this.home, { recursive: true, force: true });
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
