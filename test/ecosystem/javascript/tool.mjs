// The official client for JavaScript, out of npm, with the program beside this file.
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withStreamsPod } from '../lib/shell-pods.mjs';

const here = dirname(fileURLToPath(import.meta.url));
// Later ones need a newer Node than Sagong does.
const version = '1.4.0';

const client = {
  what: 'official client: typed and generic calls, patches, apply, watches, an informer, exec, attach, logs and port-forward over WebSocket',
  version,
  async run(context) {
    const { cache, must, execute, env } = context;
    const folder = join(cache, `javascript-${version}`);
    mkdirSync(folder, { recursive: true });
    if (!existsSync(join(folder, 'package-lock.json'))) await must('npm', ['install', '--silent', '--prefix', folder, `@kubernetes/client-node@${version}`]);
    const program = join(folder, 'client.mjs');
    copyFileSync(join(here, 'client.mjs'), program);
    return withStreamsPod(context, 'javascript-streams', async (name) => {
      const { code, text } = await execute(process.execPath, [program, name], { env, timeoutMs: 300_000 });
      if (code !== 0) throw new Error(text.slice(-3000).split('\n').filter((line) => !line.startsWith('ok ')).join('\n'));
      return { result: 'works', differs: `${text.match(/^ok /gm).length} checks` };
    });
  },
};

export default { name: 'JavaScript', needs: ['npm', 'kubectl', 'busybox'], cluster: 'containers', runs: [client] };
