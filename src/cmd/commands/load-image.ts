// `sagong load-image`.
import { statSync } from 'node:fs';
import { createProgress, dataDirOf, type ImageProgram, loadImage, withLocalImage } from '#cluster';
import { execCommand, systemClock } from '#host';

interface Flags {
  name: string;
  dataDir?: string;
  from?: ImageProgram;
}

/** Whether it is what a file is called, rather than an image that Docker or Podman has. The image `app` is often made in a folder of its name. */
export function isFile(text: string): boolean {
  const found = statSync(text, { throwIfNoEntry: false });
  const isPath = /^\.{0,2}\//.test(text) || /\.(tar|tar\.gz|tgz)$/.test(text);
  return isPath || (found !== undefined && !found.isDirectory());
}

export async function runLoadImage(given: readonly string[], { name, dataDir, from }: Flags): Promise<void> {
  const dir = dataDirOf(name, dataDir);
  const progress = createProgress(process.stdout, systemClock());
  for (const one of given) {
    const load = (archive: string): Promise<string[]> => loadImage(dir, archive);
    const source = { exec: execCommand, from };
    const without = await progress.step(one, () =>
      from === undefined && isFile(one) ? load(one) : withLocalImage(one, source, load),
    );
    if (without.length > 0) progress.say(`   not on ${without.join(', ')}: stopped`);
  }
}
