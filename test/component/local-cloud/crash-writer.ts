// The child process of crash.test.ts: a cloud in memory that serves on the given folder until it is killed.
import { writeSync } from 'node:fs';
import { memoryLoadBalancers, memoryMachines } from '#cloud/memory';
import { startCloud } from '#cloud/server';
import { systemClock, systemRng } from '#host';
import { silentLogger } from '#utils';

const [dataDir = ''] = process.argv.slice(2);
const clock = systemClock();
const cloud = await startCloud(
  {
    dataDir,
    accounts: [{ id: 'customer', token: 'a-customer-token', role: 'customer' }],
    region: 'local-1',
    zones: ['local-1a'],
    publicCidr: '198.18.0.0/24',
    mark: 'abcdef',
    drivers: { machines: memoryMachines({ clock }), 'load-balancers': memoryLoadBalancers() },
  },
  { clock, rng: systemRng(), logger: silentLogger },
);
writeSync(1, `${cloud.port}\n`);
