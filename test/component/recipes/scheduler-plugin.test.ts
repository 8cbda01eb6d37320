// docs/contributing.md, "I want to add a scheduler plugin": a folder, and its name in the registry. This test follows the recipe in a copy of the room
// and schedules with it.
import { expect, test } from 'vitest';
import type { runKubeScheduler } from '#scheduler';
import { createTestCluster, nodeOf, nodes, podOf, pods } from '../scheduler/cluster.ts';
import { importing, replacing, treeWith } from './tree.ts';

/** The folder that a contributor writes. */
const folder = `// Pods go only to nodes whose label says that they are awake.
import { interest, type Plugin, unresolvable } from '../../framework/index.ts';

const name = 'Awake';
const asleep = unresolvable(name, 'node(s) were asleep');

export const awake = ({ label = 'awake' } = {}): Plugin => ({
  name,
  local: true,
  events: [interest('Node', ['Add', 'UpdateNodeLabel'])],
  filter: (_state, node) => (node.node.metadata.labels?.[label] === 'true' ? undefined : asleep),
});
`;
const args = `// AwakeArgs of a profile.
import { z } from 'zod';
import { argsSchema } from '../../framework/args.ts';

export const awakeArgs = argsSchema('AwakeArgs', () => ({ label: z.string().optional() }));
`;
const tree = treeWith('scheduler', {
  'plugins/awake/index.ts': folder,
  'plugins/awake/args.ts': args,
  'registry.ts': importing(
    "import { awake } from './plugins/awake/index.ts';\nimport { awakeArgs } from './plugins/awake/args.ts';",
    replacing('  NodeName: plain(nodeName),', '  NodeName: plain(nodeName),\n  Awake: taking(awakeArgs, awake),'),
    replacing("  { name: 'NodeName' },", "  { name: 'NodeName' },\n  { name: 'Awake' },"),
  ),
});

test('a scheduler plugin is one folder and its name in the registry: it filters, is woken, gives its reason and reads its arguments', async () => {
  const { runKubeScheduler: run } = await tree.load<{ runKubeScheduler: typeof runKubeScheduler }>('index.ts');
  const cluster = await createTestCluster(
    { profiles: [{ pluginConfig: [{ name: 'Awake', args: { kind: 'AwakeArgs', label: 'up' } }] }] },
    run,
  );
  try {
    await cluster.client.resource(nodes).create(nodeOf('early', { metadata: { labels: { up: 'false' } } }));
    await cluster.client.resource(pods, 'default').create(podOf('web'));
    const waiting = await cluster.pod('web', ({ status }) => status?.conditions?.[0]?.reason === 'Unschedulable');
    expect(waiting.status?.conditions?.[0]?.message).toContain('0/1 nodes are available: 1 node(s) were asleep.');
    await cluster.client.resource(nodes).create(nodeOf('late', { metadata: { labels: { up: 'true' } } }));
    expect((await cluster.pod('web', ({ spec }) => Boolean(spec?.nodeName))).spec?.nodeName).toBe('late');
  } finally {
    await cluster.close();
  }
  const wrong = [{ pluginConfig: [{ name: 'Awake', args: { lable: 'up' } }] }];
  await expect(createTestCluster({ profiles: wrong }, run)).rejects.toThrow('unknown field "lable"');
});
