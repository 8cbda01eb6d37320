// docs/contributing.md, "I want to add an admission plugin": a folder, its name in the list, and its place in the order. This test follows the recipe in a
// copy of the room and sends requests to a server that runs it.
import { expect, test } from 'vitest';
import type * as app from '#apiserver/app';
import { createClient } from '#client';
import { systemClock, systemRng } from '#host';
import { silentLogger } from '#utils';
import { importing, replacing, treeWith } from './tree.ts';

/** The folder that a contributor writes. */
const folder = `// OwnedConfigMaps: a ConfigMap says who looks after it.
import { definePlugin, deny, handling, isFor } from '../../plugin.ts';

export const plugin = definePlugin('OwnedConfigMaps', () => ({
  name: 'OwnedConfigMaps',
  handles: handling('CREATE'),
  validate(request) {
    if (!isFor(request, '', 'configmaps') || request.object?.metadata.labels?.['owner']) return;
    throw deny(request, 'a ConfigMap needs the label "owner"');
  },
}), { onByDefault: false });
`;
const tree = treeWith('apiserver', {
  'admission/plugins/owned-config-maps/index.ts': folder,
  'admission/plugins/index.ts': importing(
    "import { plugin as ownedConfigMaps } from './owned-config-maps/index.ts';",
    replacing('  nodeRestriction,\n', '  nodeRestriction,\n  ownedConfigMaps,\n'),
  ),
  'admission/chain.ts': replacing("  'MutatingAdmissionPolicy',\n", "  'OwnedConfigMaps',\n  'MutatingAdmissionPolicy',\n"),
});

test('an admission plugin is one folder, its name and its place: a flag switches it on, and it refuses as upstream words it', async () => {
  const { defaultOptions, runKubeApiServer } = await tree.load<typeof app>('app/index.ts');
  const start = (enableAdmissionPlugins: string[]) =>
    runKubeApiServer(
      {
        ...defaultOptions(),
        store: { etcdServers: [], dataDir: '' },
        bindAddress: '127.0.0.1',
        securePort: 0,
        enableAdmissionPlugins,
      },
      { clock: systemClock(), rng: systemRng(), logger: silentLogger },
    );
  const made = async (enable: string[], labels: Record<string, string>): Promise<string> => {
    const server = await start(enable);
    try {
      await server.started;
      const admin = { name: 'me', groups: ['system:masters', 'system:authenticated'] };
      const client = createClient(server.transport(admin, 'test'));
      const configMaps = client.resource({ group: '', version: 'v1', resource: 'configmaps' }, 'default');
      return await configMaps.create({ metadata: { name: 'one', labels } }).then(
        () => 'made',
        (error: Error) => error.message,
      );
    } finally {
      await server.close();
    }
  };
  expect(await made([], {})).toBe('made');
  expect(await made(['OwnedConfigMaps'], {})).toBe('configmaps "one" is forbidden: a ConfigMap needs the label "owner"');
  expect(await made(['OwnedConfigMaps'], { owner: 'me' })).toBe('made');
});
