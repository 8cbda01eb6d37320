// `sagong node list|add|stop|start|reboot|terminate|drain|remove`.
import { adminClient, dataDirOf, drainNode, type NodeCommands, nodeCommands, removeNode } from '#cluster';
import { systemClock } from '#host';
import { programOf } from '../process/program.ts';
import { say } from '../process/say.ts';

interface Flags {
  name: string;
  dataDir?: string;
  type?: string;
}

const actions = {
  list: async (commands: NodeCommands) => say(await commands.list()),
  add: async (commands: NodeCommands, node: string | undefined, { type }: Flags) => {
    const name = await commands.add(node, type);
    say(`The instance of ${name} runs; see it join with: kubectl get nodes --watch`);
  },
  stop: async (commands: NodeCommands, node = '') => {
    await commands.stop(node);
    say(`The instance of ${node} is stopped; its Node will be NotReady, and marked as shut down`);
  },
  start: async (commands: NodeCommands, node = '') => {
    await commands.start(node);
    say(`The instance of ${node} runs`);
  },
  reboot: async (commands: NodeCommands, node = '') => {
    await commands.reboot(node);
    say(`The instance of ${node} was started anew`);
  },
  terminate: async (commands: NodeCommands, node = '') => {
    await commands.terminate(node);
    say(`The instance of ${node} is gone; its Node is deleted when it is no longer Ready`);
  },
};

export async function runNode(action: keyof typeof actions, node: string | undefined, flags: Flags): Promise<void> {
  const dataDir = dataDirOf(flags.name, flags.dataDir);
  const commands = await nodeCommands({ dataDir, program: programOf(), clock: systemClock() });
  try {
    await actions[action](commands, node, flags);
  } finally {
    commands.close();
  }
}

/** Drains or removes a node through the API alone, wherever its machine is. */
export async function runNodeAway(action: 'drain' | 'remove', node: string, flags: Flags): Promise<void> {
  const clock = systemClock();
  const dataDir = dataDirOf(flags.name, flags.dataDir);
  const client = adminClient(dataDir, clock);
  try {
    if (action === 'drain') await drainNode(client, node, clock, say);
    else await removeNode(client, node, dataDir, clock, say);
  } finally {
    client.close();
  }
}
