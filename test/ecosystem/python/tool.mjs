// Clients and operators in Python: each in a script of its own that prints what it did and fails with an exception.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));

async function interpreter({ cache, must }) {
  const python = join(cache, 'python/bin/python');
  if (!existsSync(python)) await must('python3', ['-m', 'venv', join(cache, 'python')]);
  await must(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', join(here, 'requirements.txt')]);
  return python;
}

const script = (what, version, file) => ({
  what,
  version,
  async run(context) {
    await context.must(await interpreter(context), [join(here, file)], { env: context.env, timeoutMs: 180_000 });
    return { result: 'works' };
  },
});

export default {
  name: 'Python',
  needs: ['python3'],
  runs: [
    script('kubernetes: create, watch, patches, server-side apply, dynamic client, informer-like lists', '37.0.2', 'official_client.py'),
    script('kubernetes_asyncio: create, watch, delete', '36.1.0', 'asyncio_client.py'),
    script('kr8s: objects, wait, scale, patch', '0.20.15', 'kr8s_client.py'),
    script('kopf: operator with handlers, a timer and a finalizer', '1.45.2', 'kopf_operator.py'),
    script('pykube-ng: objects and queries', '23.6.0', 'pykube_client.py'),
  ],
};
