// An HTTPS server of tests that answers JSON, with a certificate of its own authority.
import { createCertificateAuthority, issueCertificate } from '#pki';
import { systemClock } from '#host';
import { silentLogger } from '#utils';
import { serve } from '#wire';

export interface Asked {
  method: string;
  path: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: string;
}

export interface TestServer {
  url: string;
  ca: string;
  readonly asked: Asked[];
  close(): Promise<void>;
}

export async function startHttpsServer(answer: (asked: Asked) => { status?: number; value: unknown }): Promise<TestServer> {
  const clock = systemClock();
  const ca = createCertificateAuthority({ commonName: 'test', clock });
  const pair = issueCertificate({
    ca,
    commonName: 'localhost',
    ips: ['127.0.0.1'],
    usages: ['digital signature', 'server auth'],
    clock,
  });
  const asked: Asked[] = [];
  const server = await serve({
    tls: { cert: pair.cert, key: pair.key },
    listen: { host: '127.0.0.1', port: 0 },
    logger: silentLogger,
    async onRequest(request, response) {
      const chunks: Uint8Array[] = [];
      for await (const chunk of request.body) chunks.push(chunk);
      const one = {
        method: request.method,
        path: request.path,
        headers: request.headers as Asked['headers'],
        body: Buffer.concat(chunks).toString(),
      };
      asked.push(one);
      const { status = 200, value } = answer(one);
      response.send(status, { 'content-type': 'application/json' }, JSON.stringify(value));
    },
  });
  return { url: `https://127.0.0.1:${server.port}`, ca: ca.cert, asked, close: () => server.close({ graceMs: 0 }) };
}
