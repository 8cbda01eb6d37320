// Puts a profile together from the defaults and what the configuration changes (upstream apis/config/v1/default_plugins.go mergePlugins,
// framework/runtime expandMultiPointPlugins).
import type { Plugin, Profile, WeightedPlugin } from '../framework/index.ts';
import { ArgsError, type PluginFactory } from '../framework/args.ts';
import { defaultPlugins } from '../registry.ts';
import { ConfigurationError, type ExtensionPoint, type PluginEntry, type PluginSet, type ProfileConfig } from './types.ts';

/** Whether a plugin takes part in an extension point. */
const implementsPoint: Readonly<Record<ExtensionPoint, (plugin: Plugin) => boolean>> = {
  preEnqueue: ({ preEnqueue }) => preEnqueue !== undefined,
  queueSort: ({ compare }) => compare !== undefined,
  preFilter: ({ preFilter }) => preFilter !== undefined,
  filter: ({ filter }) => filter !== undefined,
  postFilter: ({ postFilter }) => postFilter !== undefined,
  preScore: ({ preScore }) => preScore !== undefined,
  score: ({ score }) => score !== undefined,
  reserve: ({ preBind }) => preBind !== undefined,
  permit: ({ permit }) => permit !== undefined,
  preBind: ({ preBind }) => preBind !== undefined,
  bind: ({ binds }) => binds === true,
  postBind: () => false,
};

/** The default set with the configuration's changes: replaced ones keep their place, new ones follow. */
function mergeDefaults(custom: PluginSet = {}): PluginEntry[] {
  const disabled = new Set(custom.disabled?.map(({ name }) => name));
  const enabled = new Map(custom.enabled?.map((entry) => [entry.name, entry]));
  const kept = defaultPlugins
    .filter(({ name }) => !disabled.has('*') && !disabled.has(name))
    .map((entry) => {
      const replacement = enabled.get(entry.name);
      if (replacement !== undefined) enabled.delete(entry.name);
      return replacement ?? entry;
    });
  return [...kept, ...enabled.values()];
}

/** The plugins of one extension point, in order: reconfigured ones, then multi-point ones, then the rest of its own. */
function pluginsAt(
  point: ExtensionPoint,
  own: PluginSet = {},
  multi: readonly PluginEntry[],
  all: ReadonlyMap<string, Plugin>,
): Plugin[] {
  const suits = implementsPoint[point];
  const enabled = new Set(own.enabled?.map(({ name }) => name));
  const disabled = new Set(own.disabled?.map(({ name }) => name));
  const get = (name: string): Plugin => all.get(name) as Plugin;
  for (const name of enabled) {
    if (!suits(get(name))) throw new ConfigurationError(`plugin ${JSON.stringify(name)} does not extend ${point} plugin`);
  }
  if (disabled.has('*')) return [...enabled].map(get);
  const common = multi.map(({ name }) => name).filter((name) => suits(get(name)) && !disabled.has(name));
  const overriding = [...enabled].filter((name) => common.includes(name));
  const rest = [...enabled].filter((name) => !common.includes(name));
  return [...overriding, ...common.filter((name) => !enabled.has(name)), ...rest].map(get);
}

function weigh(plugins: readonly Plugin[], own: PluginSet = {}, multi: readonly PluginEntry[]): WeightedPlugin[] {
  return plugins.map((plugin) => {
    const find = (entries: readonly PluginEntry[] = []): number | undefined =>
      entries.find(({ name }) => name === plugin.name)?.weight;
    return { plugin, weight: find(own.enabled) || find(multi) || 1 };
  });
}

function made(name: string, factory: PluginFactory, args: unknown): Plugin {
  try {
    return factory(args);
  } catch (error) {
    if (error instanceof ArgsError) throw new ConfigurationError(`decoding args for plugin ${name}: ${error.message}`);
    throw error;
  }
}

/** Makes a profile from its configuration over the defaults. Throws ConfigurationError. */
export function profileOf(config: ProfileConfig, factories: Readonly<Record<string, PluginFactory>>): Profile {
  const plugins = config.plugins ?? {};
  const multi = mergeDefaults(plugins.multiPoint);
  const args = new Map(config.pluginConfig?.map(({ name, args: own }) => [name, own]));
  const all = new Map<string, Plugin>();
  const named = Object.values(plugins).flatMap((set) => set?.enabled ?? []);
  for (const { name } of [...multi, ...named]) {
    const factory = Object.hasOwn(factories, name) ? factories[name] : undefined;
    if (factory === undefined) throw new ConfigurationError(`plugin ${JSON.stringify(name)} does not exist`);
    if (!all.has(name)) all.set(name, made(name, factory, args.get(name)));
  }
  const at = (point: ExtensionPoint): Plugin[] => pluginsAt(point, plugins[point], multi, all);
  const [queueSort, second] = at('queueSort');
  if (queueSort === undefined) throw new ConfigurationError('no queue sort plugin is enabled');
  if (second !== undefined) throw new ConfigurationError('only one queue sort plugin can be enabled');
  const bind = at('bind');
  if (bind.length === 0) throw new ConfigurationError('at least one bind plugin is needed');
  return {
    schedulerName: config.schedulerName ?? 'default-scheduler',
    preEnqueue: at('preEnqueue'),
    queueSort,
    preFilter: at('preFilter'),
    filter: at('filter'),
    postFilter: at('postFilter'),
    preScore: at('preScore'),
    score: weigh(at('score'), plugins.score, multi),
    permit: at('permit'),
    preBind: at('preBind'),
    bind,
  };
}
