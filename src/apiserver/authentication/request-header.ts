// The front proxy's word for who the user is (k8s.io/apiserver/pkg/authentication/request/headerrequest): believed only over a connection
// whose client certificate is signed by the request-header authority and carries one of the allowed names.
import { own, setOwn } from '#utils';
import type { Credentials } from '../request/request.ts';
import type { RequestAuthenticator } from './types.ts';
import { headerValue, headerValues, unescapeKey } from './headers.ts';
import type { CertificateVerifier } from './x509.ts';

/** What the flags `--requestheader-*` say. Header names are in any case. */
export interface RequestHeaderOptions {
  verifier: CertificateVerifier;
  /** Empty: any name signed by the authority. */
  allowedNames: readonly string[];
  usernameHeaders: readonly string[];
  uidHeaders: readonly string[];
  groupHeaders: readonly string[];
  extraHeaderPrefixes: readonly string[];
}

const lower = (names: readonly string[]): string[] => names.map((name) => name.trim().toLowerCase());

function extraOf(source: Credentials, prefixes: readonly string[]): Record<string, string[]> {
  const extra: Record<string, string[]> = {};
  for (const prefix of prefixes) {
    for (const header of Object.keys(source.headers)) {
      if (!header.startsWith(prefix)) continue;
      const key = unescapeKey(header.slice(prefix.length));
      setOwn(extra, key, [...(own(extra, key) ?? []), ...headerValues(source.headers, header)]);
    }
  }
  return extra;
}

/** Makes the authenticator that believes the headers of a front proxy. */
export function createRequestHeaderAuthenticator(options: RequestHeaderOptions): RequestAuthenticator {
  const names = lower(options.usernameHeaders);
  const uids = lower(options.uidHeaders);
  const groups = lower(options.groupHeaders);
  const prefixes = lower(options.extraHeaderPrefixes);
  const first = (source: Credentials, headers: readonly string[]): string =>
    headers.map((header) => headerValue(source.headers, header)).find((value) => value !== '') ?? '';
  return {
    authenticate(source) {
      const name = first(source, names);
      // Most requests name nobody: they cost no verification.
      const leaf = name === '' ? undefined : options.verifier.verify(source.peerCertificates);
      if (!leaf) return undefined;
      const { commonName } = leaf.subject;
      if (options.allowedNames.length > 0 && !options.allowedNames.includes(commonName ?? '')) {
        throw new Error(`x509: subject with cn=${commonName ?? ''} is not in the allowed list`);
      }
      const uid = first(source, uids);
      const extra = extraOf(source, prefixes);
      return {
        user: {
          name,
          ...(uid !== '' && { uid }),
          groups: groups.flatMap((header) => headerValues(source.headers, header)).filter((group) => group !== ''),
          ...(Object.keys(extra).length > 0 && { extra }),
        },
      };
    },
  };
}
