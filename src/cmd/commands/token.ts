// `sagong token create|list|delete`, as kubeadm's.
import {
  adminClient,
  authorityHashes,
  createToken,
  dataDirOf,
  deleteToken,
  joinable,
  listTokens,
  parseCertificateKey,
  textTable,
  tokenColumns,
} from '#cluster';
import type { FlagValues } from '#component-base';
import { systemClock } from '#host';
import type { tokenFlags } from '../flags/token.ts';
import { notGrowing } from './certs.ts';
import { say } from '../process/say.ts';

interface Flags {
  name: string;
  dataDir?: string;
}

export async function runTokenCreate(given: string | undefined, flags: FlagValues<typeof tokenFlags>): Promise<void> {
  const { ttlMs, description, usages, groups, printJoinCommand, certificateKey } = flags;
  if (ttlMs < 0) throw new Error('--ttl must be a duration that is not negative, e.g. 24h');
  if (certificateKey !== '' && !printJoinCommand) throw new Error('--certificate-key needs --print-join-command');
  if (certificateKey !== '') parseCertificateKey(certificateKey);
  const dataDir = dataDirOf(flags.name, flags.dataDir);
  const { endpoint, ca, growing } = await joinable(dataDir);
  if (certificateKey !== '' && !growing) throw new Error(notGrowing);
  const clock = systemClock();
  const client = adminClient(dataDir, clock);
  try {
    const wish = { token: given, ttlMs, description, usages, groups };
    const token = await createToken(client, wish, clock);
    const hashes = authorityHashes(ca).map((hash) => `--discovery-token-ca-cert-hash ${hash}`);
    const plane = certificateKey === '' ? '' : ` --control-plane --certificate-key ${certificateKey}`;
    say(printJoinCommand ? `sagong join ${endpoint} --token ${token} ${hashes.join(' ')}${plane}` : token);
  } finally {
    client.close();
  }
}

export async function runTokenList(flags: Flags): Promise<void> {
  const clock = systemClock();
  const client = adminClient(dataDirOf(flags.name, flags.dataDir), clock);
  try {
    const rows = await listTokens(client, clock);
    if (rows.length > 0) say(textTable(tokenColumns, rows));
  } finally {
    client.close();
  }
}

export async function runTokenDelete(tokens: readonly string[], flags: Flags): Promise<void> {
  const client = adminClient(dataDirOf(flags.name, flags.dataDir), systemClock());
  try {
    for (const token of tokens) say(`bootstrap token ${JSON.stringify(await deleteToken(client, token))} deleted`);
  } finally {
    client.close();
  }
}
