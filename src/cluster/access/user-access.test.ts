import { expect, it } from 'vitest';
import { accessBy } from './user-access.ts';

const server = { host: 'ab12cd.local-1.eks.sagong.internal', port: 443 };
const publicServer = { url: 'https://198.18.5.3:443', serverName: server.host };
const byName = { server: `https://${server.host}:443` };
const byAddress = { server: publicServer.url, serverName: server.host };

it.each([
  ['by its name where this machine knows it', publicServer, ['198.18.5.3'], byName],
  ['by its address where the name means another cluster', publicServer, ['198.18.7.3'], byAddress],
  ['by its name alone where it is private', undefined, [], byName],
])('an endpoint is reached %s', async (_how, at, means, access) => {
  expect(await accessBy({ server, publicServer: at }, () => Promise.resolve(means))).toEqual(access);
});

it('an endpoint is reached by its address where nobody knows its name', async () => {
  expect(await accessBy({ server, publicServer }, () => Promise.reject(new Error('ENOTFOUND')))).toEqual(byAddress);
});
