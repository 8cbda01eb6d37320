// TLS of a server: one default certificate, more by server name, all replaceable while running.
import { randomBytes } from 'node:crypto';
import { createSecureContext, type SecureContext, type SecureContextOptions } from 'node:tls';
import { limits } from '../limits.ts';
import type { ServerTls, ServingCertificate } from './options.ts';

/** Suites without CBC and without RSA key exchange: what is offered where nobody chose others (CIS Kubernetes Benchmark 1.2.29, 4.2.12). */
const safeCiphers = [
  ...['TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256', 'TLS_AES_128_GCM_SHA256'],
  ...['ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-RSA-AES128-GCM-SHA256', 'ECDHE-ECDSA-AES256-GCM-SHA384'],
  ...['ECDHE-RSA-AES256-GCM-SHA384', 'ECDHE-ECDSA-CHACHA20-POLY1305', 'ECDHE-RSA-CHACHA20-POLY1305'],
].join(':');

const contextOptions = (tls: ServerTls, { cert, key }: ServingCertificate): SecureContextOptions => ({
  cert,
  key,
  ...(tls.ca !== undefined && { ca: tls.ca as SecureContextOptions['ca'] }),
  ciphers: tls.ciphers ?? safeCiphers,
  ...(tls.curves !== undefined && { ecdhCurve: tls.curves }),
  minVersion: tls.minVersion ?? 'TLSv1.2',
});

/** Throws the library's error where nothing can be served with these. */
export const assertServable = (tls: ServerTls): void => void createSecureContext(contextOptions(tls, tls));

export type SniCallback = (serverName: string, done: (error: Error | null, context?: SecureContext) => void) => void;

export interface ServerContexts {
  /** For `createSecureServer` and `setSecureContext`, which throw where nothing can be served with them. */
  defaults(): SecureContextOptions;
  sniCallback: SniCallback;
  /** Validates first: throws and keeps the old ones when the new are unusable. */
  replace(tls: ServerTls): void;
  /** Session tickets are encrypted with these; one set per process start, shared by all listeners of the server. */
  readonly ticketKeys: Buffer;
}

export function serverContexts(initial: ServerTls): ServerContexts {
  let current = initial;
  let bySource = new Map<ServingCertificate, SecureContext>();
  const contextFor = (chosen: ServingCertificate): SecureContext => {
    let context = bySource.get(chosen);
    if (context === undefined) {
      if (bySource.size >= limits.sniContextsMax) bySource.clear();
      context = createSecureContext(contextOptions(current, chosen));
      bySource.set(chosen, context);
    }
    return context;
  };
  return {
    defaults: () => contextOptions(current, current),
    sniCallback(serverName, done) {
      try {
        const chosen = current.sni?.(serverName);
        // Without a context of its own the connection goes on with the default one.
        if (chosen === undefined) done(null);
        else done(null, contextFor(chosen));
      } catch (error) {
        done(error as Error);
      }
    },
    replace(tls) {
      assertServable(tls);
      current = tls;
      bySource = new Map();
    },
    ticketKeys: randomBytes(48),
  };
}
