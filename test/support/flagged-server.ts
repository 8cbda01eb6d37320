// A whole apiserver that is started by flags, for tests of what they mean.
import { defaultOptions, type KubeApiServer, kubeApiServerFlags, optionsFromFlags, runKubeApiServer } from '#apiserver/app';
import { parseFlags } from '#component-base';
import { systemClock, systemRng } from '#host';
import { generateKeyPair as serviceKey, privateKeyPem, publicKeyPem } from '#pki';
import { silentLogger } from '#utils';
import { createWireClient } from '#wire';

export interface Surroundings {
  /** Writes a file, and resolves with its path. */
  file(name: string, content: unknown): Promise<string>;
  /** It is called in reverse when the test is over. */
  closing: (() => Promise<void> | void)[];
}

/** A server with these flags beside what every server needs. */
export async function serveWithFlags({ file, closing }: Surroundings, flags: readonly string[]) {
  const service = serviceKey();
  const key = await file('sa.key', privateKeyPem(service.privateKey));
  const publicKey = await file('sa.pub', publicKeyPem(service.publicKey));
  const argv: string[] = [
    ...[`--service-account-issuer=https://own.example`, `--service-account-key-file=${publicKey}`],
    ...[`--service-account-signing-key-file=${key}`, '--secure-port=0', '--bind-address=127.0.0.1', ...flags],
  ];
  const { values, changed } = parseFlags(kubeApiServerFlags(), argv);
  const options = await optionsFromFlags(values, changed as ReadonlySet<string>);
  const server: KubeApiServer = await runKubeApiServer(
    { ...options, serviceClusterIpRange: defaultOptions().serviceClusterIpRange },
    { clock: systemClock(), rng: systemRng(), logger: silentLogger },
  );
  closing.push(() => server.close());
  await server.started;
  const client = createWireClient({ baseUrl: server.url, tls: { insecureSkipVerify: true } });
  closing.push(() => client.close());
  const send = async (token: string | undefined, method: string, path: string, body?: object, more: object = {}) => {
    const answer = await client.request({
      method,
      path,
      headers: { ...(token && { authorization: `Bearer ${token}` }), 'content-type': 'application/json', ...more },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, text, value: (text.startsWith('{') ? JSON.parse(text) : {}) as Record<string, unknown> };
  };
  const whoIs = async (token: string) => {
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
    const { status, value } = await send(token, 'POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', review);
    return status === 201 ? (value['status'] as { userInfo: object }).userInfo : status;
  };
  /** Why a token is refused. */
  const refusal = async (token: string): Promise<string> => {
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } };
    const { value } = await send(server.loopbackToken, 'POST', '/apis/authentication.k8s.io/v1/tokenreviews', review);
    return (value['status'] as { error?: string } | undefined)?.error ?? '';
  };
  return { server, send, whoIs, refusal };
}
