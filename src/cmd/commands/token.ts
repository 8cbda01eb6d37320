// `sagong token create|list|delete`, as kubeadm's.
import { parseDurationMs } from '#apimachinery/duration';
import { clientConfigOf, readKubeconfig } from '#client';
import {
  adminClient,
  authorityHashes,
  clusterPaths,
  createToken,
  dataDirOf,
  deleteToken,
  listTokens,
  loadSettings,
  textTable,
  tokenColumns,
} from '#cluster';
import { systemClock } from '#host';

export interface TokenFlags {
  name: string;
  dataDir?: string;
  ttl?: string;
  description?: string;
  usages?: string[];
  groups?: string[];
  printJoinCommand?: boolean;
}

const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** Rejects for a cluster that nothing can join. */
async function joinable(dataDir: string): Promise<{ endpoint: string; ca: string }> {
  const settings = await loadSettings(dataDir);
  if (!settings) throw new Error(`there is no cluster in ${dataDir}`);
  if (!settings.machine)
    throw new Error(
      'no machine can join this cluster: it is on this machine alone; start one with: sagong up --advertise-address',
    );
  const { ca = '' } = clientConfigOf(readKubeconfig(clusterPaths(dataDir).kubeconfig));
  return { endpoint: `${settings.machine.advertiseAddress}:${settings.port}`, ca };
}

/** A duration in Go's words; '0' alone never ends. */
function ttlOf(text: string): number {
  const ms = text === '0' ? 0 : parseDurationMs(text);
  if (!Number.isFinite(ms) || ms < 0) throw new Error(`--ttl must be a duration, e.g. 24h, not ${JSON.stringify(text)}`);
  return ms;
}

const listed = (words: string[] | undefined): string[] | undefined => words?.flatMap((word) => word.split(','));

export async function runTokenCreate(given: string | undefined, flags: TokenFlags): Promise<void> {
  const { ttl = '24h', description, usages, groups, printJoinCommand } = flags;
  const ttlMs = ttlOf(ttl);
  const dataDir = dataDirOf(flags.name, flags.dataDir);
  const { endpoint, ca } = await joinable(dataDir);
  const clock = systemClock();
  const client = adminClient(dataDir, clock);
  try {
    const wish = { token: given, ttlMs, description, usages: listed(usages), groups: listed(groups) };
    const token = await createToken(client, wish, clock);
    const hashes = authorityHashes(ca).map((hash) => `--discovery-token-ca-cert-hash ${hash}`);
    say(printJoinCommand ? `sagong join ${endpoint} --token ${token} ${hashes.join(' ')}` : token);
  } finally {
    client.close();
  }
}

export async function runTokenList(flags: TokenFlags): Promise<void> {
  const clock = systemClock();
  const client = adminClient(dataDirOf(flags.name, flags.dataDir), clock);
  try {
    const rows = await listTokens(client, clock);
    if (rows.length > 0) say(textTable(tokenColumns, rows));
  } finally {
    client.close();
  }
}

export async function runTokenDelete(tokens: string[], flags: TokenFlags): Promise<void> {
  const client = adminClient(dataDirOf(flags.name, flags.dataDir), systemClock());
  try {
    for (const token of tokens) say(`bootstrap token ${JSON.stringify(await deleteToken(client, token))} deleted`);
  } finally {
    client.close();
  }
}
