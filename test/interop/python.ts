// A Python with packages of PyPI, for clients of vendors that are not ours.
import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The interpreter, with these packages (`name==version`) installed into a folder of their own when need be; undefined where that is not possible. */
export async function pythonWith(...packages: readonly string[]): Promise<string | undefined> {
  const home = join(tmpdir(), `sagong-${packages.join('-').replaceAll('==', '-')}`);
  const python = join(home, 'bin', 'python');
  if (existsSync(python)) return python;
  if (spawnSync('python3', ['-m', 'venv', '--help']).status !== 0) return undefined;
  const draft = await mkdtemp(`${home}-`);
  try {
    await run('python3', ['-m', 'venv', draft]);
    await run(join(draft, 'bin', 'python'), ['-m', 'pip', 'install', '-q', ...packages]);
    // Whoever is first wins; the other's is as good.
    await rename(draft, home).catch(() => {});
    return existsSync(python) ? python : undefined;
  } catch {
    return undefined;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}
