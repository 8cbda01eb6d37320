// The local server of Azure Resource Manager, used by Azure's own Python clients: so that it is not a mirror image of our provider.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { seededRng } from 'sagong/cloud-provider/test-server';
import { expect, it } from 'vitest';
import { systemClock } from '#host';
import { group, location, startTestServer, subscriptionId } from '../../providers/azure/test-server/index.ts';
import { pythonWith } from './python.ts';

const packages = ['azure-mgmt-network==33.1.0', 'azure-mgmt-compute==39.0.0'];
const run = promisify(execFile);

const python = await pythonWith(...packages);
const script = fileURLToPath(new URL('azure-python.py', import.meta.url));

it.skipIf(!python)('Azure’s Python clients work on the local server (skipped without python3 and PyPI)', async () => {
  const server = await startTestServer({ clock: systemClock(), rng: seededRng(1) });
  const { subscription } = server;
  server.faults.rates.operationMs = 200;
  for (let number = 0; number < 30; number++) subscription.addMachine(`node-${number}`, location, { zone: '1' });
  subscription.addScaleSet('workers', location);
  subscription.addMember('workers', 'workers000001', location);
  try {
    const { stdout } = await run(python as string, [script, server.url, server.token, subscriptionId, group, location]);
    expect(JSON.parse(stdout)).toEqual({
      paged: 30,
      node: ['Standard_D2s_v5', ['1'], ['ProvisioningState/succeeded', 'PowerState/running']],
      members: ['workers000001'],
      absent: [404, 'ResourceNotFound'],
      ip: [true, 'Succeeded'],
      balancer: ['Succeeded', 80, 30_080],
      'old version': [412, 'PreconditionFailed'],
      'there already': [412, 'PreconditionFailed'],
      'wrong reference': [400, 'InvalidResourceReference'],
      'ip in use': [400, 'PublicIPAddressCannotBeDeleted'],
      pool: ['node-0-nic'],
      'in use': [400, 'InUseResourceCannotBeDeleted'],
      rules: [500],
      'same priority': [400, 'SecurityRuleConflict'],
      routes: ['10.224.0.4'],
      left: [0, 0],
    });
  } finally {
    await server.close();
  }
});
