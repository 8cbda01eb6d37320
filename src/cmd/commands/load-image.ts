// `sagong load-image`.
import { createProgress, dataDirOf, loadImage } from '#cluster';

export async function runLoadImage(archives: readonly string[], flags: { name: string; dataDir?: string }): Promise<void> {
  const progress = createProgress(process.stdout);
  for (const archive of archives) {
    const without = await progress.step(archive, () => loadImage(dataDirOf(flags.name, flags.dataDir), archive));
    if (without.length > 0) progress.say(`   not on ${without.join(', ')}: stopped`);
  }
}
