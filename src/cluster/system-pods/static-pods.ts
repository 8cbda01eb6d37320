// The control plane of a machine as pods that its kubelet starts by itself: certificates, kubeconfigs and manifests are written to where kubeadm has them. A
// manifest that was changed or taken away there stays so, until what the cluster would write is something else.
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { formatYaml } from '#apimachinery/codec';
import type { Running } from '#component-base';
import { atomicWrite, readFileIfExists, watchFile } from '#host';
import type { Clock, Logger } from '#utils';
import {
  type ControlPlaneConfig,
  type ControlPlaneProgram,
  controlPlaneFiles,
  filesOf,
  programsOf,
  readAtStart,
} from '../control-planes/config.ts';
import { renewalMs } from '../control-planes/limits.ts';
import { type Membership, membershipOf, whileMember } from '../control-planes/member.ts';
import { staticPod } from './manifests.ts';
import { kubernetesDir, manifestsDir } from '../control-planes/places.ts';

interface Deps {
  clock: Clock;
  logger: Logger;
}

/** Every file of the machine's folder that its programs read. */
async function programFiles(directory: string): Promise<string[]> {
  const { pki, cloudConfig } = controlPlaneFiles(directory);
  const within = async (dir: string): Promise<string[]> => {
    const entries = await readdir(dir, { recursive: true, withFileTypes: true }).catch(() => []);
    return entries.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name));
  };
  const kubeconfigs = (await readdir(directory)).filter((name) => name.endsWith('.conf')).map((name) => join(directory, name));
  return [...kubeconfigs, ...(await within(pki)), ...(await within(dirname(cloudConfig)))];
}

async function copyFiles(directory: string): Promise<void> {
  for (const path of await programFiles(directory)) {
    const target = join(kubernetesDir, relative(directory, path));
    const [text, known, { mode }] = await Promise.all([readFile(path), readFileIfExists(target), stat(path)]);
    if (known?.equals(text)) continue;
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    await atomicWrite(target, text, { mode: mode & 0o777 });
  }
}

async function digestOf(paths: readonly string[]): Promise<string> {
  if (paths.length === 0) return '';
  const hash = createHash('sha256');
  for (const path of paths) hash.update(await readFile(path));
  return hash.digest('hex').slice(0, 16);
}

const hasData = (config: ControlPlaneConfig): boolean => existsSync(join(filesOf(config).etcdData, 'member'));
const manifestPath = (program: ControlPlaneProgram): string => join(manifestsDir, `${program}.yaml`);

export class StaticPodsOfMachine implements Running {
  readonly #config: ControlPlaneConfig;
  readonly #deps: Deps;
  readonly #stopping = new AbortController();
  #watches: { close(): void }[] = [];

  constructor(config: ControlPlaneConfig, deps: Deps) {
    this.#config = config;
    this.#deps = deps;
  }
  /** Resolves when all but etcd is there, which may have to wait for other members. */
  async start(): Promise<void> {
    const { directory } = this.#config;
    await mkdir(manifestsDir, { recursive: true });
    await mkdir(join(directory, 'manifests'), { recursive: true, mode: 0o700 });
    await mkdir(filesOf(this.#config).etcdData, { recursive: true, mode: 0o700 });
    await chmod(filesOf(this.#config).etcdData, 0o700);
    // It would begin anew as the member that it is no more.
    if (!hasData(this.#config)) for (const path of [manifestPath('etcd'), this.#written('etcd')]) await rm(path, { force: true });
    await this.#renew();
    void this.#join().catch((error: unknown) => {
      if (!this.#stopping.signal.aborted) this.#deps.logger.error('etcd cannot be started', { error: String(error) });
    });
    this.#watches = (await programFiles(directory)).map((path) => watchFile(path, () => this.#inTurn()));
  }
  stop(): Promise<void> {
    this.#stopping.abort();
    for (const watch of this.#watches) watch.close();
    return Promise.resolve();
  }

  /** What the cluster wrote last. */
  #written(program: ControlPlaneProgram): string {
    return join(this.#config.directory, 'manifests', basename(manifestPath(program)));
  }
  async #renew(): Promise<void> {
    const { directory } = this.#config;
    await copyFiles(directory);
    for (const program of programsOf(this.#config)) {
      if (program === 'etcd') continue;
      const certificates = await digestOf(readAtStart(program, directory));
      await this.#write(program, { cluster: [], fresh: false }, certificates);
    }
  }
  /** Machines take their turns: all at once would be nobody for a moment. */
  #inTurn(): void {
    const { members, name } = this.#config;
    const turn = members.findIndex((member) => member.name === name);
    const { clock, logger } = this.#deps;
    void clock.sleep(renewalMs.settle + turn * renewalMs.turn, this.#stopping.signal).then(
      () => this.#renew().catch((error: unknown) => logger.error('certificates are not renewed', { error: String(error) })),
      () => {},
    );
  }
  /** The members with which etcd began are kept; it knows its present members itself. */
  async #join(): Promise<void> {
    const { clock, logger } = this.#deps;
    const { signal } = this.#stopping;
    const path = join(this.#config.directory, 'membership.json');
    const known = hasData(this.#config) ? await readFileIfExists(path) : undefined;
    const membership = known
      ? (JSON.parse(known.toString('utf8')) as Membership)
      : await membershipOf(this.#config, { clock, logger, signal });
    await atomicWrite(path, JSON.stringify(membership), { mode: 0o600 });
    await this.#write('etcd', membership, '');
    await whileMember(this.#config, { clock, logger, signal });
  }
  async #write(program: ControlPlaneProgram, membership: Membership, certificates: string): Promise<void> {
    const text = formatYaml(staticPod(program, { config: this.#config, membership, certificates }));
    const written = this.#written(program);
    if ((await readFileIfExists(written))?.toString('utf8') === text) return;
    // Beside the folder that the kubelet looks into, until it is whole.
    const whole = join(kubernetesDir, `.${program}.yaml`);
    await writeFile(whole, text, { mode: 0o600 });
    await rename(whole, manifestPath(program));
    await atomicWrite(written, text, { mode: 0o600 });
  }
}
