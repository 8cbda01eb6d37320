// `sagong service install|uninstall`: a cluster, or the node of a joined machine, as a unit of systemd.
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { dataDirOf, loadSettings, serviceUnit, type ServiceUnit } from '#cluster';
import { atomicWrite, execCommand } from '#host';
import { programOf } from '../process/program.ts';
import { say } from '../process/say.ts';

export interface ServiceFlags {
  name: string;
  dataDir?: string;
  machine?: boolean;
  print?: boolean;
  now?: boolean;
}

const unitDir = '/etc/systemd/system';

/** Rejects with a sentence where there is nothing to start. */
async function unitOf({ name, dataDir, machine }: ServiceFlags): Promise<ServiceUnit> {
  const home = homedir();
  if (machine) {
    const dir = resolve(dataDir || join(home, '.sagong', 'machine'));
    if (!existsSync(join(dir, 'machine.json')))
      throw new Error(`there is no node in ${dir}; make this machine one with: sagong join`);
    const command = [...programOf(), 'join', '--data-dir', dir];
    return serviceUnit({ name: 'sagong-machine', description: 'Node of a Sagong cluster', command, home });
  }
  const dir = dataDirOf(name, dataDir);
  const settings = await loadSettings(dir);
  if (!settings) throw new Error(`there is no cluster in ${dir}; its first start chooses what it is: sagong up --detach`);
  const unit = settings.name === 'sagong' ? 'sagong' : `sagong-${settings.name}`;
  const command = [...programOf(), 'up', '--name', settings.name, '--data-dir', dir];
  return serviceUnit({ name: unit, description: `Sagong cluster "${settings.name}"`, command, home });
}

async function systemctl(...words: string[]): Promise<void> {
  const { code, stderr } = await execCommand('systemctl', words, { timeoutMs: 180_000 });
  if (code !== 0) throw new Error(`systemctl ${words.join(' ')}: ${stderr.trim() || `exit code ${code}`}`);
}

/** Throws unless this machine runs systemd, as sd_booted(3) decides it. */
function assertSystemd(): void {
  if (!existsSync('/run/systemd/system'))
    throw new Error('this machine was not started by systemd, so there is nobody to run a service; --print shows the unit');
  if (process.getuid?.() !== 0) throw new Error('only root may install services');
}

export async function runServiceInstall(flags: ServiceFlags): Promise<void> {
  const unit = await unitOf(flags);
  if (flags.print) return void process.stdout.write(unit.text);
  assertSystemd();
  const path = join(unitDir, unit.name);
  await atomicWrite(path, unit.text, { mode: 0o644 });
  await systemctl('daemon-reload');
  await systemctl('enable', unit.name);
  if (flags.now) await systemctl('start', unit.name);
  say(`Installed ${path}; it starts at boot${flags.now ? ', and runs now' : ` (now: systemctl start ${unit.name})`}`);
}

export async function runServiceUninstall(flags: ServiceFlags): Promise<void> {
  const names = flags.machine ? 'sagong-machine' : flags.name === 'sagong' ? 'sagong' : `sagong-${flags.name}`;
  const path = join(unitDir, `${names}.service`);
  assertSystemd();
  if (!existsSync(path)) {
    // One whose file went just before somebody ended this command.
    await systemctl('daemon-reload');
    throw new Error(`there is no service ${path}`);
  }
  await systemctl('disable', '--now', `${names}.service`);
  await rm(path);
  await systemctl('daemon-reload');
  say(`Stopped and removed ${path}; the data is kept`);
}
