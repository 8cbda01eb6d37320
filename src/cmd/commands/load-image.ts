// `sagong load-image`.
import { createProgress, dataDirOf, loadImage } from '#cluster';

export async function runLoadImage(archives: readonly string[], flags: { name: string; dataDir?: string }): Promise<void> {
  const progress = createProgress(process.stdout);
  for (const archive of archives) await progress.step(archive, () => loadImage(dataDirOf(flags.name, flags.dataDir), archive));
}
