// What of the machine a node has to see so that this program runs there, wherever it is installed: as a package of the machine, below a user's home, in a
// project's node_modules, or in a checkout.
import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';

const modules = '/node_modules';

/** The folder that a program needs: `<prefix>/bin/node` needs its whole prefix, any other program its own folder. */
const prefixOf = (path: string): string => (basename(dirname(path)) === 'bin' ? dirname(dirname(path)) : dirname(path));

/** The folder that a script and all that it loads is in. */
function packageOf(path: string): string {
  const at = path.indexOf(`${modules}/`);
  if (at >= 0) return path.slice(0, at + modules.length);
  for (let dir = dirname(path); dir !== dirname(dir); dir = dirname(dir)) if (existsSync(join(dir, 'package.json'))) return dir;
  return dirname(path);
}

/** A program with every link of its paths resolved, and the folders that it is in. */
export function programFolders(program: readonly string[]): { command: string[]; shows: string[] } {
  const command = program.map((word) => (isAbsolute(word) && existsSync(word) ? realpathSync(word) : word));
  const [executable = '', ...scripts] = command.filter((word, at) => at === 0 || (isAbsolute(word) && existsSync(word)));
  return { command, shows: [...new Set([prefixOf(executable), ...scripts.map(packageOf)])] };
}
