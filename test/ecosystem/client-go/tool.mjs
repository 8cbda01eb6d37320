// client-go: the program of test/interop/client-go.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildTimeoutMs } from '../lib/programs.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const version = 'v0.36.2';

const program = {
  what: 'typed clients with protobuf, informers, pager, server-side apply, dynamic and metadata clients with their informers, discovery, leader election',
  version,
  async run({ execute, must, work, kubeconfig }) {
    const binary = join(work, 'client-go');
    await must('go', ['build', '-o', binary, '.'], { cwd: join(here, '../../interop/client-go'), timeoutMs: buildTimeoutMs });
    const { code, text } = await execute(binary, [kubeconfig]);
    if (code !== 0) throw new Error(text.slice(-3000));
    return { result: 'works', differs: `${text.match(/^ok /gm).length} checks` };
  },
};

export default { name: 'client-go', needs: ['go'], runs: [program] };
