// `sagong build-image`: this program as an image, for components that run as pods.
import { dirname } from 'node:path';
import { vendorPackages } from '#cloud-provider';
import { buildProgramImage, createProgress } from '#cluster';
import { sagongVersion } from '#component-base';
import { replaceFile, systemClock } from '#host';
import { packageFile } from '../process/program.ts';

export async function runBuildImage(flags: { output: string; tag?: string; provider?: string[] }): Promise<void> {
  const { output, tag = `sagong.local/sagong:${sagongVersion}`, provider = [] } = flags;
  const providers = provider.map((name) => vendorPackages[name] ?? name);
  const packageRoot = dirname(packageFile('package.json'));
  const progress = createProgress(process.stdout, systemClock());
  await progress.step(`image ${tag} in ${output}`, async () =>
    replaceFile(output, buildProgramImage({ reference: tag, packageRoot, providers }), { mode: 0o644 }),
  );
}
