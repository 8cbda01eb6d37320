// Images of CSI's driver and sidecars, made of their programs and busybox: their own images cannot be pulled here.
import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { arch } from 'node:os';
import { basename } from 'node:path';
import { buildImage } from '#cluster/images';

const busybox = '/bin/busybox';
const folders = ['bin/', 'dev/', 'etc/', 'proc/', 'sys/', 'var/', 'csi/', 'csi-data-dir/'];

/** An image whose entry is `program`, with the programs of busybox beside it. */
export async function programImage(reference: string, program: string): Promise<Buffer> {
  const name = basename(program);
  const applets = execFileSync(busybox, ['--list'], { encoding: 'utf8' }).trim().split('\n');
  return buildImage({
    reference,
    architecture: arch() === 'x64' ? 'amd64' : arch(),
    files: [
      ...folders.map((folder) => ({ name: folder, mode: 0o755 })),
      { name: 'tmp/', mode: 0o1777 },
      { name: 'bin/busybox', mode: 0o755, content: await readFile(busybox) },
      ...applets
        .filter((applet) => applet !== 'busybox')
        .map((applet) => ({ name: `bin/${applet}`, mode: 0o777, linkTo: 'busybox' })),
      { name, mode: 0o755, content: await readFile(program) },
    ],
    config: { Entrypoint: [`/${name}`], Env: ['PATH=/bin'] },
  });
}
