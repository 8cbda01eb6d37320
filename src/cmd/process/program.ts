// How this program was started, and the files that come with it.
import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Executable and first arguments that run this same program again. */
export const programOf = (): string[] => [process.execPath, ...process.execArgv, process.argv[1] ?? ''];

/** The package's own folder: sources, build and bundle lie at different depths below it. */
function packageRoot(): string {
  for (let dir = dirname(fileURLToPath(import.meta.url)); dir !== dirname(dir); dir = dirname(dir)) {
    const path = join(dir, 'package.json');
    if (existsSync(path) && (JSON.parse(readFileSync(path, 'utf8')) as { name?: string }).name === 'sagong') return dir;
  }
  throw new Error('the files of the sagong package are not where they should be; install it again');
}

export const packageFile = (path: string): string => join(packageRoot(), path);

/** The descriptions of fields for OpenAPI, where the build has made them. */
export const descriptions = (): Promise<string | undefined> =>
  readFile(packageFile('dist/openapi-descriptions.json'), 'utf8').catch(() => undefined);
