import { execFileSync } from 'node:child_process';
import { lstat, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { formatKubeconfig, kubeconfigFor, readKubeconfig } from '#client';
import { addUserContext, removeContextsOf, removeUserContext } from './user-kubeconfig.ts';

let dir = '';
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'user-kubeconfig-'));
});
afterEach(() => rm(dir, { recursive: true }));

const server = 'https://127.0.0.1:1';
const of = (name: string) => kubeconfigFor(name, { server });
async function fileWith(name: string): Promise<{ path: string; env: { KUBECONFIG: string } }> {
  const path = join(dir, 'config');
  if (name !== '') await writeFile(path, formatKubeconfig(of(name)));
  return { path, env: { KUBECONFIG: path } };
}
const current = (path: string): string => readKubeconfig(path)['current-context'];

describe("the user's current context", () => {
  it.each(['work', ''])('comes back when the cluster goes: %j', async (before) => {
    const { path, env } = await fileWith(before);
    const previous = await addUserContext(of('sagong'), '/data', env);
    expect([previous, current(path)]).toEqual([before, 'sagong']);
    // The second start finds its own.
    expect(await addUserContext(of('sagong'), '/data', env)).toBeUndefined();
    await removeUserContext({ name: 'sagong', server, previous }, env);
    expect([current(path), readKubeconfig(path).contexts.map(({ name }) => name)]).toEqual([before, before ? [before] : []]);
  });
  it('does not come back when it is gone, nor in the place of another choice', async () => {
    const { path, env } = await fileWith('work');
    await addUserContext(of('sagong'), '/data', env);
    await removeUserContext({ name: 'sagong', server, previous: 'gone' }, env);
    expect(current(path)).toBe('');
    await addUserContext(of('sagong'), '/data', env);
    await addUserContext(of('other'), '/elsewhere', env);
    await removeUserContext({ name: 'sagong', server, previous: 'work' }, env);
    expect(current(path)).toBe('other');
  });
  it('may be one of another file', async () => {
    const { path } = await fileWith('work');
    const first = join(dir, 'first');
    await writeFile(first, formatKubeconfig({ ...of('none'), 'current-context': 'work' }));
    const env = { KUBECONFIG: [first, path].join(delimiter) };
    const previous = await addUserContext(of('sagong'), '/data', env);
    await removeUserContext({ name: 'sagong', server, previous }, env);
    expect(current(first)).toBe('work');
  });
});

it('the context of a cluster whose directory is gone is known by it', async () => {
  const { path, env } = await fileWith('work');
  await addUserContext(of('sagong'), '/data', env);
  await addUserContext(of('other'), '/elsewhere', env);
  expect(await removeContextsOf('/data', env)).toBe(true);
  expect(readKubeconfig(path).contexts.map(({ name }) => name)).toEqual(['work', 'other']);
  expect(readKubeconfig(path).clusters.map(({ name }) => name)).toEqual(['work', 'other']);
  expect(current(path)).toBe('other');
  expect(await removeContextsOf('/data', env)).toBe(false);
  await addUserContext(of('work'), '/work', env);
  expect(await removeContextsOf('/work', env)).toBe(true);
  expect(current(path)).toBe('');
});

describe('a kubeconfig that is no plain file', () => {
  it('is changed where its link leads, and the link stays', async () => {
    const { path } = await fileWith('work');
    const link = join(dir, 'link');
    await symlink('config', link);
    const env = { KUBECONFIG: link };
    const previous = await addUserContext(of('sagong'), '/data', env);
    expect([(await lstat(link)).isSymbolicLink(), current(path)]).toEqual([true, 'sagong']);
    await removeUserContext({ name: 'sagong', server, previous }, env);
    expect([(await lstat(link)).isSymbolicLink(), current(path)]).toEqual([true, 'work']);
  });
  it('may be the link to nothing, or a device, which stays one', async () => {
    const link = join(dir, 'link');
    await symlink('not-there-yet', link);
    await addUserContext(of('sagong'), '/data', { KUBECONFIG: link });
    expect([(await lstat(link)).isSymbolicLink(), current(join(dir, 'not-there-yet'))]).toEqual([true, 'sagong']);
    // Root gets a device of the test's own: the machine's would be gone if this failed.
    const device = join(dir, 'null');
    if (process.getuid?.() === 0) execFileSync('mknod', [device, 'c', '1', '3']);
    else await symlink('/dev/null', device);
    await addUserContext(of('sagong'), '/data', { KUBECONFIG: device });
    expect((await stat(device)).isCharacterDevice()).toBe(true);
  });
});
