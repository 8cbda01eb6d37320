// `sagong coredns`: the names of a cluster, answered by a process of its own: what `sagong up --layout pods` runs in the place of CoreDNS, with its
// command line and the part of its configuration that clusters of kubeadm have.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { type Command, command, flag } from '#component-base/flags';
import { createInformerFactory, type InformerFactory } from '#client';
import { type Corefile, parseCorefile, parseUpstream, runDns, type Upstream, upstreamsOf } from '#dns';
import type { Logger } from '#utils';
import { serve, type WireServer } from '#wire';
import { clientFor, componentDeps, untilStopped } from '../component.ts';

const logs = { verbosity: 0, loggingFormat: 'text' } as const;

async function upstreams(named: readonly string[]): Promise<Upstream[]> {
  const found = await Promise.all(
    named.map(async (name) => (name.startsWith('/') ? upstreamsOf(await readFile(name, 'utf8')) : [parseUpstream(name)])),
  );
  return found.flat();
}

async function listen(port: number) {
  const udp = createSocket('udp4');
  udp.bind(port);
  const tcp = createServer();
  tcp.listen(port, '0.0.0.0');
  await Promise.all([once(udp, 'listening'), once(tcp, 'listening')]);
  return { udp, tcp };
}

/** Ready once the cluster has been read. */
async function endpoints({ health, ready }: Corefile, isReady: () => boolean, logger: Logger): Promise<WireServer[]> {
  const at = (port: number, path: string, ok: () => boolean): Promise<WireServer> =>
    serve({
      listen: { host: '0.0.0.0', port },
      onRequest: (request, response) =>
        request.path === path ? response.send(ok() ? 200 : 503, {}, ok() ? 'OK' : '') : response.send(404, {}, ''),
      logger,
    });
  return Promise.all([
    ...(health === undefined ? [] : [at(health, '/health', () => true)]),
    ...(ready === undefined ? [] : [at(ready, '/ready', isReady)]),
  ]);
}

async function untilRead(informers: InformerFactory, then: () => void): Promise<void> {
  await informers.waitForSync();
  then();
}

async function run(path: string, kubeconfig: string): Promise<void> {
  const deps = componentDeps('coredns', logs);
  const { clock, logger } = deps;
  const file = parseCorefile(await readFile(path, 'utf8'));
  for (const warning of file.warnings) logger.warn(warning);
  const { client } = clientFor('coredns', kubeconfig, clock);
  const informers = createInformerFactory({ ...deps, client });
  const { domain } = file;
  const names = runDns({
    sockets: await listen(file.port),
    informers,
    clock,
    domain,
    upstreams: await upstreams(file.upstreams),
  });
  let read = false;
  informers.start();
  void untilRead(informers, () => {
    read = true;
    logger.info('the cluster has been read', { domain });
  });
  const servers = await endpoints(file, () => read, logger);
  logger.info('serving names', { port: file.port, domain, upstreams: file.upstreams.join(' ') });
  await untilStopped(async () => {
    informers.stop();
    names.close();
    await Promise.all(servers.map((server) => server.close({ graceMs: 0 })));
  });
}

export const corednsCommand = (): Command =>
  command({
    name: 'coredns',
    description: 'Serve the names of a cluster: Services, headless Services, pods; all others are asked of upstreams.',
    flags: {
      conf: flag.string({ name: 'conf', default: 'Corefile', help: 'The Corefile.' }),
      kubeconfig: flag.string({
        name: 'kubeconfig',
        default: '',
        help: 'Of the cluster; without it, as the service account of the pod.',
      }),
    },
    run: ({ values: { conf, kubeconfig } }) => run(conf, kubeconfig),
  });
