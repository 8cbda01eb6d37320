// `sagong load-image`.
import { existsSync } from 'node:fs';
import { createProgress, dataDirOf, type ImageProgram, loadImage, withLocalImage } from '#cluster';
import { execCommand, systemClock } from '#host';

interface Flags {
  name: string;
  dataDir?: string;
  from?: ImageProgram;
}

/** What a file is called, rather than an image that Docker or Podman has. */
const isFile = (text: string): boolean => existsSync(text) || /\.(tar|tar\.gz|tgz)$/.test(text);

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
