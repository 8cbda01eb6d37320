// docs/contributing.md, "I want to add a control loop": a folder whose definition is pure, what asks and acts beside it, and its name in the list. This test
// follows the recipe in a copy of the room and runs the loop.
import { expect, test } from 'vitest';
import type { ConfigMap } from '#api/core/v1';
import { configMaps } from '#controller-runtime/platform';
import type * as controllers from '#controllers';
import { startWorld } from '../controllers-world.ts';
import { importing, replacing, treeWith } from './tree.ts';

/** The folder that a contributor writes. The type of an action's input holds on both sides. */
const definition = `// Counts the words of ConfigMaps that have a text.
import type { ConfigMap } from '#api/core/v1';
import { splitKey } from '#apimachinery/meta';
import { action, defineController, ownKey, watch } from '#controller-runtime';
import { configMaps } from '#controller-runtime/platform';
import { allow } from '#controller-runtime/workload';
import { counted } from './actions.ts';

const measure = action<{ configMap: ConfigMap; words: string[] }>('measure');

export const wordCounterController = defineController<ConfigMap | undefined>({
  name: 'word-counter-controller',
  for: configMaps,
  concurrency: { flag: 'concurrent-word-counter-syncs', default: 2 },
  rights: [allow('get,list,patch,watch', 'core', 'configmaps')],
  watches: [watch<ConfigMap>({ resource: configMaps, keys: (configMap) => ownKey(configMap) })],
  view(key, cache) {
    const { namespace, name } = splitKey(key);
    return cache.get<ConfigMap>(configMaps, namespace, name);
  },
  reconcile(configMap) {
    const text = configMap?.data?.['text'];
    if (!configMap || text === undefined || configMap.metadata.labels?.['words']) return { effects: [] };
    return { effects: [measure.on({ configMap, words: text.split(' ') })], because: 'Its words are not counted yet.' };
  },
  actions: () => [measure.by(({ configMap, words }) => counted(configMap, words))],
});
`;
const actions = `// Measures something outside the apiserver.
import type { ConfigMap } from '#api/core/v1';
import type { Plan } from '#controller-runtime';
import { configMaps, mergePatch } from '#controller-runtime/platform';

export async function counted(configMap: ConfigMap, words: readonly string[]): Promise<Plan> {
  return { effects: [mergePatch(configMaps, configMap, { metadata: { labels: { words: String(words.length) } } })] };
}
`;
const tree = treeWith('controllers', {
  'wordcounter/index.ts': definition,
  'wordcounter/actions.ts': actions,
  'index.ts': importing(
    "import { wordCounterController } from './wordcounter/index.ts';",
    replacing('  tokenCleaner,\n', '  tokenCleaner,\n  wordCounterController,\n'),
  ),
});

test('a loop is one folder and its name: it acts, and explains itself by resource and name', async () => {
  const { createControllers, defaultControllersConfig } = await tree.load<typeof controllers>('index.ts');
  const loop = createControllers(defaultControllersConfig).find(({ name }) => name === 'word-counter-controller');
  if (!loop) throw new Error('the loop is not in the list');
  const world = await startWorld([loop]);
  try {
    await world.create(configMaps, { metadata: { name: 'poem' }, data: { text: 'one two three' } } as ConfigMap);
    const words = await world.until('counting', async () => {
      const { metadata } = await world.get<ConfigMap>(configMaps, 'poem');
      return metadata.labels?.['words'];
    });
    expect(words).toBe('3');
    expect(world.decisions.about({ group: '', resource: 'configmaps', key: 'default/poem' })).toMatchObject([
      { controller: 'word-counter-controller', because: 'Its words are not counted yet.', effects: ['measure'] },
    ]);
    expect(world.decisions.about({ group: '', resource: 'secrets', key: 'default/poem' })).toEqual([]);
    expect(world.complaints).toEqual([]);
  } finally {
    await world.close();
  }
});
