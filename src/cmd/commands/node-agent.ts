// `sagong node-agent`: everything that runs on one real node. Started inside the node's namespaces.
import { readFile } from 'node:fs/promises';
import { type NodeAgentConfig, runNodeAgent } from '#cluster';
import { componentDeps, untilStopped } from '../component.ts';

const logs = { verbosity: 0, loggingFormat: 'text' } as const;

export async function runNodeAgentCommand(path: string): Promise<void> {
  const config = JSON.parse(await readFile(path, 'utf8')) as NodeAgentConfig;
  const agent = await runNodeAgent(config, {
    ...componentDeps('node', logs),
    logger: (component) => componentDeps(component, logs).logger,
  });
  await untilStopped(() => agent.stop());
}
