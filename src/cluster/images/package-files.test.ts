import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { packageFiles } from './package-files.ts';
import { buildProgramImage } from './program-image.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'sagong-packages-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

async function write(files: Record<string, string | object>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(dir, name)), { recursive: true });
    await writeFile(join(dir, name), typeof content === 'string' ? content : JSON.stringify(content));
  }
}
const names = (name: string, root?: string) =>
  packageFiles(name, { from: dir, ...(root && { root }), target: 'm', without: ['left-out'] })
    .map((entry) => entry.name)
    .sort();

describe('the files of a package', () => {
  it('are its own and those of all it needs, each where Node finds it', async () => {
    await write({
      'node_modules/cloud/package.json': { dependencies: { sdk: '1', shared: '1', 'left-out': '1' } },
      'node_modules/cloud/index.js': '',
      'node_modules/cloud/index.d.ts': '',
      'node_modules/cloud/node_modules/shared/package.json': {},
      'node_modules/sdk/package.json': { dependencies: { shared: '2', cloud: '1' } },
      'node_modules/sdk/dist/deep/file.js': '',
      'node_modules/shared/package.json': {},
    });
    expect(names('cloud')).toEqual([
      'm/cloud/index.js',
      'm/cloud/node_modules/shared/package.json',
      'm/cloud/package.json',
      'm/sdk/dist/deep/file.js',
      'm/sdk/package.json',
      'm/shared/package.json',
    ]);
  });
  it('are those of its list only, also behind a link of a workspace', async () => {
    await write({
      'providers/cloud/package.json': { files: ['dist', './README.txt'], dependencies: {} },
      'providers/cloud/dist/index.js': '',
      'providers/cloud/src/index.ts': '',
      'providers/cloud/secret.env': '',
    });
    await mkdir(join(dir, 'node_modules', '@x'), { recursive: true });
    await symlink(join(dir, 'providers', 'cloud'), join(dir, 'node_modules', '@x', 'cloud'));
    expect(names('@x/cloud')).toEqual(['m/@x/cloud/dist/index.js', 'm/@x/cloud/package.json']);
  });
  it('must all be there', async () => {
    await write({ 'node_modules/cloud/package.json': { dependencies: { sdk: '1' } } });
    expect(() => names('cloud')).toThrow('sdk, which');
    expect(() => names('other')).toThrow('npm install other');
  });
});

it('an image of a program that is not built says what to do', () => {
  expect(() => buildProgramImage({ reference: 'a:1', packageRoot: dir })).toThrow('build sagong first: npm run build');
});
