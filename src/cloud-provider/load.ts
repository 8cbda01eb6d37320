// Finds a provider by `--cloud-provider` and builds it from `--cloud-config` (k8s.io/cloud-provider plugins.go, InitCloudProvider): built-in
// ones come as a table, all others are modules, looked for from the folder of the configuration; those of vendors also beside Sagong.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseYaml } from '#apimachinery/codec';
import { providerProblem } from './checked.ts';
import { ConfigError, validateConfig } from './config-schema.ts';
import { cloudProviderApiVersion, type CloudProviderDefinition } from './define.ts';
import { configBytesMax } from './limits.ts';
import { defaultFlagValues } from './flags.ts';
import type { CloudProvider, CreateContext } from './types.ts';

export interface LoadCloudProviderOptions {
  /** `--cloud-provider`: the name of a built-in one, of a vendor, a path (`./cloud.mjs`) or the name of an npm package. */
  provider: string;
  /** `--cloud-config`: path of the configuration, or ''. */
  configFile: string;
  /** Built-in ones by name; loaded when asked for. */
  builtIn: Readonly<Record<string, () => Promise<CloudProviderDefinition>>>;
  /** npm packages of vendors by name; default `vendorPackages`. */
  vendors?: Readonly<Record<string, string>>;
}

export interface LoadedCloudProvider {
  name: string;
  cloud: CloudProvider;
}

/** Vendors whose provider is a package of its own, so that nobody installs SDKs of clouds they do not use. */
export const vendorPackages: Readonly<Record<string, string>> = {
  aws: '@sagong/cloud-provider-aws',
  azure: '@sagong/cloud-provider-azure',
  digitalocean: '@sagong/cloud-provider-digitalocean',
  gce: '@sagong/cloud-provider-gcp',
  linode: '@sagong/cloud-provider-linode',
  oci: '@sagong/cloud-provider-oci',
  cce: '@sagong/cloud-provider-baidu',
};

/** A provider that cannot be used; the message says what to do. */
export class CloudProviderLoadError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'CloudProviderLoadError';
  }
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

type Import = (url: string) => Promise<unknown>;
const ownImport: Import = async (url) => (await import(url)) as unknown;
/** A program that was compiled ahead may not be able to import; then the one that started it has left a function that can (bin/sagong.mjs). */
const importFile = (path: string): Promise<unknown> => {
  const given = (globalThis as { [key: symbol]: Import | undefined })[Symbol.for('sagong.import')];
  return (given ?? ownImport)(pathToFileURL(path).href);
};

/** A file of a package that is made of ES modules only, which `require.resolve` does not find: node_modules folders, nearest first. */
async function moduleEntry(name: string, subpath: string, dir: string): Promise<string | undefined> {
  for (let at = dir; ; at = dirname(at)) {
    const folder = join(at, 'node_modules', name);
    const text = await readFile(join(folder, 'package.json'), 'utf8').catch(() => undefined);
    if (text !== undefined) {
      const { exports, main = 'index.js' } = JSON.parse(text) as { exports?: unknown; main?: string };
      const found = exportedEntry(exportsAt(exports, subpath)) ?? (subpath === '.' ? main : undefined);
      return found === undefined ? undefined : join(folder, found);
    }
    if (dirname(at) === at) return undefined;
  }
}

/** What `exports` says of a subpath (https://nodejs.org/api/packages.html#subpath-exports). */
function exportsAt(exports: unknown, subpath: string): unknown {
  const hasSubpaths = typeof exports === 'object' && exports !== null && Object.keys(exports).some((key) => key.startsWith('.'));
  if (!hasSubpaths) return subpath === '.' ? exports : undefined;
  return Object.hasOwn(exports, subpath) ? (exports as Record<string, unknown>)[subpath] : undefined;
}

/** The path that `import` takes of what `exports` says (https://nodejs.org/api/packages.html#conditional-exports). */
function exportedEntry(exports: unknown): string | undefined {
  if (typeof exports === 'string') return exports;
  if (typeof exports !== 'object' || exports === null) return undefined;
  for (const [condition, target] of Object.entries(exports))
    if (['node', 'import', 'module-sync', 'default'].includes(condition)) {
      const found = exportedEntry(target);
      if (found !== undefined) return found;
    }
  return undefined;
}

/** A file of an npm package, as seen from a folder. `subpath`: `.`, or as in `exports`. */
async function packageEntry(name: string, dir: string, subpath = '.'): Promise<string | undefined> {
  try {
    return createRequire(join(dir, 'cloud-config')).resolve(name + subpath.slice(1));
  } catch {
    return moduleEntry(name, subpath, dir);
  }
}

/** This installation: providers that were installed beside it are found without a folder of their own. */
const ownDir = dirname(fileURLToPath(import.meta.url));

async function locate(provider: string, vendorPackage: string | undefined, configDir: string): Promise<string | undefined> {
  if (isAbsolute(provider)) return provider;
  if (provider.startsWith('.')) return resolve(configDir, provider);
  if (vendorPackage === undefined) return packageEntry(provider, configDir);
  return (await packageEntry(vendorPackage, configDir)) ?? packageEntry(vendorPackage, ownDir);
}

