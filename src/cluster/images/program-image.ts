// An image of this very program, so that its components run as pods: Node as it runs here with its shared libraries, the bundle, and on request
// providers of clouds with their packages. No registry, no base image, no shell.
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { cachedDataVersionTag } from 'node:v8';
import { goArchitecture } from '#host';
import { machinePrograms } from './machine-programs.ts';
import { buildImage } from './oci-image.ts';
import { packageFiles } from './package-files.ts';
import type { TarEntry } from './ustar.ts';

export interface ProgramImageOptions {
  /** Full name with tag. */
  reference: string;
  /** The installed package `sagong`, with `bin/sagong.mjs` and `dist/sagong.cjs`. */
  packageRoot: string;
  /** npm packages of cloud providers to take along, by name, found from `packageRoot` or the working directory. */
  providers?: readonly string[];
  /** Programs of this machine to take along. */
  programs?: readonly string[];
  /** Components that are programs of their own name there. */
  components?: readonly string[];
  /** Who runs it; default: nobody in particular, who owns nothing. */
  user?: 'nonroot' | 'root';
  /** Default: true. What never leaves the machine is read sooner as it is. */
  compressed?: boolean;
}

/** `nonroot`, as in images without a distribution. */
const users = { nonroot: '65532:65532', root: '0:0' };
const homes = { nonroot: '/home/nonroot', root: '/root' };
const modules = 'usr/lib/node_modules';
/** Loaded by glibc when a name is looked up, and so in no list of what is loaded now. */
const lookupLibraries = ['libnss_files.so.2', 'libnss_dns.so.2', 'libresolv.so.2'];

const relative = (path: string): string => path.replace(/^\/+/, '');
const file = (name: string, content: Uint8Array | string, mode = 0o644): TarEntry => ({
  name,
  mode,
  content: Buffer.from(content),
});

/** The libraries that this process has loaded, with the loader itself. A statically linked Node has none. */
function sharedLibraries(): string[] {
  const report = process.report.getReport() as unknown as { sharedObjects?: string[] };
  const loaded = (report.sharedObjects ?? []).filter(
    (path) => path.startsWith('/') && !path.endsWith('.node') && existsSync(path),
  );
  const libc = loaded.find((path) => /^libc[.-]/.test(basename(path)));
  const beside = libc === undefined ? [] : lookupLibraries.map((name) => join(dirname(libc), name)).filter(existsSync);
  return [...new Set([...loaded, ...beside])].filter((path) => path !== process.execPath);
}

function nodeFiles(): TarEntry[] {
  return [
    file('usr/bin/node', readFileSync(realpathSync(process.execPath)), 0o755),
    ...sharedLibraries().map((path) => file(relative(path), readFileSync(path), 0o755)),
  ];
}

const systemFiles: readonly TarEntry[] = [
  file('etc/passwd', 'root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n'),
  file('etc/group', 'root:x:0:\nnonroot:x:65532:\n'),
  file('etc/nsswitch.conf', 'hosts: files dns\n'),
  { name: 'home/nonroot/', mode: 0o755, uid: 65_532, gid: 65_532 },
  { name: 'root/', mode: 0o700 },
  { name: 'tmp/', mode: 0o1777 },
];

/** The program by a name of its own, with the words that this name stands for. */
function namedFile(path: string, words: readonly string[]): TarEntry {
  const program = `/${modules}/sagong/bin/sagong.mjs`;
  const argv = [program, ...words].map((word) => `'${word}'`).join(', ');
  return file(path, `#!/usr/bin/node\nprocess.argv.splice(1, 1, ${argv});\nimport('${program}');\n`, 0o755);
}

/** A component by its own name: `kube-proxy --help` is `sagong kube-proxy --help`. */
const componentFile = (name: string): TarEntry => namedFile(`usr/local/bin/${name}`, [name]);

/** What bin/sagong.mjs keeps beside the bundle, where it has. In an image all files are of the beginning of time, as its name there says. */
function compiled(packageRoot: string): TarEntry[] {
  const bundle = 'dist/sagong.cjs';
  const { mtimeMs, size } = statSync(join(packageRoot, bundle));
  const version = `${bundle}.${process.version}-${cachedDataVersionTag()}`;
  const path = join(packageRoot, `${version}-${Math.round(mtimeMs)}-${size}.up.cache`);
  return existsSync(path) ? [file(`${modules}/sagong/${version}-0-${size}.up.cache`, readFileSync(path))] : [];
}

/** The bundle alone; with providers also what they import of this package. */
function programFiles(packageRoot: string, whole: boolean): TarEntry[] {
  const names = ['package.json', 'bin/sagong.mjs', 'dist/sagong.cjs'];
  const missing = names.find((name) => !existsSync(join(packageRoot, name)));
  if (missing) throw new Error(`${join(packageRoot, missing)} is not there; build sagong first: npm run build`);
  if (!whole)
    return [
      ...names.map((name) => file(`${modules}/sagong/${name}`, readFileSync(join(packageRoot, name)))),
      ...compiled(packageRoot),
    ];
  return packageFiles('sagong', { from: packageRoot, root: packageRoot, target: modules, without: [] });
}

/** The archive. Throws when the program is not built, or something that is to be taken along is not there. */
export function buildProgramImage({
  reference,
  packageRoot,
  providers = [],
  programs = [],
  components = [],
  user = 'nonroot',
  compressed = true,
}: ProgramImageOptions): Buffer {
  const found = providers.flatMap((name) => packageFiles(name, { from: packageRoot, target: modules, without: ['sagong'] }));
  const files = [
    ...systemFiles,
    ...machinePrograms(programs),
    ...nodeFiles(),
    ...programFiles(packageRoot, providers.length > 0),
    namedFile('usr/bin/sagong', []),
    ...components.map(componentFile),
    ...found,
  ];
  const once = new Map(files.map((entry) => [entry.name, entry]));
  const path = programs.length + components.length > 0 ? '/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' : '/usr/bin';
  return buildImage({
    reference,
    architecture: goArchitecture(),
    files: [...once.values()],
    compressed,
    config: {
      Entrypoint: ['/usr/bin/node', `/${modules}/sagong/bin/sagong.mjs`],
      Env: [`PATH=${path}`, `HOME=${homes[user]}`, 'NODE_ENV=production'],
      User: users[user],
      WorkingDir: homes[user],
    },
  });
}
