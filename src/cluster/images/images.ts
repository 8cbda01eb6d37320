// Images made on this machine, so that a first pod needs no registry: the pause image and a busybox image from the distribution's static
// busybox.
import { readFile } from 'node:fs/promises';
import { execCommand, goArchitecture, pauseProgram } from '#host';
import type { Exec } from '#utils';
import { buildImage, type ImageDefinition } from './oci-image.ts';
import type { TarEntry } from './ustar.ts';

export const pauseImageReference = 'registry.k8s.io/pause:3.10.1';
export const busyboxImageReference = 'docker.io/library/busybox:latest';

/** Nobody's user id, as upstream's pause image has it. */
const nobody = '65535:65535';

export const buildPauseImage = (reference = pauseImageReference): Buffer =>
  buildImage({
    reference,
    architecture: goArchitecture(),
    files: [{ name: 'pause', mode: 0o755, content: pauseProgram(goArchitecture()) }],
    config: { Entrypoint: ['/pause'], User: nobody, Env: ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'] },
  });

export interface BusyboxImageOptions {
  /** A statically linked busybox. */
  busyboxPath: string;
  reference?: string;
  exec?: Exec;
  /** Further files of the root file system. */
  files?: readonly TarEntry[];
  /** What it runs; default: a shell. */
  config?: ImageDefinition['config'];
  /** Default: true. */
  compressed?: boolean;
}

const directories = ['bin/', 'dev/', 'etc/', 'home/', 'proc/', 'root/', 'sys/', 'usr/', 'usr/bin/', 'var/'];

/** Rejects when the program cannot be read or run. */
export async function buildBusyboxImage({
  busyboxPath,
  reference,
  exec = execCommand,
  files = [],
  config = { Cmd: ['sh'] },
  compressed = true,
}: BusyboxImageOptions): Promise<Buffer> {
  const program = await readFile(busyboxPath);
  const { code, stdout } = await exec(busyboxPath, ['--list'], { timeoutMs: 10_000 });
  if (code !== 0) throw new Error(`${busyboxPath} --list failed with exit code ${code}`);
  const applets = stdout.split('\n').filter((name) => name !== '' && name !== 'busybox');
  const text = (name: string, content: string): TarEntry => ({ name, mode: 0o644, content: Buffer.from(content) });
  return buildImage({
    reference: reference ?? busyboxImageReference,
    architecture: goArchitecture(),
    compressed,
    files: [
      ...directories.map((name) => ({ name, mode: 0o755 })),
      { name: 'tmp/', mode: 0o1777 },
      { name: 'bin/busybox', mode: 0o755, content: program },
      ...applets.map((name) => ({ name: `bin/${name}`, mode: 0o777, linkTo: 'busybox' })),
      text('etc/passwd', 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/home:/bin/false\n'),
      text('etc/group', 'root:x:0:\nnobody:x:65534:\n'),
      ...files,
    ],
    config: { Env: ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'], ...config },
  });
}

export interface ImportTarget {
  /** Path of containerd's socket. */
  socket: string;
  /** The `ctr` program; default: found in PATH. */
  ctr?: string;
  exec?: Exec;
}

/** The longest words of `ctr` that are handed on: an archive chooses what it calls its images. */
const toldCharsMax = 2_000;

async function imported(
  { socket, ctr = 'ctr', exec = execCommand }: ImportTarget,
  path: string,
  input?: Uint8Array,
): Promise<void> {
  const { code, stderr } = await exec(ctr, ['--address', socket, '--namespace', 'k8s.io', 'images', 'import', path], {
    timeoutMs: 120_000,
    ...(input && { input }),
  });
  const said = stderr.trim();
  const told = said.length > toldCharsMax ? `${said.slice(0, toldCharsMax)}...` : said;
  if (code !== 0) throw new Error(`image import failed: ${told}`);
}

/** Loads the archive in a file into containerd, where the kubelet finds it. Rejects with what `ctr` said. */
export const importArchive = (target: ImportTarget, path: string): Promise<void> => imported(target, path);

/** Imports an image from an archive in memory. No file is made of it: whatever ends this process leaves none behind. */
export const importImage = (target: ImportTarget, archive: Uint8Array): Promise<void> => imported(target, '-', archive);
