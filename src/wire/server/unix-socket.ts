// Listening on a unix socket. Its name stays behind when its process is killed (unix(7)); it is taken away only when nobody listens on it.
import { lstatSync, rmSync } from 'node:fs';
import { connect, type Server } from 'node:net';

/** The length that sockaddr_un has for a path, without the final zero. */
const pathBytesMax = 107;

/** Whether somebody answers on the socket. */
function isServed(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const over = (served: boolean): void => {
      socket.destroy();
      resolve(served);
    };
    socket.once('connect', () => over(true));
    // A queue that is full (EAGAIN) or a right that is missing (EACCES) is somebody's; a refusal is nobody's.
    socket.once('error', (error: NodeJS.ErrnoException) => over(error.code !== 'ECONNREFUSED' && error.code !== 'ENOENT'));
  });
}

/** Readies a path for listening. Rejects with a sentence when it cannot be had. */
export async function freeUnixPath(path: string): Promise<void> {
  if (Buffer.byteLength(path) > pathBytesMax)
    throw new Error(`the path of a unix socket has at most ${pathBytesMax} bytes, this one has more: ${path}`);
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isSocket()) throw new Error(`${path} is not a socket; remove it, or choose another path`);
  if (await isServed(path)) throw new Error(`another process serves on ${path}`);
  rmSync(path, { force: true });
}

/** Listens on a path that only this user can open. */
export function listenOnPath(server: Server, path: string, listening: () => void): void {
  const mask = process.umask(0o177);
  try {
    // The name is made before this returns.
    server.listen(path, listening);
  } finally {
    process.umask(mask);
  }
}
