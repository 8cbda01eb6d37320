// A file that a flag names and that cannot be used is told at once, also while the store does not answer, and in the words that are said once it does.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { kubeApiServerFlags, optionsFromFlags, runKubeApiServer } from '#apiserver/app';
import { parseFlags } from '#component-base';
import { systemClock, systemRng } from '#host';
import { generateKeyPair, privateKeyPem } from '#pki';
import { silentLogger } from '#utils';

let folder = '';
let file = '';
let key = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'named-files-'));
  file = join(folder, 'file');
  key = join(folder, 'sa.key');
  await writeFile(key, privateKeyPem(generateKeyPair().privateKey));
});
afterAll(() => rm(folder, { recursive: true }));

/** Nobody listens at the etcd: a server that gets as far waits for it. */
const start = async (flags: readonly string[]): Promise<void> => {
  const argv = [
    ...['--etcd-servers=http://127.0.0.1:1', '--secure-port=0', '--bind-address=127.0.0.1'],
    ...['--service-account-issuer=https://own.example', `--service-account-key-file=${key}`],
    ...[`--service-account-signing-key-file=${key}`, ...flags],
  ];
  const { values, changed } = parseFlags(kubeApiServerFlags(), argv);
  const deps = { clock: systemClock(), rng: systemRng(), logger: silentLogger };
  await runKubeApiServer(await optionsFromFlags(values, changed as ReadonlySet<string>), deps);
};

const words: readonly (readonly string[])[] = [
  ['--authorization-config=FILE'],
  ['--authentication-config=FILE'],
  ['--audit-policy-file=FILE', '--audit-log-path=-'],
  ['--admission-control-config-file=FILE'],
  ['--encryption-provider-config=FILE'],
  ['--token-auth-file=FILE'],
  ['--client-ca-file=FILE'],
  ['--requestheader-client-ca-file=FILE'],
  ['--tls-cert-file=FILE', '--tls-private-key-file=FILE'],
  ['--service-account-key-file=FILE'],
  ['--service-account-signing-key-file=FILE'],
  ['--authorization-mode=Webhook', '--authorization-webhook-config-file=FILE'],
  ['--authentication-token-webhook-config-file=FILE'],
];

it.each(words.map((flags) => [flags]))('%j', async (flags) => {
  const named = flags.map((word) => word.replace('FILE', file));
  await rm(file, { force: true });
  await expect(start(named)).rejects.toThrow(/ENOENT|no such file/);
  await writeFile(file, 'apiVersion: v1\nkind: Nothing\nusers: "\n');
  await expect(start(named)).rejects.toThrow();
});

it.each([
  ['client-ca-file', 'client-ca-bundle'],
  ['requestheader-client-ca-file', 'request-header'],
])('%s is named', async (flag, name) => {
  await writeFile(file, 'nothing');
  const why = 'data does not contain any valid RSA or ECDSA certificates';
  await expect(start([`--${flag}=${file}`])).rejects.toThrow(`error loading CA bundle for "${name}::${file}": ${why}`);
});
