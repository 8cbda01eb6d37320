// Rust's `kube`, from crates.io: the program of src, built with what Cargo.lock pins.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { shellImage, withStreamsPod } from '../lib/shell-pods.mjs';
import { buildTimeoutMs } from '../lib/programs.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const version = /^kube = \{ version = "=([^"]+)/m.exec(readFileSync(join(here, 'Cargo.toml'), 'utf8'))[1];

const program = {
  what: 'kube: calls, server-side apply, discovery, watchers and stores, a derived definition with a controller, evictions, exec, attach, logs and port-forward over WebSocket',
  version,
  async run(context) {
    const { must, execute, cache, env } = context;
    const target = join(cache, 'rust');
    await must('cargo', ['build', '--quiet', '--locked', '--manifest-path', join(here, 'Cargo.toml')], { env: { CARGO_TARGET_DIR: target }, timeoutMs: buildTimeoutMs });
    return withStreamsPod(context, 'rust-streams', async (name) => {
      const { code, text } = await execute(join(target, 'debug/kube-program'), [name, shellImage], { env, timeoutMs: 400_000 });
      if (code !== 0) throw new Error(text.slice(-3000).split('\n').filter((line) => !line.startsWith('ok ')).join('\n'));
      return { result: 'works', differs: `${text.match(/^ok /gm).length} checks` };
    });
  },
};

export default { name: 'Rust', needs: ['cargo', 'kubectl', 'busybox'], cluster: 'containers', runs: [program] };
