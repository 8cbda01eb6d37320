// Images that Docker or Podman have, as archives: for `sagong load-image NAME`.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Exec } from '#utils';

export const imagePrograms = ['docker', 'podman'] as const;
export type ImageProgram = (typeof imagePrograms)[number];

const saveTimeoutMs = 600_000;

/** What each of them calls an archive of its own images. */
const saveArguments: Record<ImageProgram, (file: string) => string[]> = {
  docker: (file) => ['save', '--output', file],
  podman: (file) => ['save', '--quiet', '--format', 'docker-archive', '--output', file],
};

const isInstalled = (exec: Exec, program: ImageProgram): Promise<boolean> =>
  exec(program, ['--version'], { timeoutMs: 10_000 }).then(
    ({ code }) => code === 0,
    () => false,
  );

/** Calls `use` with an archive of the image, which is removed afterwards. Rejects with a sentence when nobody has the image. */
export async function withLocalImage<T>(
  image: string,
  { exec, from }: { exec: Exec; from?: ImageProgram | undefined },
  use: (archive: string) => Promise<T>,
): Promise<T> {
  if (image.startsWith('-')) throw new Error(`${JSON.stringify(image)} is no name of an image`);
  const asked = from ? [from] : imagePrograms;
  const refusals: string[] = [];
  const dir = await mkdtemp(join(tmpdir(), 'sagong-image-'));
  try {
    const archive = join(dir, 'image.tar');
    for (const program of asked) {
      if (!(await isInstalled(exec, program))) {
        refusals.push(`${program} is not installed`);
        continue;
      }
      const { code, stderr } = await exec(program, [...saveArguments[program](archive), image], { timeoutMs: saveTimeoutMs });
      if (code === 0) return await use(archive);
      refusals.push(`${program}: ${stderr.trim().split('\n').at(-1) || `exit code ${code}`}`);
    }
    throw new Error(`${image} is neither a file nor an image that can be found (${refusals.join('; ')})`);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
