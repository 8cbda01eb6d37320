// Upstream's programs, built from their Go modules (go/go.mod pins them): the suite, its runner, and what its images hold.
import { access, copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run, step } from './process.mjs';

const goFolder = fileURLToPath(new URL('./go/', import.meta.url));
const flags = (version) => {
  const [major, minor] = version.slice(1).split('.');
  const at = 'k8s.io/component-base/version';
  return `-s -w -X ${at}.gitVersion=${version} -X ${at}.gitMajor=${major} -X ${at}.gitMinor=${minor}`;
};

/** Package by program. `e2e.test` is a test binary and is built in another way. */
const programs = {
  ginkgo: 'github.com/onsi/ginkgo/v2/ginkgo',
  kubectl: 'k8s.io/kubernetes/cmd/kubectl',
  agnhost: 'k8s.io/kubernetes/test/images/agnhost',
  consumer: 'k8s.io/kubernetes/test/images/resource-consumer',
  'consume-cpu': 'k8s.io/kubernetes/test/images/resource-consumer/consume-cpu',
  'sample-apiserver': 'k8s.io/sample-apiserver',
  etcd: 'go.etcd.io/etcd/server/v3',
};

const exists = (path) =>
  access(path).then(
    () => true,
    () => false,
  );

/** Builds what is not there yet into `work`/bin. Resolves with that folder, upstream's version and the folder of its sources. */
export async function buildBinaries(work) {
  const bin = join(work, 'bin');
  const module = join(work, 'module');
  await mkdir(bin, { recursive: true });
  await mkdir(module, { recursive: true });
  for (const name of ['go.mod', 'go.sum', 'tools.go']) await copyFile(join(goFolder, name), join(module, name));
  const go = (...args) => run('go', args, { cwd: module, env: { GOTOOLCHAIN: process.env.GOTOOLCHAIN ?? 'auto' } });
  const goMod = await readFile(join(module, 'go.mod'), 'utf8');
  const version = /k8s\.io\/kubernetes (v\S+)/.exec(goMod)?.[1] ?? '';
  await go('mod', 'download', 'k8s.io/kubernetes').catch((error) => {
    throw error.code === 'ENOENT' ? new Error('Go is needed to build the suite: https://go.dev/doc/install', { cause: error }) : error;
  });
  const sources = (await go('list', '-m', '-f', '{{.Dir}}', 'k8s.io/kubernetes')).trim();
  // Programs of another pin are built anew.
  const stamp = join(bin, 'built-from');
  const pin = createHash('sha256').update(goMod).digest('hex');
  const fresh = (await readFile(stamp, 'utf8').catch(() => '')) === pin;
  const make = async (name, build) => {
    const out = join(bin, name);
    if (fresh && (await exists(out))) return;
    await step(`building ${name}`, () => build(out));
  };
  const ldflags = flags(version);
  for (const [name, path] of Object.entries(programs))
    await make(name, (out) => go('build', '-trimpath', '-ldflags', ldflags, '-o', out, path));
  // Vetting two thousand packages takes longer than to compile them.
  await make('e2e.test', (out) => go('test', '-c', '-vet=off', '-trimpath', '-ldflags', ldflags, '-o', out, 'k8s.io/kubernetes/test/e2e'));
  await make('nnp', (out) => go('build', '-trimpath', '-o', out, join(sources, 'test/images/nonewprivs/nnp.go')));
  await make('pause', (out) => run('gcc', ['-static', '-Os', '-DVERSION=3.10.2', '-o', out, join(sources, 'build/pause/linux/pause.c')]));
  await writeFile(stamp, pin);
  return { bin, version, sources };
}
