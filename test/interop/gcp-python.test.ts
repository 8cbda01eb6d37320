// The local server of Google's API, used by Google's own Python client: so that it is not a mirror image of our provider.
import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { seededRng } from 'sagong/cloud-provider/test-server';
import { expect, it } from 'vitest';
import { systemClock } from '#host';
import { project, region, startTestServer, zones } from '../../providers/gcp/test-server/index.ts';

const version = '1.57.0';
const run = promisify(execFile);

/** A Python with the client, installed into a folder of its own when need be; undefined where that is not possible. */
async function pythonWithClient(): Promise<string | undefined> {
  const home = join(tmpdir(), `sagong-google-cloud-compute-${version}`);
  const python = join(home, 'bin', 'python');
  if (existsSync(python)) return python;
  if (spawnSync('python3', ['-m', 'venv', '--help']).status !== 0) return undefined;
  const draft = await mkdtemp(`${home}-`);
  try {
    await run('python3', ['-m', 'venv', draft]);
    await run(join(draft, 'bin', 'python'), ['-m', 'pip', 'install', '-q', `google-cloud-compute==${version}`]);
    // Whoever is first wins; the other's is as good.
    await rename(draft, home).catch(() => {});
    return existsSync(python) ? python : undefined;
  } catch {
    return undefined;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

const python = await pythonWithClient();
const script = fileURLToPath(new URL('gcp-python.py', import.meta.url));

it.skipIf(!python)('Google’s Python client works on the local server (skipped without python3 and PyPI)', async () => {
  const server = await startTestServer({ clock: systemClock(), rng: seededRng(1) });
  for (const name of ['node-a', 'node-b', 'node-c']) server.projects.addInstance(project, zones[0], name, { tags: ['nodes'] });
  server.faults.rates = { ...server.faults.rates, operationMs: 50 };
  try {
    const { stdout } = await run(python as string, [script, server.url, server.token, project, region, zones[0]]);
    expect(JSON.parse(stdout)).toEqual({
      instances: ['node-a', 'node-b', 'node-c'],
      filtered: ['node-a'],
      paged: 3,
      node: ['RUNNING', 'e2-standard-4', ['nodes'], 4],
      absent: 'NotFound 404',
      zones: 4,
      network: true,
      pool: 2,
      rule: '80-80',
      again: 'Conflict 409',
      'in use': 'BadRequest 400',
      members: ['node-a'],
      service: ['CLIENT_IP', 'PreconditionFailed 412'],
      firewall: [1000, 'INGRESS', 'changed', ['80', '443']],
      routes: ['10.244.0.0/24'],
    });
    const left = [
      'forwardingRule',
      'targetPool',
      'backendService',
      'instanceGroup',
      'healthCheck',
      'firewall',
      'route',
      'address',
    ];
    expect(left.flatMap((kind) => server.projects.of(kind))).toEqual([]);
  } finally {
    await server.close();
  }
});
