// `sagong certs check|renew`, as kubeadm's `certs check-expiration` and `certs renew all`.
import { certificateTables, clusterFlags, dataDirOf, loadSettings, renewCertificates, textTable } from '#cluster';
import { systemClock } from '#host';

interface Flags {
  name: string;
  dataDir?: string;
}

const say = (text: string): void => void process.stdout.write(`${text}\n`);

async function clusterDir({ name, dataDir }: Flags): Promise<{ dir: string; flags: string }> {
  const dir = dataDirOf(name, dataDir);
  const settings = await loadSettings(dir);
  if (!settings) throw new Error(`there is no cluster in ${dir}`);
  return { dir, flags: clusterFlags(settings.name, dir) };
}

export async function runCertsCheck(given: Flags): Promise<void> {
  const { dir } = await clusterDir(given);
  const { certificates, authorities } = await certificateTables(dir, systemClock());
  say(textTable(['CERTIFICATE', 'EXPIRES', 'RESIDUAL TIME', 'CERTIFICATE AUTHORITY', 'EXTERNALLY MANAGED'], certificates));
  say('');
  say(textTable(['CERTIFICATE AUTHORITY', 'EXPIRES', 'RESIDUAL TIME', 'EXTERNALLY MANAGED'], authorities));
}

/** `which`: the name of one, or all. */
export async function runCertsRenew(which: string, given: Flags): Promise<void> {
  const { dir, flags } = await clusterDir(given);
  const renewed = await renewCertificates(dir, ({ name }) => which === 'all' || name === which);
  if (renewed.length === 0)
    throw new Error(`there is no certificate ${JSON.stringify(which)}; see them with: sagong certs check${flags}`);
  for (const name of renewed) say(`certificate ${name} renewed`);
  say('Done. What runs with them takes the new ones by itself, one control-plane machine after the other.');
}
