// `sagong etcd`: etcd's v3 API on an embedded store, with etcd's flags: for etcdctl on the data of a stopped cluster, and for apiservers that are
// to share one store.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createLogger, type Command, command, type FlagValues } from '#component-base';
import { systemClock } from '#host';
import { type EtcdFront, type EtcdFrontTls, openDiskStore, serveEtcd } from '#store';
import { untilStopped } from '../component.ts';
import { etcdFlags } from './etcd-flags.ts';

type Flags = FlagValues<typeof etcdFlags>;

interface ClientUrl {
  secure: boolean;
  host: string;
  port: number;
}

/** Throws a sentence for what cannot be listened on. */
function clientUrl(text: string): ClientUrl {
  const match = /^(https?):\/\/(\[[0-9a-fA-F:.]+\]|[^:/[\]]+):(\d{1,5})\/?$/.exec(text);
  const port = Number(match?.[3]);
  if (!match || !(port <= 65_535)) throw new Error(`--listen-client-urls: ${JSON.stringify(text)} must be http(s)://host:port`);
  return { secure: match[1] === 'https', host: (match[2] ?? '').replace(/^\[|\]$/g, ''), port };
}

async function tlsOf({ certFile, keyFile, trustedCaFile, clientCertAuth }: Flags): Promise<EtcdFrontTls | undefined> {
  if ((certFile === '') !== (keyFile === '')) throw new Error('--cert-file and --key-file must be given together');
  if (clientCertAuth && trustedCaFile === '') throw new Error('--client-cert-auth needs --trusted-ca-file');
  if (certFile === '') return undefined;
  const [cert, key] = await Promise.all([readFile(certFile), readFile(keyFile)]);
  return { cert, key, ...(trustedCaFile !== '' && { clientCa: await readFile(trustedCaFile) }) };
}

const levels = { debug: 4, info: 0, warn: 0, error: 0, panic: 0, fatal: 0 } as const;

async function run(flags: Flags): Promise<void> {
  const path = resolve(flags.dataDir === '' ? `${flags.name}.etcd` : flags.dataDir);
  if (existsSync(join(path, 'member')))
    throw new Error(`${path} holds the data of another etcd; bring it here with: etcdctl snapshot save, sagong snapshot restore`);
  if (flags.initialCluster.length > 1)
    throw new Error(
      `--initial-cluster names ${flags.initialCluster.length} members, and this etcd is one; for several run etcd itself`,
    );
  const urls = flags.listenClientUrls.map(clientUrl);
  const tls = await tlsOf(flags);
  if (!tls && urls.some(({ secure }) => secure))
    throw new Error('https in --listen-client-urls needs --cert-file and --key-file');
  const clock = systemClock();
  const logger = createLogger({ clock, component: 'etcd', level: levels[flags.logLevel] });
  const { quotaBackendBytes: quotaBytes, unsafeNoFsync, name, advertiseClientUrls: advertised } = flags;
  const store = await openDiskStore({ path, clock, logger, unsafeNoFsync, ...(quotaBytes > 0 && { quotaBytes }) });
  const fronts: EtcdFront[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(fronts.map((front) => front.close()));
    await store.close();
  };
  try {
    for (const { secure, host, port } of urls)
      fronts.push(await serveEtcd({ store, host, port, name, advertised, clock, logger, ...(secure && tls && { tls }) }));
  } catch (error) {
    await close();
    throw error;
  }
  for (const { endpoint } of fronts) logger.info('serving client traffic', { address: endpoint });
  await untilStopped(close);
}

export const etcdCommand = (): Command =>
  command({
    name: 'etcd',
    description: "Serve etcd's v3 API on an embedded store.",
    upstream: true,
    flags: etcdFlags,
    run: ({ values }) => run(values),
  });
