// The image of the cluster's own programs, where they run as pods: made on this machine out of what runs here, and kept in the data directory until
// the program, Node or one of the machine's programs in it is another one.
import { realpathSync, statSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { atomicWrite, readFileIfExists } from '#host';
import { findProgram } from '../capabilities.ts';
import { buildProgramImage } from '../images/index.ts';
import { systemImage } from './names.ts';
import { systemImagePath } from '../state/paths.ts';

/** What kube-proxy changes packet rules with, and the store with its own client. */
const programs = [...['iptables', 'iptables-restore', 'iptables-save', 'nft', 'conntrack'], ...['etcd', 'etcdctl']];
const components = [
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'cloud-controller-manager',
  'kube-proxy',
  'coredns',
];

/** The package of the program that is this one: `<package>/bin/sagong.mjs`. */
const packageRootOf = (program: readonly string[]): string => dirname(dirname(realpathSync(program.at(-1) ?? '')));

/** What the image is made of, as text: another text is another image. */
function recipeOf(packageRoot: string): string {
  const stamp = (path: string): string => {
    const { mtimeMs, size } = statSync(path);
    return `${path} ${mtimeMs} ${size}`;
  };
  const found = programs.flatMap((name) => findProgram(name) ?? []).map((path) => realpathSync(path));
  const own = [process.execPath, join(packageRoot, 'dist', 'sagong.cjs'), join(packageRoot, 'bin', 'sagong.mjs')];
  return JSON.stringify([systemImage, components, ...[...own, ...found].map(stamp)]);
}

/** Makes the archive where it is not there yet. Throws a sentence for what it needs and cannot be had. */
export async function ensureSystemImage(dataDir: string, program: readonly string[]): Promise<void> {
  const path = systemImagePath(dataDir);
  const packageRoot = packageRootOf(program);
  const recipe = recipeOf(packageRoot);
  const known = (await readFileIfExists(`${path}.json`))?.toString('utf8');
  if (known === recipe && (await fileExists(path))) return;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const options = { reference: systemImage, packageRoot, programs, components, user: 'root', compressed: false } as const;
  await atomicWrite(path, buildProgramImage(options), { mode: 0o600 });
  await atomicWrite(`${path}.json`, recipe, { mode: 0o600 });
}

async function fileExists(path: string): Promise<boolean> {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
