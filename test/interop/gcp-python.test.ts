// The local server of Google's API, used by Google's own Python client: so that it is not a mirror image of our provider.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { seededRng } from 'sagong/cloud-provider/test-server';
import { expect, it } from 'vitest';
import { systemClock } from '#host';
import { project, region, startTestServer, zones } from '../../providers/gcp/test-server/index.ts';
import { pythonWith } from './python.ts';

const version = '1.57.0';
const run = promisify(execFile);

const python = await pythonWith(`google-cloud-compute==${version}`);
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
