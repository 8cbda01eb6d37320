// kubectl as released, from the oldest that people still use to the newest: the same session of everyday verbs with each, every answer looked at.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { official, releases } from '../lib/official.mjs';
import { steps } from './steps.mjs';

const session = (minor) => ({
  what: `${steps.length} commands: create, apply, get, describe, explain, edit, patch, set, rollout, scale, wait, diff, auth, drain, ...`,
  version: releases[minor].kubectl,
  async run({ cache, work, env, execute, kubectl }) {
    const { kubectl: program } = await official(cache, minor);
    const namespace = `kubectl-${minor}`;
    const dir = join(work, namespace);
    mkdirSync(dir);
    await kubectl('create', 'namespace', namespace);
    const wrong = [];
    for (const { args, input, expects, fails = false, editor, file } of steps) {
      if (file) writeFileSync(join(dir, file.name), file.text);
      const line = args.map((arg) => arg.replaceAll('NAMESPACE', namespace));
      const options = { cwd: dir, timeoutMs: 90_000, env: { ...env, ...(editor ? { KUBE_EDITOR: editor } : {}) }, ...(input === undefined ? {} : { input }) };
      const { code, text } = await execute(program, ['-n', namespace, ...line], options);
      const missing = expects.filter((pattern) => !pattern.test(text));
      if ((code !== 0) !== fails || missing.length > 0) wrong.push(`kubectl ${line.join(' ')}: ${missing.join(' ')}\n${text.slice(0, 1500)}`);
    }
    await kubectl('delete', 'namespace', namespace, '--wait=false');
    if (wrong.length > 0) return { result: 'fails', differs: `${steps.length - wrong.length} of ${steps.length} commands`, log: wrong.join('\n---\n') };
    return { result: 'works' };
  },
});

export default { name: 'kubectl', needs: ['npm', 'unzip', 'kubectl'], runs: Object.keys(releases).map(session) };
