import { mkdtemp, mkdir, readdir, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { linkLog, logLink, logLinksDir, removeDeadLinks, unlinkLog } from './links.ts';

let root: string;
let logs: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'sagong-links-'));
  logs = join(root, 'pods');
});
afterEach(() => rm(root, { recursive: true, force: true }));

const container = { id: 'abc', name: 'app', podName: 'web', namespace: 'default' };

describe('links to logs', () => {
  it('are named after pod, namespace, container and id, and fit into a file name', () => {
    expect(logLink('/var/log/pods', container)).toBe('/var/log/containers/web_default_app-abc.log');
    const long = basename(logLink('/var/log/pods', { ...container, podName: 'p'.repeat(250) }));
    expect([long.length, long.endsWith('.log')]).toEqual([255, true]);
  });
  it('are made once, and removed with their container', async () => {
    await linkLog(logs, container, join(logs, 'a', '0.log'));
    await linkLog(logs, container, join(logs, 'a', '0.log'));
    expect(await readlink(logLink(logs, container))).toBe(join(logs, 'a', '0.log'));
    await unlinkLog(logs, container);
    await unlinkLog(logs, container);
    expect(await readdir(logLinksDir(logs))).toEqual([]);
  });
  it("go when they lead to a log that is gone; what is not the kubelet's stays", async () => {
    await mkdir(logs, { recursive: true });
    await writeFile(join(logs, 'living.log'), '');
    await linkLog(logs, { ...container, id: 'living' }, join(logs, 'living.log'));
    await linkLog(logs, { ...container, id: 'dead' }, join(logs, 'dead.log'));
    await symlink('/nowhere/else', join(logLinksDir(logs), 'foreign.log'));
    await writeFile(join(logLinksDir(logs), 'position.db'), '');
    await removeDeadLinks(logs);
    expect((await readdir(logLinksDir(logs))).sort()).toEqual(['foreign.log', 'position.db', 'web_default_app-living.log']);
  });
  it('are looked for in vain where none were made', async () => {
    await expect(removeDeadLinks(logs)).resolves.toBeUndefined();
  });
});
