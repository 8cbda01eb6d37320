// The official client for JavaScript, which is a dependency of this checkout, with the program beside this file.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from '../lib/clusters.mjs';
import { withStreamsPod } from '../lib/shell-pods.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

const client = {
  what: 'official client: typed and generic calls, patches, apply, watches, an informer, exec, attach, logs and port-forward over WebSocket',
  version: devDependencies['@kubernetes/client-node'],
  run: (context) =>
    withStreamsPod(context, 'javascript-streams', async (name) => {
      const { code, text } = await context.execute(process.execPath, [join(here, 'client.mjs'), name], { env: context.env, timeoutMs: 300_000 });
      if (code !== 0) throw new Error(`exit ${code}: ${text.slice(-3000)}`);
      return { result: 'works', differs: `${text.match(/^ok /gm).length} checks` };
    }),
};

export default { name: 'JavaScript', needs: ['kubectl', 'busybox'], cluster: 'containers', runs: [client] };
