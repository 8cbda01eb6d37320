// `sagong envtest-assets`: the layout of setup-envtest (sigs.k8s.io/controller-runtime/tools/setup-envtest), with programs that are this one. What
// envtest starts from there is a whole kube-apiserver on an etcd of ours, and nothing is downloaded.
import { accessSync, constants, existsSync } from 'node:fs';
import { chmod, rm, symlink, writeFile } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
import { flagHelp, gitVersion } from '#component-base';
import { ensureDir } from '#host';
import { programOf } from '../process/program.ts';
import { etcdFlags } from './etcd-flags.ts';
import { say } from '../process/say.ts';

/** Go's names of what Node calls otherwise. */
const architectures: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386', ppc64: 'ppc64le' };

/** A word that a shell reads as it is written. */
export const shellWord = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** The name of the folder, as setup-envtest has it: `1.36.2-linux-amd64`. */
export const assetsFolder = (version: string, platform: string, arch: string): string => {
  const [release = ''] = version.replace(/^v/, '').split('+');
  return `${release}-${platform}-${architectures[arch] ?? arch}`;
};

/** envtest asks etcd for its flags before each start: the text is here already, and saves it a start of the program. */
const helpText = (): string => `if [ "$#" = 1 ] && [ "$1" = --help ]; then\n  exec cat << 'END'\n${flagHelp(etcdFlags)}END\nfi\n`;

const script = (program: readonly string[], component: string): string =>
  `#!/bin/sh
# Written by: sagong envtest-assets
${component === 'etcd' ? helpText() : ''}exec ${[...program, component].map(shellWord).join(' ')} "$@"
`;

const noKubectl = `#!/bin/sh
echo 'kubectl: not on the PATH of this machine; install it and run sagong envtest-assets again' >&2
exit 1
`;

function onPath(name: string, path: string): string | undefined {
  for (const folder of path.split(delimiter)) {
    const file = resolve(folder, name);
    if (!existsSync(file)) continue;
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // Another one may be further down.
    }
  }
  return undefined;
}

async function writeProgram(file: string, text: string): Promise<void> {
  await rm(file, { force: true });
  await writeFile(file, text);
  await chmod(file, 0o755);
}

/** Answers the folder that KUBEBUILDER_ASSETS names. */
export async function writeEnvtestAssets(
  dir: string,
  program: readonly string[],
  path = process.env['PATH'] ?? '',
): Promise<string> {
  if (process.platform === 'win32') throw new Error('envtest-assets writes shell scripts, which envtest cannot start on Windows');
  const folder = join(resolve(dir), 'k8s', assetsFolder(gitVersion, process.platform, process.arch));
  await ensureDir(folder, 0o755);
  for (const component of ['kube-apiserver', 'etcd']) await writeProgram(join(folder, component), script(program, component));
  const file = join(folder, 'kubectl');
  const kubectl = onPath('kubectl', path);
  if (kubectl === undefined || kubectl === file) await writeProgram(file, noKubectl);
  else {
    await rm(file, { force: true });
    await symlink(kubectl, file);
  }
  return folder;
}

export async function runEnvtestAssets(dir: string): Promise<void> {
  const [command = process.execPath, ...args] = programOf();
  say(await writeEnvtestAssets(dir, [command, ...args.map((word) => (existsSync(word) ? resolve(word) : word))]));
}
