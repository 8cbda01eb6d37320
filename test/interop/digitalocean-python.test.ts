// The local server of DigitalOcean's API, used by DigitalOcean's own Python client: so that it is not a mirror image of our provider.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { startTestServer } from '../../providers/digitalocean/test-server/index.ts';
import { pythonWith } from './python.ts';

const version = '0.44.0';
const run = promisify(execFile);
const python = await pythonWith(`pydo==${version}`);
const script = fileURLToPath(new URL('digitalocean-python.py', import.meta.url));

it.skipIf(!python)('DigitalOcean’s Python client works on the local server (skipped without python3 and PyPI)', async () => {
  const server = await startTestServer();
  for (let number = 0; number < 30; number++) server.account.addDroplet(`node-${number}`);
  try {
    const { stdout } = await run(python as string, [script, server.url, server.token]);
    expect(JSON.parse(stdout)).toEqual({
      paged: [20, 10, 30, true],
      named: ['node-7'],
      droplet: ['active', 's-2vcpu-4gb', 'nyc3'],
      absent: 'not_found',
      unauthorized: [401, 'unauthorized'],
      regions: ['nyc3', 'fra1', 'sfo3', 'ams3'],
      made: ['web', 2, 'round_robin', 80],
      got: ['active', true, 10],
      changed: [true, [], 2],
      refused: [422, 'unprocessable_entity'],
      tagged: ['k8s'],
      firewall: ['nodes', '30080'],
      firewalls: 0,
      deleted: 'not_found',
    });
  } finally {
    await server.close();
  }
});
