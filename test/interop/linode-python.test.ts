// The local server of Linode's API, used by Linode's own Python client: so that it is not a mirror image of our provider.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { seededRng } from 'sagong/cloud-provider/test-server';
import { expect, it } from 'vitest';
import { systemClock } from '#host';
import { region, startTestServer } from '../../providers/linode/test-server/index.ts';
import { pythonWith } from './python.ts';

const version = '5.48.0';
const run = promisify(execFile);

const python = await pythonWith(`linode-api4==${version}`);
const script = fileURLToPath(new URL('linode-python.py', import.meta.url));

it.skipIf(!python)('Linode’s Python client works on the local server (skipped without python3 and PyPI)', async () => {
  const server = await startTestServer({ clock: systemClock(), rng: seededRng(1) });
  const { account } = server;
  const vpc = account.addVpc('k8s', region);
  const subnet = account.addSubnet(vpc.id, 'default', '10.0.0.0/16');
  for (let number = 0; number < 30; number++)
    account.addLinode(`node-${number}`, region, { type: 'g6-standard-2', tags: ['nodes'] });
  account.addLinode('in-vpc', region, { subnet: subnet.id });
  try {
    const { stdout } = await run(python as string, [script, server.endpoint, server.token, region]);
    expect(JSON.parse(stdout)).toEqual({
      paged: 31,
      filtered: ['node-7'],
      tagged: 30,
      node: ['running', 'g6-standard-2', region],
      absent: 404,
      unauthorized: 401,
      vpc: ['k8s', ['default'], 1],
      ranges: ['10.244.9.0/24'],
      balancer: [true, 'ip.linodeusercontent.com', 4, ['web', 'shop']],
      changed: [7, ['shop']],
      'label taken': 'Label must be unique',
      config: [80, 'http', 'roundrobin', 'table', 'http', '/up'],
      'port taken': 'Port must be unique',
      nodes: ['node-0'],
      rebuilt: [['node-0', 'node-1'], true],
      'wrong address': 'Must be an address of a Linode in the same region',
      firewall: ['DROP', 'TCP', '80', ['198.51.100.0/24']],
      devices: ['nodebalancer'],
      'second firewall': 'NodeBalancer is already assigned to an active firewall',
    });
    expect((['balancer', 'config', 'node', 'firewall', 'device'] as const).flatMap((kind) => account.of(kind))).toEqual([]);
  } finally {
    await server.close();
  }
});
