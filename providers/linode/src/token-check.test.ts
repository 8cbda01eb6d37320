import type { Logger } from 'sagong/cloud-provider';
import { manualClock, seededRng, testCluster } from 'sagong/cloud-provider/test-server';
import { expect, it, onTestFinished } from 'vitest';
import { startTestServer } from '../test-server/index.ts';
import { openProvider, silent } from '../test-server/world.ts';
import { watchToken } from './token-check.ts';
import { CallError } from 'sagong/cloud-provider/kit';

it('a token that the API does not take ends the start with --enable-token-health-checker', async () => {
  const clock = manualClock();
  const server = await startTestServer({ clock, rng: seededRng(1) });
  onTestFinished(() => server.close());
  const open = async (env: Record<string, string>, tokenChecker: boolean): Promise<void> => {
    const cloud = await openProvider(server, { clock, rng: seededRng(1) }, { env, flags: { tokenChecker } });
    await cloud.initialize?.({ client: testCluster().client, signal: new AbortController().signal });
  };
  await expect(open({ LINODE_API_TOKEN: 'old' }, true)).rejects.toThrow('linode api token from LINODE_API_TOKEN is invalid');
  await open({ LINODE_API_TOKEN: 'old' }, false);
});

it('one that is taken back later is told every five minutes', async () => {
  const clock = manualClock();
  const told: string[] = [];
  const logger: Logger = { ...silent, error: (message) => void told.push(message), warn: (message) => void told.push(message) };
  const end = new AbortController();
  let status = 200;
  const failed = () => new CallError('GetProfile', { kind: 'refused', status }, new Error('no'));
  const profile = () => (status === 200 ? Promise.resolve() : Promise.reject(failed()));
  const watching = watchToken({ profile }, { clock, logger, signal: end.signal });
  await clock.advance(300_000);
  status = 401;
  await clock.advance(300_000);
  status = 503;
  await clock.advance(300_000);
  end.abort();
  await watching;
  expect(told).toEqual(['detected invalid linode api token', 'unable to determine linode client authentication status']);
});