function notFound({ provider, builtIn, vendors = vendorPackages }: LoadCloudProviderOptions, configDir: string): Error {
  const vendorPackage = vendors[provider];
  if (vendorPackage !== undefined)
    return new CloudProviderLoadError(
      `cloud provider "${provider}" is the npm package ${vendorPackage}, which is found neither from ${configDir} nor beside sagong: npm install ${vendorPackage}`,
    );
  const known = [Object.keys(builtIn).sort().join(', ') || 'none', Object.keys(vendors).sort().join(', ') || 'none'];
  return new CloudProviderLoadError(
    `unknown cloud provider "${provider}": built in are ${known[0]}; packages of vendors are ${known[1]}; no npm package of that name is found from ${configDir}`,
  );
}

/** Another module of a vendor's package, by the name of its provider: `emulator` is `<package>/emulator`. Throws `CloudProviderLoadError`. */
export async function importVendorModule(provider: string, name: string): Promise<unknown> {
  const wanted = { provider, configFile: '', builtIn: {} };
  const vendorPackage = vendorPackages[provider] ?? provider;
  const find = (dir: string): Promise<string | undefined> => packageEntry(vendorPackage, dir, `./${name}`);
  const path = (await find(process.cwd())) ?? (await find(ownDir));
  if (path === undefined) throw notFound(wanted, process.cwd());
  return importFile(path);
}

const isDefinition = (value: unknown): value is CloudProviderDefinition =>
  typeof value === 'object' && value !== null && 'name' in value && 'create' in value && typeof value.create === 'function';

function definitionIn(module: unknown, provider: string): CloudProviderDefinition {
  let found = (module as { default?: unknown }).default;
  // A CommonJS module's exports, compiled from an ES module.
  if (!isDefinition(found) && typeof found === 'object' && found !== null && 'default' in found) found = found.default;
  if (!isDefinition(found))
    throw new CloudProviderLoadError(
      `cloud provider "${provider}": its module has no defineCloudProvider(...) as default export`,
    );
  return found;
}

/**
 * The definition that `--cloud-provider` names; undefined for '' and `external`, which mean none. Throws `CloudProviderLoadError`. A module is
 * loaded once, however often it is asked for.
 */
export async function findCloudProvider(options: LoadCloudProviderOptions): Promise<CloudProviderDefinition | undefined> {
  const { provider, builtIn, vendors = vendorPackages } = options;
  if (provider === '' || provider === 'external') return undefined;
  const configDir = configDirOf(options);
  const known = Object.hasOwn(builtIn, provider) ? builtIn[provider] : undefined;
  if (known) return known();
  const path = await locate(provider, Object.hasOwn(vendors, provider) ? vendors[provider] : undefined, configDir);
  if (path === undefined) throw notFound(options, configDir);
  let module: unknown;
  try {
    module = await importFile(path);
  } catch (error) {
    const hint = /Cannot find package 'sagong['/]/.test(textOf(error)) ? ' (npm install sagong beside it)' : '';
    throw new CloudProviderLoadError(`cloud provider "${provider}" cannot be loaded: ${textOf(error)}${hint}`, error);
  }
  return definitionIn(module, provider);
}

const configDirOf = ({ configFile }: LoadCloudProviderOptions): string =>
  configFile === '' ? process.cwd() : dirname(resolve(configFile));

async function readConfig(path: string): Promise<string> {
  if (path === '') return '';
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw new CloudProviderLoadError(`couldn't open cloud provider configuration ${path}: ${textOf(error)}`, error);
  }
  if (text.length > configBytesMax)
    throw new CloudProviderLoadError(`cloud provider configuration ${path} is larger than ${configBytesMax} bytes`);
  return text;
}

const parseDefault = (text: string): unknown => (text.trim() === '' ? {} : parseYaml(text).value);

/**
 * Finds, checks and builds a provider. Throws `CloudProviderLoadError` or `ConfigError`, each with a message for the user; undefined for
 * `--cloud-provider` '' and `external`, which mean none.
 */
export async function loadCloudProvider(
  options: LoadCloudProviderOptions,
  { clock, rng, logger, metrics, flags }: Pick<CreateContext<unknown>, 'clock' | 'rng' | 'logger' | 'metrics' | 'flags'>,
): Promise<LoadedCloudProvider | undefined> {
  const { configFile } = options;
  const definition = await findCloudProvider(options);
  if (!definition) return undefined;
  const text = await readConfig(configFile);
  const { name, apiVersion } = definition;
  if (apiVersion !== cloudProviderApiVersion)
    throw new CloudProviderLoadError(
      `cloud provider "${name}" is written for ${apiVersion}, this manager speaks ${cloudProviderApiVersion}`,
    );
  let raw: unknown;
  try {
    raw = (definition.parseConfig ?? parseDefault)(text);
  } catch (error) {
    throw new ConfigError(name, [`${configFile}: ${textOf(error)}`]);
  }
  const config = validateConfig(name, definition.configSchema, raw);
  let cloud: CloudProvider;
  try {
    cloud = await definition.create({
      config,
      configDir: configDirOf(options),
      clock,
      ...(rng && { rng }),
      logger: logger.with({ cloudProvider: name }),
      ...(metrics && { metrics }),
      flags: flags ?? defaultFlagValues(definition.flags),
    });
  } catch (error) {
    throw new CloudProviderLoadError(`could not init cloud provider "${name}": ${textOf(error)}`, error);
  }
  const problem = providerProblem(cloud);
  if (problem !== undefined) throw new CloudProviderLoadError(`could not init cloud provider "${name}": ${problem}`);
  return { name, cloud };
}
