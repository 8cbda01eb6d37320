// `sagong node-agent` and `sagong control-plane-agent`: everything that runs on one machine of the cluster's cloud. Started inside its namespaces.
import { readFile } from 'node:fs/promises';
import { ControlPlaneAgent, type ControlPlaneConfig, type NodeAgentConfig, runNodeAgent } from '#cluster';
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

export async function runControlPlaneAgentCommand(path: string): Promise<void> {
  const config = JSON.parse(await readFile(path, 'utf8')) as ControlPlaneConfig;
  const agent = new ControlPlaneAgent(config, componentDeps('control-plane', logs));
  agent.start();
  await untilStopped(() => agent.stop());
}
