// This machine as somebody sits at it: a home of their own, and `sagong` is a command.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { binary, run } from './harness.ts';

export class Computer {
  readonly home: string;
  private constructor(home: string) {
    this.home = home;
  }
  static async create(): Promise<Computer> {
    const home = await mkdtemp(join(tmpdir(), 'sagong-page-'));
    await writeFile(join(home, 'sagong'), `#!/bin/sh\nexec ${process.execPath} ${binary} "$@"\n`, { mode: 0o755 });
    return new Computer(home);
  }
  /** At home. Throws with all that was said when it fails. */
  async type(command: string): Promise<string> {
    const env = { HOME: this.home, KUBECONFIG: join(this.home, '.kube', 'config'), PATH: `${this.home}:${process.env['PATH']}` };
    const { code, stdout, stderr } = await run('sh', ['-c', `cd; ${command}`], { env, timeoutMs: 240_000 });
    if (code !== 0) throw new Error(`${command}\nexit code ${code}\n${stdout}${stderr}`);
    return stdout;
  }
  /** The default cluster goes, and the home with it. */
  async destroy(): Promise<void> {
    await this.type('sagong down');
    await rm(this.home, { recursive: true });
  }
}
