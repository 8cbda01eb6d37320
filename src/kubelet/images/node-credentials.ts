// Credentials of registries that somebody has put on a node for all of its pods, as Docker keeps them
// (https://kubernetes.io/docs/concepts/containers/images/#configuring-nodes-to-authenticate-to-a-private-registry).
import { constants, open } from 'node:fs/promises';
import { join } from 'node:path';
import { type DockerForm, type Entries, entriesIn } from './credentials.ts';

/** A larger one is not read: pods may write into folders of a node. */
const bytesMax = 1 << 20;

/** The text of a regular file. A pipe would keep the reader waiting. */
async function textOf(path: string): Promise<string | undefined> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const info = await file.stat();
      return info.isFile() && info.size <= bytesMax ? await file.readFile('utf8') : undefined;
    } finally {
      await file.close();
    }
  } catch {
    return undefined;
  }
}

const files = (rootDir: string, home: string): [path: string, form: DockerForm][] => [
  ...[rootDir, join(home, '.docker'), '/.docker'].map((folder): [string, DockerForm] => [join(folder, 'config.json'), 'json']),
  ...[rootDir, home, '/'].map((folder): [string, DockerForm] => [join(folder, '.dockercfg'), 'cfg']),
];

/** The credentials of the first file that has any, in the order in which upstream's kubelet looks. Files that cannot be read are passed over. */
export async function nodeCredentials(rootDir: string, home: string): Promise<Entries> {
  for (const [path, form] of files(rootDir, home)) {
    const text = await textOf(path);
    const entries = text === undefined ? undefined : entriesIn(text, form);
    if (entries) return entries;
  }
  return [];
}
