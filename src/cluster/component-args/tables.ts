// The flag tables of the components, each loaded when it is asked for, and checking what a user gave against them.
import { readFile } from 'node:fs/promises';
import { FlagError, type FlagTable, type ParsedFlags, parseFlags } from '#component-base';
import {
  type ArgComponent,
  type ComponentArgs,
  componentArgFlags,
  idleInSharedProcess,
  nameOf,
  ownedBy,
} from '../flags/component-args.ts';

const tables: Record<ArgComponent, () => Promise<FlagTable>> = {
  'kube-apiserver': async () => (await import('#apiserver/app')).kubeApiServerFlags(),
  'kube-controller-manager': async () => (await import('#controller-manager')).kubeControllerManagerFlags(),
  'kube-scheduler': async () => (await import('#scheduler')).kubeSchedulerFlags(),
  'cloud-controller-manager': async () => (await import('#cloud-controller-manager')).cloudControllerManagerFlags,
  kubelet: async () => (await import('#kubelet')).kubeletFlags,
  'kube-proxy': async () => (await import('#kube-proxy')).kubeProxyFlags,
};

const optionOf = (component: ArgComponent): string =>
  Object.entries(componentArgFlags).find(([, row]) => row.component === component)?.[0] ?? component;

/** Parses words of a component. Throws its own message, with the option of `up` before it. */
export function parseWords<F extends FlagTable>(component: ArgComponent, flags: F, words: readonly string[]): ParsedFlags<F> {
  try {
    return parseFlags(flags, words);
  } catch (error) {
    if (!(error instanceof FlagError)) throw error;
    throw new Error(`--${optionOf(component)}: ${error.message}`, { cause: error });
  }
}

/** What a component makes of its flags and of the files that they name, which it would refuse long after the start. Each gives warnings. */
const settled: Partial<Record<ArgComponent, (words: readonly string[]) => Promise<readonly string[]>>> = {
  async 'kube-apiserver'(words) {
    const { checkNamedFiles, kubeApiServerFlags, optionsFromFlags } = await import('#apiserver/app');
    const { values, changed } = parseWords('kube-apiserver', kubeApiServerFlags(), words);
    await checkNamedFiles(await optionsFromFlags(values, changed));
    return [];
  },
  async 'kube-scheduler'(words) {
    const { kubeSchedulerFlags, optionsFromFlags } = await import('#scheduler');
    const { values } = parseWords('kube-scheduler', kubeSchedulerFlags(), words);
    optionsFromFlags(values, values.config ? await readFile(values.config, 'utf8') : undefined);
    return [];
  },
  async kubelet(words) {
    const { kubeletFlags, kubeletSettings } = await import('#kubelet');
    const { values, changed } = parseWords('kubelet', kubeletFlags, words);
    return (await kubeletSettings(values, changed)).warnings;
  },
};

async function settle(component: ArgComponent, words: readonly string[]): Promise<readonly string[]> {
  try {
    return (await settled[component]?.(words)) ?? [];
  } catch (error) {
    throw new Error(`--${optionOf(component)}: ${(error as Error).message}`, { cause: error });
  }
}

/** Gives warnings of the components. Throws a sentence for what a component would refuse, and for what is the cluster's to decide. */
export async function checkComponentArgs(args: ComponentArgs, alone: (component: ArgComponent) => boolean): Promise<string[]> {
  const warnings: string[] = [];
  for (const [component, words = []] of Object.entries(args) as [ArgComponent, readonly string[]][]) {
    for (const word of words) {
      const why = ownedBy(component, nameOf(word), alone(component));
      if (why !== undefined) throw new Error(`--${optionOf(component)} ${nameOf(word)} cannot be set: ${why}`);
      const idle = alone(component) ? undefined : idleInSharedProcess(component, nameOf(word));
      if (idle !== undefined) warnings.push(`--${optionOf(component)} ${nameOf(word)} has no effect: ${idle}`);
    }
    const table = await (tables[component] as () => Promise<FlagTable>)();
    const told = [...parseWords(component, table, words).warnings];
    // What is on a machine of its own has the files of that one.
    if (!alone(component)) told.push(...(await settle(component, words)));
    warnings.push(...told.map((text) => `--${optionOf(component)}: ${text}`));
  }
  return warnings;
}
