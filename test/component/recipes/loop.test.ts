// docs/contributing.md, "I want to add a control loop": one definition says what its keys name, its rights, its watches, its action and its decision. This
// test follows the recipe and runs the loop.
import { expect, test } from 'vitest';
import type { ConfigMap } from '#api/core/v1';
import { splitKey } from '#apimachinery/meta';
import { action, defineController, ownKey, watch } from '#controller-runtime';
import { configMaps, mergePatch } from '#controller-runtime/platform';
import { allow } from '#controller-runtime/workload';
import { startWorld } from '../controllers-world.ts';

/** Measures something outside the apiserver; the type of its input holds on both sides. */
const measure = action<{ configMap: ConfigMap; words: string[] }>('measure');

const wordCounter = defineController<ConfigMap | undefined>({
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
  actions: () => [
    measure.by(async ({ configMap, words }) => ({
      effects: [mergePatch(configMaps, configMap, { metadata: { labels: { words: String(words.length) } } })],
    })),
  ],
});

test('a loop is one definition: it acts, and explains itself by resource and name', async () => {
  const world = await startWorld([wordCounter]);
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
