// client-go's streams into pods of real nodes, and kubectl's, which are built on them: the oldest kubectl that people use speaks SPDY, the newest WebSocket.
import { mkdirSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { official, releases } from '../lib/official.mjs';
import { freePort } from '../lib/ports.mjs';
import { withStreamsPod } from '../lib/shell-pods.mjs';
import { buildTimeoutMs } from '../lib/programs.mjs';

const source = join(dirname(fileURLToPath(import.meta.url)), '../../interop/client-go');
const program = {
  what: 'exec, attach and port-forward over SPDY and over WebSocket: exit codes, 8 MiB both ways, terminals, 20 connections at once, refused ports; logs followed',
  version: 'v0.36.2',
  async run(context) {
    const { must, execute, work, kubeconfig } = context;
    const binary = join(work, 'streams');
    await must('go', ['build', '-o', binary, './streams'], { cwd: source, timeoutMs: buildTimeoutMs });
    return withStreamsPod(context, 'streams', async (name) => {
      const { code, text } = await execute(binary, [kubeconfig, 'default', name], { timeoutMs: 400_000 });
      if (code !== 0) throw new Error(text.slice(-3000));
      return { result: 'works', differs: `${text.match(/^ok /gm).length} checks` };
    });
  },
};

/** A folder with what copies get wrong: an empty file, a large one, a name with a space. */
function folderIn(dir) {
  mkdirSync(join(dir, 'deep/er'), { recursive: true });
  writeFileSync(join(dir, 'empty'), '');
  writeFileSync(join(dir, 'deep/large'), randomBytes(3 << 20));
  writeFileSync(join(dir, 'deep/er/a name'), 'content\n');
  return dir;
}

const streamsOf = (minor) => ({
  what: 'kubectl exec, cp of folders both ways, attach, port-forward',
  version: releases[minor].kubectl,
  async run(context) {
    const { cache, work, env, must, execute, start, eventually } = context;
    const { kubectl: binary } = await official(cache, minor);
    const run = (args, options) => must(binary, args, { env, timeoutMs: 120_000, ...options });
    return withStreamsPod(context, `kubectl-${minor}`, async (name) => {
      const failed = await execute(binary, ['exec', name, '-c', 'web', '--', 'sh', '-c', 'echo why >&2; exit 7'], { env });
      if (!/why\n[^]*exit code 7/.test(failed.text)) throw new Error(failed.text);
      const from = folderIn(join(work, name, 'from'));
      const back = join(work, name, 'back');
      await run(['cp', from, `${name}:/copied`, '-c', 'web']);
      await run(['cp', `${name}:/copied`, back, '-c', 'web']);
      await must('diff', ['-r', from, back]);
      const heard = await run(['exec', '-i', name, '-c', 'web', '--', 'cat'], { input: 'through standard input\n' });
      if (heard !== 'through standard input\n') throw new Error(heard);
      start('attach', 'sh', ['-c', `(echo attached; sleep 100) | exec '${binary}' attach -q -i ${name} -c echo`], { env });
      await eventually('attach reaches the container', async () => (await run(['logs', name, '-c', 'echo'])).includes('heard attached'));
      const port = await freePort();
      const forwarding = start('port-forward', binary, ['port-forward', `pod/${name}`, `${port}:8080`], { env });
      const served = async () => (await (await fetch(`http://127.0.0.1:${port}/`)).text()) === 'served\n';
      await eventually('the forwarded port answers', served).catch((error) => Promise.reject(new Error(`${error.message}\n${forwarding.log()}`)));
      return { result: 'works' };
    });
  },
});

export default { name: 'client-go streams', needs: ['go', 'npm', 'unzip', 'kubectl', 'busybox'], cluster: 'containers', runs: [program, streamsOf(30), streamsOf(36)] };
