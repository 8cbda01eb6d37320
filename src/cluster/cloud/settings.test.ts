// A damaged file of the cloud is named, and what was chosen once is not chosen anew.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { keepCloudSettings, openCloudSettings } from './settings.ts';

let dataDir: string;
const open = () => openCloudSettings(dataDir, () => Promise.resolve(new Set()));
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'sagong-cloud-'));
});
afterEach(() => rm(dataDir, { recursive: true }));

it.each(['cloud.json', 'customer.token', 'service.token'])('%s', async (name) => {
  const chosen = await open();
  await keepCloudSettings(chosen);
  const path = join(chosen.dir, name);
  const whole = await readFile(path, 'utf8');
  for (const content of ['', '\u0000\u0001\u0002garbage\u0000', '{}', 'null', '[1,null]']) {
    await writeFile(path, content);
    await expect(open()).rejects.toThrow(path);
    expect(await readFile(path, 'utf8')).toBe(content);
  }
  await writeFile(path, whole);
  const { serving: _, ...again } = await open();
  expect(again).toEqual({ ...again, customerToken: chosen.customerToken, publicCidr: chosen.publicCidr });
});
