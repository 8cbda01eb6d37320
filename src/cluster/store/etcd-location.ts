// Where the data of a cluster is: in a store of its own, or in an etcd that was named at its first start, or that the data was moved to.
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { FlagValues } from '#component-base/flags';
import type { EtcdAccess } from '../control-plane.ts';
import type { etcdRows } from '../flags/index.ts';
import type { ClusterSettings, EtcdLocation } from '../state/settings.ts';

/** The flags about an etcd that were given. */
export type EtcdFlags = Partial<FlagValues<ReturnType<typeof etcdRows>>>;

/** Throws a sentence for what cannot be meant. Undefined: nothing was said. */
export function etcdFromFlags({ etcdServers, etcdCafile, etcdCertfile, etcdKeyfile }: EtcdFlags): EtcdLocation | undefined {
  if ((etcdCertfile === undefined) !== (etcdKeyfile === undefined))
    throw new Error('--etcd-certfile and --etcd-keyfile must be given together');
  if (etcdServers === undefined) {
    if (etcdCafile !== undefined || etcdCertfile !== undefined)
      throw new Error('--etcd-cafile, --etcd-certfile and --etcd-keyfile need --etcd-servers');
    return undefined;
  }
  const servers = etcdServers.filter((text) => text !== '');
  const wrong = servers.find((text) => !/^https?:\/\/[^/\s]+:\d{1,5}\/?$/.test(text));
  if (servers.length === 0 || wrong !== undefined)
    throw new Error(`--etcd-servers must be http(s)://host:port, comma separated, not ${JSON.stringify(wrong ?? '')}`);
  return {
    servers,
    ...(etcdCafile !== undefined && { caFile: resolve(etcdCafile) }),
    ...(etcdCertfile !== undefined && { certFile: resolve(etcdCertfile) }),
    ...(etcdKeyfile !== undefined && { keyFile: resolve(etcdKeyfile) }),
  };
}

/** The etcd of a start. Data never changes its place by a flag. */
export function etcdOfStart(given: EtcdLocation | undefined, before: ClusterSettings | undefined): EtcdLocation | undefined {
  if (given && before && !before.etcd)
    throw new Error(
      'the data of this cluster is in its own store; move it first: sagong store migrate --to etcd --etcd-servers ...',
    );
  return given ?? before?.etcd;
}

export async function openEtcdLocation({ servers, caFile, certFile, keyFile }: EtcdLocation): Promise<EtcdAccess> {
  const text = async (path: string | undefined): Promise<string | undefined> =>
    path === undefined ? undefined : readFile(path, 'utf8');
  const [ca, cert, key] = await Promise.all([text(caFile), text(certFile), text(keyFile)]);
  const tls = { ...(ca !== undefined && { ca }), ...(cert !== undefined && { cert }), ...(key !== undefined && { key }) };
  return { servers, ...(Object.keys(tls).length > 0 && { tls }) };
}
