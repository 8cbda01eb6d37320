// The script that makes releases, in a small repository with a remote past: what it refuses, what a dry run leaves, and what a release is.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';

const script = fileURLToPath(new URL('../../scripts/release.mjs', import.meta.url));
let dir: string;
let root: string;

const run = (command: string, ...args: string[]): Promise<{ code: number; text: string }> =>
  new Promise((resolve) => {
    const env = { ...process.env, HOME: dir, GIT_CONFIG_GLOBAL: '/dev/null' };
    execFile(command, args, { cwd: root, env }, (error, stdout, stderr) =>
      resolve({ code: error ? 1 : 0, text: stdout + stderr }),
    );
  });
const git = async (...args: string[]): Promise<string> => {
  const { code, text } = await run('git', ...args);
  expect(code, text).toBe(0);
  return text.trim();
};
const release = (...args: string[]): ReturnType<typeof run> =>
  run(process.execPath, script, ...args, '--output', join(dir, 'out'));
const write = async (name: string, text: string | object): Promise<void> => {
  await mkdir(dirname(join(root, name)), { recursive: true });
  await writeFile(join(root, name), typeof text === 'string' ? text : `${JSON.stringify(text, null, 2)}\n`);
};
const commit = async (): Promise<string> => {
  await git('add', '--all');
  return git('commit', '--quiet', '--message', 'a change');
};
const check = (code: string): string => `node -e "${code}"`;
const manifest = (checked = '') => ({
  name: 'boat',
  version: '0.1.0',
  files: ['dist'],
  workspaces: ['providers/*'],
  scripts: { build: check("fs.mkdirSync('dist'); fs.writeFileSync('dist/a', '')"), check: check(checked), test: check('') },
});

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'sagong-release-test-'));
  root = join(dir, 'boat');
  await mkdir(root);
  await git('init', '--quiet', '--initial-branch', 'main');
  await git('config', 'user.name', 'somebody');
  await git('config', 'user.email', 'somebody@example.com');
  await write('package.json', manifest());
  await write('providers/sea/package.json', {
    name: 'boat-on-sea',
    version: '0.1.0',
    peerDependencies: { sagong: '0.1.0' },
    peerDependenciesMeta: { sagong: { optional: true } },
  });
  await write('src/component-base/version.ts', "export const sagongVersion = '0.1.0';\n");
  await write('.gitignore', 'dist\nnode_modules\n');
  await write('CHANGELOG.md', '# Changelog\n\n## 0.1.0 (unreleased)\n\n- It floats.\n');
  expect((await run('npm', 'install', '--package-lock-only', '--offline')).code).toBe(0);
  await commit();
});
afterAll(async () => {
  await rm(dir, { recursive: true, force: true });
});

it('refuses what is no release, with a sentence', async () => {
  expect((await release('soon')).text).toContain('say the version');
  await write('more', 'not committed');
  expect((await release('0.1.0')).text).toContain('commit or remove what is not committed first');
  await rm(join(root, 'more'));
  await git('switch', '--quiet', '--create', 'aside');
  expect((await release('0.1.0')).text).toContain('releases are made of main, not of aside');
  await git('switch', '--quiet', 'main');
});

it('releases nothing when a check fails', async () => {
  await write('package.json', manifest('process.exit(3)'));
  await commit();
  const failed = await release('0.1.0');
  expect(failed).toMatchObject({ code: 1, text: expect.stringContaining('npm run check has failed; nothing was released') });
  expect([await git('tag'), await git('log', '-1', '--format=%s')]).toEqual(['', 'a change']);
  await git('reset', '--quiet', '--hard', 'HEAD~1');
});

it('leaves the repository as it was in a dry run, and makes commit, tag, packages and provenance in a release', async () => {
  const before = await git('rev-parse', 'HEAD');
  const dry = await release('0.2.0', '--dry-run');
  expect(dry, dry.text).toMatchObject({ code: 0, text: expect.stringContaining('dry run: 0.2.0 could be released') });
  expect([await git('rev-parse', 'HEAD'), await git('tag'), await git('status', '--porcelain')]).toEqual([before, '', '']);

  const real = await release('0.2.0');
  expect(real, real.text).toMatchObject({ code: 0, text: expect.stringContaining('git push origin main v0.2.0') });
  expect(await git('log', '-1', '--format=%s')).toBe('release: 0.2.0');
  expect(await git('rev-parse', 'v0.2.0^{commit}')).toBe(await git('rev-parse', 'HEAD'));
  expect(await readFile(join(root, 'CHANGELOG.md'), 'utf8')).toMatch(/^## 0\.2\.0 \(\d{4}-\d\d-\d\d\)$/m);
  expect(await readFile(join(root, 'src/component-base/version.ts'), 'utf8')).toContain("'0.2.0'");
  const provider = JSON.parse(await readFile(join(root, 'providers/sea/package.json'), 'utf8')) as object;
  expect(provider).toMatchObject({ version: '0.2.0', peerDependencies: { sagong: '0.2.0' } });

  const { subject, predicate } = JSON.parse(await readFile(join(dir, 'out/provenance.json'), 'utf8')) as {
    subject: { name: string; digest: { sha256: string } }[];
    predicate: { buildDefinition: { resolvedDependencies: { digest: object }[] } };
  };
  expect(subject.map(({ name }) => name)).toEqual(['boat-0.2.0.tgz', 'boat-on-sea-0.2.0.tgz']);
  for (const { name, digest } of subject) {
    const bytes = await readFile(join(dir, 'out', name));
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(digest.sha256);
  }
  expect(predicate.buildDefinition.resolvedDependencies[0]?.digest).toEqual({ gitCommit: await git('rev-parse', 'HEAD') });
  expect((await release('0.2.1')).text).toContain('nothing has changed');
});
