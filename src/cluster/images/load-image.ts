// `sagong load-image`: an image archive into every node's containerd.
import { kMaxLength } from 'node:buffer';
import { once } from 'node:events';
import { connect } from 'node:net';
import { basename, relative } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { execCommand, readFileIfExists } from '#host';
import { importImage } from './index.ts';
import { containerdPaths } from '../nodes/index.ts';
import { atSocketOnDisk } from '../nodes/disk.ts';
import { clusterFlags, nodeDir } from '../state/paths.ts';
import { loadSettings, nodesOf } from '../state/settings.ts';

/** Whether somebody listens: the socket of a node that was stopped is still a file. */
async function answers(path: string): Promise<boolean> {
  const socket = connect({ path });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

const expected = '(expected is an archive made by "docker save", or an OCI layout tar)';

/** Images pack to a half or a third, zeros to a thousandth: what grows so far beyond that is made to fill memory. */
const unpackedBytesMax = (packedBytes: number): number => Math.min(64 * 2 ** 20 + 50 * packedBytes, kMaxLength);

/** The archive as containerd wants it: a compressed one is unpacked. Rejects with a sentence. */
export async function readArchive(path: string): Promise<Uint8Array> {
  const bytes = await readFileIfExists(path).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EISDIR' ? new Error(`${path} is a directory ${expected}`, { cause: error }) : error;
  });
  if (!bytes) throw new Error(`${path}: no such file ${expected}`);
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  try {
    return await promisify(gunzip)(bytes, { maxOutputLength: unpackedBytesMax(bytes.length) });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why =
      code === 'ERR_BUFFER_TOO_LARGE'
        ? `its ${bytes.length} bytes unpack to more than ${unpackedBytesMax(bytes.length)}; unpack it first`
        : message;
    throw new Error(`${path} cannot be unpacked: ${why}`, { cause: error });
  }
}

/** Ends when all are done with. Rejects with what went wrong, by node, and with who has it all the same. */
export async function inEach<N extends { name: string }>(nodes: readonly N[], load: (node: N) => Promise<void>): Promise<void> {
  const ends = await Promise.allSettled(nodes.map(load));
  const failed = nodes.flatMap(({ name }, at) => {
    const end = ends[at];
    return end?.status === 'rejected' ? [`${name}: ${(end.reason as Error).message}`] : [];
  });
  if (failed.length === 0) return;
  const loaded = nodes.filter((_, at) => ends[at]?.status === 'fulfilled').map(({ name }) => name);
  throw new Error([...failed, ...(loaded.length > 0 ? [`loaded into ${loaded.join(', ')} only`] : [])].join('\n'));
}

/**
 * Resolves with the nodes that do not run and so do not get it. Rejects with a sentence when there is no cluster, no archive or no node that runs.
 */
export async function loadImage(dataDir: string, path: string): Promise<string[]> {
  const settings = await loadSettings(dataDir);
  if (!settings) throw new Error(`there is no cluster in ${dataDir}`);
  if (settings.runtime === 'simulated')
    throw new Error('the nodes of this cluster are simulated: they run any image name and hold no images');
  const archive = await readArchive(path);
  const absent = await loadInto(dataDir, nodesOf(settings), archive);
  if (absent.length === nodesOf(settings).length)
    throw new Error(
      `the nodes of the cluster in ${dataDir} do not run; start it with: sagong up${clusterFlags(settings.name, dataDir)}`,
    );
  return absent;
}

/** Resolves with the nodes whose containerd does not answer. */
export async function loadInto(dataDir: string, names: readonly string[], archive: Uint8Array): Promise<string[]> {
  const atNode = <T>(name: string, use: (socket: string) => Promise<T>): Promise<T | undefined> => {
    const disk = nodeDir(dataDir, name);
    const { dir, socket } = containerdPaths(disk);
    return atSocketOnDisk(disk, relative(disk, dir), basename(socket), use);
  };
  const nodes = await Promise.all(names.map(async (name) => ({ name, runs: await atNode(name, answers) })));
  const load = async ({ name }: { name: string }): Promise<void> => {
    const imported = await atNode(name, async (socket) => {
      await importImage({ socket, exec: execCommand }, archive);
      return true;
    });
    if (!imported) throw new Error('its containerd is gone');
  };
  await inEach(
    nodes.filter(({ runs }) => runs),
    load,
  );
  return nodes.filter(({ runs }) => !runs).map(({ name }) => name);
}
