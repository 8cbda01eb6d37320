// The audit log of a control plane on machines: each apiserver has the policy on its machine's disk, and writes a file among its logs there.
import { basename, join } from 'node:path';
import { readFile, rm } from 'node:fs/promises';
import { atomicWrite, ensureDir, readFileIfExists } from '#host';
import type { Logger } from '#utils';
import type { AuditFiles } from '../control-plane.ts';
import { controlPlanesDir } from '../state/paths.ts';

/** What a machine's apiserver records, and where. */
export interface MachineAudit {
  /** The text of the policy. */
  policy: string;
  /** Name of the file in `logs`; '-': what the apiserver says. */
  log: string;
}

/** Kept with the cluster for as long as a start goes: a machine that takes another one's place meanwhile records, too. */
const keptPath = (dataDir: string): string => join(controlPlanesDir(dataDir), 'audit.json');

/** Keeps what this start records, or that it records nothing. Rejects with kube-apiserver's words for a policy that no apiserver could read. */
export async function keepAudit(
  dataDir: string,
  audit: AuditFiles | undefined,
  logger: Logger,
): Promise<MachineAudit | undefined> {
  if (!audit) {
    await rm(keptPath(dataDir), { force: true });
    return undefined;
  }
  const { loadAuditPolicy } = await import('#apiserver/app');
  await loadAuditPolicy(audit.policyFile, logger);
  const policy = await readFile(audit.policyFile, 'utf8');
  const kept: MachineAudit = { policy, log: audit.logPath === '-' ? '-' : basename(audit.logPath) };
  await ensureDir(controlPlanesDir(dataDir));
  await atomicWrite(keptPath(dataDir), JSON.stringify(kept), { mode: 0o600 });
  return kept;
}

/** The audit policy and log of the last start; undefined where nothing is recorded. */
export async function keptAudit(dataDir: string): Promise<MachineAudit | undefined> {
  const text = (await readFileIfExists(keptPath(dataDir)))?.toString('utf8');
  return text === undefined ? undefined : (JSON.parse(text) as MachineAudit);
}
