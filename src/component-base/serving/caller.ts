// Who a caller of a component's own endpoints is, by what came with the connection: a front proxy's word, or a client certificate
// (k8s.io/apiserver authenticatorfactory DelegatingAuthenticatorConfig). Bearer tokens are the apiserver's to judge.
import { type ParsedCertificate, parseCertificates, verifyCertificate } from '#pki';
import type { Clock } from '#utils';

export interface User {
  username: string;
  uid?: string;
  groups: string[];
  extra?: Record<string, string[]>;
}

/** Whose word about users is believed, and in which headers it is. */
export interface RequestHeaderOptions {
  /** PEM. */
  ca: string;
  /** Common names; none: all that `ca` signed. */
  allowedNames: readonly string[];
  usernameHeaders: readonly string[];
  uidHeaders: readonly string[];
  groupHeaders: readonly string[];
  extraHeaderPrefixes: readonly string[];
}

/** The authorities whose certificates say who calls, in PEM. */
export interface Authorities {
  clientCa?: string;
  requestHeader?: RequestHeaderOptions;
}

export interface CallerRequest {
  method: string;
  /** Without the query. */
  path: string;
  /** Names in lower case. */
  headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** What the client presented, verified or not. */
  certificate?: ParsedCertificate | undefined;
}

const valuesOf = (headers: CallerRequest['headers'], name: string): string[] =>
  [headers[name.trim().toLowerCase()] ?? []].flat().filter((value) => value !== '');

function extraOf(headers: CallerRequest['headers'], prefixes: readonly string[]): Record<string, string[]> {
  const extra = new Map<string, string[]>();
  for (const prefix of prefixes.map((one) => one.trim().toLowerCase()))
    for (const name of Object.keys(headers))
      if (name.startsWith(prefix)) extra.set(unescaped(name.slice(prefix.length)), valuesOf(headers, name));
  return Object.fromEntries(extra);
}

/** Escapes that are not well-formed stay as they are. */
function unescaped(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}

/** Knows callers by their client certificates. */
export class CertificateCallers {
  readonly #clock: Clock;
  readonly #clientRoots: readonly ParsedCertificate[];
  readonly #proxyRoots: readonly ParsedCertificate[];
  readonly #requestHeader: RequestHeaderOptions | undefined;

  /** Throws `PkiError` for authorities that are no certificates. */
  constructor({ clientCa, requestHeader }: Authorities, clock: Clock) {
    this.#clock = clock;
    this.#requestHeader = requestHeader;
    this.#clientRoots = clientCa === undefined ? [] : parseCertificates(clientCa);
    this.#proxyRoots = requestHeader === undefined ? [] : parseCertificates(requestHeader.ca);
  }
  /** The user that a certificate identifies; undefined where it identifies nobody, or there is none. Throws an Error for one that is not to be trusted. */
  identify({ headers, certificate }: CallerRequest): User | undefined {
    if (certificate === undefined) return undefined;
    const proxied = this.#proxied(headers, certificate);
    if (proxied) return proxied;
    if (this.#clientRoots.length === 0) return undefined;
    const problem = this.#problem(certificate, this.#clientRoots);
    if (problem !== undefined) throw new Error(problem);
    const { commonName, organizations } = certificate.subject;
    return commonName === '' ? undefined : { username: commonName, groups: [...organizations, 'system:authenticated'] };
  }
  #proxied(headers: CallerRequest['headers'], certificate: ParsedCertificate): User | undefined {
    const options = this.#requestHeader;
    const username = options?.usernameHeaders.flatMap((name) => valuesOf(headers, name))[0];
    if (!options || username === undefined || this.#problem(certificate, this.#proxyRoots) !== undefined) return undefined;
    const { commonName } = certificate.subject;
    if (options.allowedNames.length > 0 && !options.allowedNames.includes(commonName))
      throw new Error(`x509: subject with cn=${commonName} is not in the allowed list`);
    const [uid] = options.uidHeaders.flatMap((name) => valuesOf(headers, name));
    const groups = options.groupHeaders.flatMap((name) => valuesOf(headers, name));
    const extra = extraOf(headers, options.extraHeaderPrefixes);
    return {
      username,
      ...(uid !== undefined && { uid }),
      groups: groups.includes('system:authenticated') ? groups : [...groups, 'system:authenticated'],
      ...(Object.keys(extra).length > 0 && { extra }),
    };
  }
  #problem(certificate: ParsedCertificate, roots: readonly ParsedCertificate[]): string | undefined {
    return verifyCertificate(certificate, { roots, now: this.#clock.now(), usage: 'client auth' });
  }
}
