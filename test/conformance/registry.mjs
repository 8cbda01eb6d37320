// A registry in the network of the nodes that holds the images of the specs, so that those with pull policy Always find what they ask for.
import { spawn } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { run } from './process.mjs';

const address = '10.77.0.10:5000';
export const registryUrl = `http://${address}`;
const startTimeoutMs = 30_000;

/** Names of the machine's network namespaces in which a control plane has its interface. */
export const controlPlaneNamespaces = async () =>
  (await run('ip', ['netns', 'list'])).split('\n').flatMap((line) => /^sagong-\S+-eni-\S+/.exec(line) ?? []);

/** Serves the images that a node has got. `namespace`: where the address belongs to; `socket`: of the node's containerd. Resolves with its end. */
export async function startRegistry({ work, namespace, socket }) {
  const folder = join(work, 'registry');
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const config = join(folder, 'config.yml');
  await writeFile(
    config,
    `version: 0.1\nlog: {level: error}\nstorage: {filesystem: {rootdirectory: ${folder}/data}}\nhttp: {addr: "${address}"}\n`,
  );
  const inside = (...words) => run('ip', ['netns', 'exec', namespace, ...words]);
  const child = spawn('ip', ['netns', 'exec', namespace, 'docker-registry', 'serve', config], { stdio: 'ignore' });
  const stop = async () => {
    child.kill();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    for (const end = Date.now() + startTimeoutMs; ; await sleep(200)) {
      const answer = await inside('busybox', 'wget', '-qO-', `${registryUrl}/v2/`).catch((error) => error);
      if (typeof answer === 'string') break;
      if (Date.now() > end || child.exitCode !== null) throw new Error(`docker-registry does not answer: ${answer.message}`);
    }
    const ctr = (...words) => inside('ctr', '--address', socket, '--namespace', 'k8s.io', 'images', ...words);
    const names = (await ctr('ls', '-q')).split('\n').filter((name) => name.startsWith('registry.k8s.io/'));
    for (const name of names) {
      const copy = name.replace('registry.k8s.io', address);
      await ctr('tag', '--force', name, copy);
      await ctr('push', '--plain-http', copy);
      await ctr('rm', copy);
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return stop;
}
