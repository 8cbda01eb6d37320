// Links to the logs of containers with all that is known of a container in their names: log agents read them rather than the tree that they lead into
// (upstream pkg/kubelet/kuberuntime/legacy.go). They are beside the directory of all pods' logs: `/var/log/containers` for `/var/log/pods`.
import { mkdir, readdir, readlink, stat, symlink, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isErrno } from '#host';

const suffix = '.log';
const nameLengthMax = 255;

export const logLinksDir = (podLogsDir: string): string => join(dirname(podLogsDir), 'containers');

export interface LoggingContainer {
  id: string;
  name: string;
  podName: string;
  namespace: string;
}

export const logLink = (podLogsDir: string, { id, name, podName, namespace }: LoggingContainer): string =>
  join(logLinksDir(podLogsDir), `${`${podName}_${namespace}_${name}-${id}`.slice(0, nameLengthMax - suffix.length)}${suffix}`);

const unless = async (code: string, work: Promise<unknown>): Promise<void> => {
  try {
    await work;
  } catch (error) {
    if (!isErrno(error, code)) throw error;
  }
};

/** Makes the link of a container whose log is at `logPath`, unless it exists. */
export async function linkLog(podLogsDir: string, container: LoggingContainer, logPath: string): Promise<void> {
  await mkdir(logLinksDir(podLogsDir), { recursive: true, mode: 0o755 });
  await unless('EEXIST', symlink(logPath, logLink(podLogsDir, container)));
}

export const unlinkLog = (podLogsDir: string, container: LoggingContainer): Promise<void> =>
  unless('ENOENT', unlink(logLink(podLogsDir, container)));

/** Removes links that lead to logs which are gone; what somebody else put there stays. */
export async function removeDeadLinks(podLogsDir: string): Promise<void> {
  const directory = logLinksDir(podLogsDir);
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    const path = join(directory, entry.name);
    if (!entry.isSymbolicLink() || !(await readlink(path)).startsWith(`${podLogsDir}/`)) continue;
    const there = await stat(path).catch(() => undefined);
    if (there === undefined) await unless('ENOENT', unlink(path));
  }
}
