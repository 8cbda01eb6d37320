// Allows one process for each folder: two clouds on one journal would destroy it. The lock is an abstract unix socket (unix(7)), which ends with its
// process however that ends. Other systems than Linux do not have these, and there is no lock there.
import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { createServer } from 'node:net';
import { isErrno } from '#host';

/** Rejects when a living process, this one included, has the folder. */
export async function holdExclusively(dir: string): Promise<{ release(): Promise<void> }> {
  if (process.platform !== 'linux') return { release: () => Promise.resolve() };
  const name = createHash('sha256')
    .update(await realpath(dir))
    .digest('hex');
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) =>
      reject(isErrno(error, 'EADDRINUSE') ? new Error(`another cloud is running on ${dir}`) : error),
    );
    server.listen({ path: `\0sagong-cloud-${name}` }, resolve);
  });
  server.unref();
  return { release: () => new Promise((resolve) => server.close(() => resolve())) };
}
