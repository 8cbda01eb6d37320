// The clusters that tools run against. Each is started when the first tool asks for it, has a directory and a kubeconfig of its own, and is removed at the end.
import { existsSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execute, must } from './programs.mjs';

export const root = resolve(fileURLToPath(import.meta.url), '..', '..', '..', '..');
export const sagong = join(root, 'bin/sagong.mjs');

const flagsOf = {
  nodeless: ['--nodes', '0'],
  simulated: ['--nodes', '2', '--runtime', 'simulated'],
  machines: ['--nodes', '2', '--runtime', 'containerd', '--cni', 'none'],
  containers: ['--nodes', '2', '--runtime', 'containerd', '--metrics', 'none'],
};

/** Writes a kubeconfig with the rights of a service account, and answers its path. */
export const accountOf = (work, kubectl) => async (namespace, account) => {
  const config = JSON.parse(await kubectl('config', 'view', '--raw', '--flatten', '--minify', '-o', 'json'));
  const token = (await kubectl('create', 'token', account, '-n', namespace, '--duration=2h')).trim();
  for (const one of config.users) one.user = { token };
  const file = join(work, `${account}.kubeconfig`);
  writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
  return file;
};

/**
 * `get(kind)` answers `{ kubeconfig, env, place, kubectl, apply, kubeconfigOf }` of a running cluster: `simulated`, `nodeless`, or
 * with real nodes (root and containerd) `containers`, or `machines` without a network of pods.
 */
export function clusters(work) {
  const started = new Map();
  // Sockets of nodes, whose names begin with the cluster's, are in its directory: both are short.
  const placeOf = (kind) => ['--name', `${kind}-${process.pid}`, '--data-dir', join(work, kind)];
  const up = async (kind) => {
    const kubeconfig = join(work, `${kind}.kubeconfig`);
    const env = { KUBECONFIG: kubeconfig };
    const place = placeOf(kind);
    await must(process.execPath, [sagong, 'up', ...place, ...flagsOf[kind], '--detach'], { env });
    const kubectl = (...args) => must('kubectl', args, { env });
    const apply = (text, ...args) => must('kubectl', ['apply', '-f', '-', ...args], { env, input: text });
    return { kubeconfig, env, place, kubectl, apply, kubeconfigOf: accountOf(work, kubectl) };
  };
  const get = (kind) => {
    if (!started.has(kind)) started.set(kind, up(kind));
    return started.get(kind);
  };
  const endAll = async () => {
    for (const [kind, pending] of started) {
      await pending.catch(() => undefined);
      if (!existsSync(join(work, kind))) continue;
      await execute(process.execPath, [sagong, 'down', ...placeOf(kind)], { env: { KUBECONFIG: join(work, `${kind}.kubeconfig`) } });
    }
  };
  return { get, endAll };
}
