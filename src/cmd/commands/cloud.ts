// `sagong cloud`: the local cloud alone, for users who want a cloud's API without a cluster, or with a cluster of another make.
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Driver, DriverContext } from '#cloud';
import { memoryMachines } from '#cloud/memory';
import {
  accountsOf,
  type CloudConfig,
  type CloudOptions,
  keepPort,
  keptPort,
  parseCloudConfig,
  type RunningCloud,
  servingCertificate,
  startCloud,
} from '#cloud/server';
import { clusterMark, dataDirOf, nameServices } from '#cluster';
import { type Command, command, flag, type FlagValues, loggingFlags } from '#component-base';
import { ensureDir, execCommand } from '#host';
import { type ComponentDeps, componentDeps, untilStopped } from '../component.ts';

export const cloudFlags = {
  dataDir: flag.string({ name: 'data-dir', default: '', help: 'Where the cloud is kept (default ~/.sagong/cloud).' }),
  config: flag.string({ name: 'config', default: '', help: 'Configuration file (docs/local-cloud.md).' }),
  bindAddress: flag.string({ name: 'bind-address', default: '127.0.0.1', help: 'Address of the API.' }),
  securePort: flag.int({ name: 'secure-port', default: 0, help: 'Port of the API; 0: as before, or a free one.' }),
  ...loggingFlags(),
};
type CloudFlags = FlagValues<typeof cloudFlags>;

/** A block of 198.18.0.0/15 (RFC 2544) by the cloud's mark. */
function publicCidrOf(mark: string): string {
  const block = Number.parseInt(mark, 16) % 512;
  return `198.${18 + (block >> 8)}.${block & 255}.0/24`;
}

const isRoot = (): boolean => process.platform === 'linux' && process.getuid?.() === 0;

/** The drivers. As root, the machine itself is the cloud; otherwise instances are only names, and load balancers listen on loopback. */
async function driversOf(
  { drivers, uplink }: CloudConfig,
  deps: ComponentDeps,
): Promise<Pick<CloudOptions, 'drivers' | 'realNetworks'>> {
  const { createLoadBalancerDriver, createLoopbackLoadBalancers } = await import('#cloud/load-balancers');
  if (drivers === 'memory' || (drivers === 'auto' && !isRoot()))
    return {
      drivers: {
        machines: memoryMachines(deps),
        'load-balancers': (context: DriverContext): Driver => createLoopbackLoadBalancers(context, deps),
      },
    };
  const { createMachineDriver } = await import('#cloud/machine');
  const real = { ...deps, exec: execCommand };
  return {
    realNetworks: true,
    drivers: {
      machines: (context: DriverContext): Driver => createMachineDriver(context, { ...real, uplink }),
      'load-balancers': (context: DriverContext): Driver => createLoadBalancerDriver(context, real),
    },
  };
}

export async function runCloud(flags: CloudFlags): Promise<{ cloud: RunningCloud; dir: string }> {
  const deps = componentDeps('cloud', flags);
  const dir = await ensureDir(dataDirOf('cloud', flags.dataDir || undefined));
  const mark = clusterMark(dir);
  const config = parseCloudConfig(flags.config ? await readFile(flags.config, 'utf8') : '', flags.config);
  const configDir = flags.config ? dirname(resolve(flags.config)) : dir;
  const { region, zones = ['a', 'b', 'c'].map((letter) => `${region}${letter}`), publicCidr = publicCidrOf(mark) } = config;
  const chosen = await driversOf(config, deps);
  const port = flags.securePort || (await keptPort(dir));
  const cloud = await startCloud(
    {
      dataDir: dir,
      listen: [{ host: flags.bindAddress, port }, ...config.listen],
      tls: await servingCertificate(dir, configDir, config),
      accounts: await accountsOf(dir, configDir, config),
      region,
      zones,
      publicCidr,
      mark,
      ...(config.instanceTypes && { instanceTypes: config.instanceTypes }),
      quotas: config.quotas,
      ...chosen,
    },
    { ...deps, ...(chosen.realNetworks && { nameService: nameServices({ mark: dir, clock: deps.clock }) }) },
  );
  await keepPort(dir, cloud.port);
  deps.logger.info('the cloud is there', {
    url: `https://${flags.bindAddress}:${cloud.port}`,
    dir,
    realNetworks: chosen.realNetworks ?? false,
  });
  return { cloud, dir };
}

export const cloudCommand = (): Command =>
  command({
    name: 'cloud',
    description: 'This machine as a cloud: instances, networks and load balancers behind an HTTP API.',
    upstream: true,
    flags: cloudFlags,
    async run({ values }) {
      const { cloud } = await runCloud(values);
      await untilStopped(() => cloud.close());
    },
  });
