import { expect, it } from 'vitest';
import { hostsToml, parseRegistryMirror } from './registry-mirrors.ts';

const toml = (text: string): string => hostsToml(parseRegistryMirror(text));
const host = '[host."http://10.0.0.5:5000"]\n  capabilities = ["pull", "resolve"]\n';

it.each(['http://10.0.0.5:5000', 'docker.io=http://10.0.0.5:5000/', '10.0.0.5:5000=http://10.0.0.5:5000'])(
  'the registry itself is asked for what the mirror %s does not have',
  (text) => expect(toml(text)).toBe(host),
);

it.each(['localhost:5001', '127.0.0.1:5001', 'localhost'])('there is nothing on a node behind %s but the mirror', (registry) =>
  expect(toml(`${registry}=http://10.0.0.5:5000`)).toBe(`server = "http://10.0.0.5:5000"\n${host}`),
);

it('a mirror is named by a URL', () => {
  expect(() => parseRegistryMirror('docker.io=10.0.0.5:5000')).toThrow('a registry mirror is [registry=]http(s)://host[:port]');
});
