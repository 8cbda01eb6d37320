// A kube-apiserver in memory behind TLS on a free port of loopback, for tests of what goes over the wire: the token `admin` is an administrator's.
import { defaultOptions, type KubeApiServer, type KubeApiServerOptions, runKubeApiServer } from '#apiserver/app';
import { systemClock, systemRng } from '#host';
import { generateKeyPair, privateKeyPem } from '#pki';
import { type Logger, silentLogger } from '#utils';

/** Resolves when it serves, with `more` options than those of all such tests. Whoever starts it closes it. */
export async function startApiServer(
  logger: Logger = silentLogger,
  more: Partial<KubeApiServerOptions> = {},
): Promise<KubeApiServer> {
  const server = await runKubeApiServer(
    {
      ...defaultOptions(),
      securePort: 0,
      bindAddress: '127.0.0.1',
      tokenFile: 'admin,admin,1,system:masters\n',
      serviceAccountIssuers: ['https://kubernetes.default.svc'],
      serviceAccountSigningKey: privateKeyPem(generateKeyPair().privateKey),
      ...more,
    },
    { clock: systemClock(), rng: systemRng(), logger },
  );
  await server.started;
  return server;
}
