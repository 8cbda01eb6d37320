import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { openSync, rmSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { handOver, takeOver, without } from './handed-over.ts';

/** What a child finds that is started with these words. */
async function found(words: Record<string, string>): Promise<string> {
  const handed = handOver(words, ['ignore', 'pipe', 'inherit']);
  const child = spawn('sh', ['-c', 'echo "at $SAGONG_HANDED_OVER"; cat 2>/dev/null <&3'], handed.options);
  handed.send(child);
  let said = '';
  child.stdout?.on('data', (chunk: Buffer) => (said += chunk.toString()));
  await once(child, 'close');
  return said;
}

it('a child finds them in a pipe, and nothing where there are none', async () => {
  const words = { token: 'a', certificateKey: 'b'.repeat(64) };
  expect(await found(words)).toBe(`at 3\n${JSON.stringify(words)}`);
  expect(await found({})).toMatch(/^at \n/);
});

it.each([
  ['{"token":"a"}', { token: 'a' }],
  ['', {}],
])('what is read from %j is taken once', (text, words) => {
  const { stdout } = spawnSync('mktemp', { encoding: 'utf8' });
  const file = stdout.trim();
  writeFileSync(file, text);
  const env: NodeJS.ProcessEnv = { SAGONG_HANDED_OVER: String(openSync(file, 'r')) };
  rmSync(file);
  expect([takeOver(env), takeOver(env), env]).toEqual([words, {}, {}]);
});

it('nobody waits for a child that never reads', async () => {
  const handed = handOver({ token: 'a' }, ['ignore', 'ignore', 'ignore']);
  const child = spawn('false', handed.options);
  handed.send(child);
  expect(await once(child, 'exit')).toEqual([1, null]);
});

it('a process that nobody gave anything takes nothing', () => {
  expect(takeOver()).toEqual({});
});

it('no word of the flags stays', () => {
  const words = ['join', 'a:1', '--token', 's', '--node-name=b', '--certificate-key=k', '--token=t', '--detach', '--token'];
  expect(without(words, ['--token', '--certificate-key'])).toEqual(['join', 'a:1', '--node-name=b', '--detach']);
});
