// The metadata service of the instance that this runs on (https://cloud.google.com/compute/docs/metadata): which project, zone and network it is in.
// GCE_METADATA_HOST names another address, as it does for every tool of Google's.
import type { Clock } from 'sagong/cloud-provider';
import { type Calls, createCalls, sendHttp } from 'sagong/cloud-provider/kit';
import { metadataTimeoutMs } from '../limits.ts';

export interface Metadata {
  project(): Promise<string>;
  zone(): Promise<string>;
  network(): Promise<string>;
}

const hostOf = (env: Readonly<Record<string, string | undefined>>): string =>
  env['GCE_METADATA_HOST'] ?? env['GCE_METADATA_IP'] ?? '169.254.169.254';

/** The last part of `projects/<number>/zones/<zone>` and its like, which has four. */
function lastOfFour(path: string): string {
  const parts = path.split('/');
  if (parts.length !== 4) throw new Error(`unexpected response: ${path}`);
  return parts[3] as string;
}

export function createMetadata(clock: Clock, env: Readonly<Record<string, string | undefined>>): Metadata {
  const calls: Calls = createCalls({ clock, timeoutMs: metadataTimeoutMs });
  const get = async (path: string): Promise<string> => {
    const url = `http://${hostOf(env)}/computeMetadata/v1/${path}`;
    const attempt = (signal: AbortSignal) => sendHttp({ url, headers: { 'metadata-flavor': 'Google' }, signal });
    return (await calls.read(`metadata ${path}`, attempt)).text.trim();
  };
  return {
    project: () => get('project/project-id'),
    zone: async () => lastOfFour(await get('instance/zone')),
    network: async () => lastOfFour(await get('instance/network-interfaces/0/network')),
  };
}
