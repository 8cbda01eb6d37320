// GET /logs/: files and folders of the node's own logs, as Go's file server shows them (upstream kubelet.go ServeLogs). Links that lead out of the
// directory are not followed.
import { readdir } from 'node:fs/promises';
import { Descriptor, holding, openInside } from '#host';
import type { WireResponse } from '#wire';
import { RequestError } from './lookup.ts';

const html = { 'content-type': 'text/html; charset=utf-8' };
const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&#34;', "'": '&#39;' };
const escaped = (text: string): string => text.replace(/[&<>"']/g, (char) => escapes[char] ?? char);

async function listing(directory: Descriptor): Promise<string> {
  const entries = await readdir(directory.path, { withFileTypes: true });
  const names = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort();
  const lines = names.map(
    (name) => `<a href="${escaped(encodeURI(name).replace(/[?#]/g, encodeURIComponent))}">${escaped(name)}</a>\n`,
  );
  return `<!doctype html>\n<meta name="viewport" content="width=device-width">\n<pre>\n${lines.join('')}</pre>\n`;
}

async function sendFile(found: Descriptor, response: WireResponse): Promise<void> {
  const file = await found.openForReading();
  try {
    response.head(200, { 'content-type': 'text/plain; charset=utf-8' });
    for await (const chunk of file.createReadStream({ autoClose: false })) {
      response.write(chunk as Buffer);
      await response.drain();
      if (response.destroyed) return;
    }
    response.end();
  } finally {
    await file.close();
  }
}

/** `path`: below `/logs`, as it was asked for: a folder ends in a slash. */
export async function serveSystemLogs(directory: string, path: string, response: WireResponse): Promise<void> {
  const isFolder = path === '' || path.endsWith('/');
  try {
    await holding(Descriptor.at(directory), (root) =>
      holding(openInside(root, path, { realPath: directory }), async (found) => {
        if (!found.info.isDirectory()) return sendFile(found, response);
        // Links of the listing are relative to it.
        if (!isFolder) return response.send(301, { location: `${path.slice(path.lastIndexOf('/') + 1)}/` }, '');
        response.send(200, html, await listing(found));
      }),
    );
  } catch (error) {
    if (response.headSent) throw error;
    throw new RequestError(404, '404 page not found\n');
  }
}
