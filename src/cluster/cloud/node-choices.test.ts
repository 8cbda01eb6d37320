// What pods have put on their node's disk, when a cluster starts again with other choices.
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type ClusterPki, openPki } from '../certificates/certificates.ts';
import { agentConfigPath } from '../state/paths.ts';
import { updateNodes } from './node-choices.ts';

let dir = '';
let pki: ClusterPki;
const config = { nodeName: 'node-1', apiserver: { host: '10.77.0.10', port: 6443 }, clusterDns: '10.96.0.10' };
const choices = {
  networkPolicy: true,
  proxyMode: undefined,
  cni: undefined,
  componentArgs: { kubelet: ['--v=2'] },
  nodeArgs: {},
};
const kept = async (name: string): Promise<Record<string, unknown>> =>
  JSON.parse(await readFile(agentConfigPath(dir, name), 'utf8')) as Record<string, unknown>;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'sagong-choices-'));
  pki = await openPki(join(dir, 'pki'));
  for (const name of ['node-1', 'node-2']) await mkdir(join(dir, 'nodes', name), { recursive: true });
  await mkdir(join(dir, 'victim'));
});
afterEach(() => rm(dir, { recursive: true }));

it('writes nothing where a disk says that the node is', async () => {
  await writeFile(agentConfigPath(dir, 'node-1'), JSON.stringify({ ...config, nodeDir: join(dir, 'victim') }));
  await updateNodes(dir, pki, choices);
  expect(await readdir(join(dir, 'victim'))).toEqual([]);
  const path = join(dir, 'nodes', 'node-1', 'network-policy.kubeconfig');
  expect(await kept('node-1')).toMatchObject({ networkPolicyKubeconfig: path, kubeletArgs: ['--v=2'] });
});

it.each(['{{', 'null', '"text"', '{}', '{"nodeName":"node-1","apiserver":null}'])(
  'leaves %s to the agent of that node, and brings the others to the choices',
  async (text) => {
    await writeFile(agentConfigPath(dir, 'node-1'), text);
    await writeFile(agentConfigPath(dir, 'node-2'), JSON.stringify({ ...config, nodeName: 'node-2' }));
    await updateNodes(dir, pki, { ...choices, nodeArgs: { 'node-2': ['--max-pods=7'], 'node-3': ['--max-pods=8'] } });
    expect(await readFile(agentConfigPath(dir, 'node-1'), 'utf8')).toBe(text);
    expect(await kept('node-2')).toMatchObject({ kubeletArgs: ['--v=2', '--max-pods=7'] });
  },
);

it('follows no link', async () => {
  const victim = join(dir, 'victim', 'agent.json');
  await writeFile(victim, JSON.stringify(config));
  await symlink(victim, agentConfigPath(dir, 'node-1'));
  await updateNodes(dir, pki, choices);
  expect(JSON.parse(await readFile(victim, 'utf8'))).toEqual(config);
});
