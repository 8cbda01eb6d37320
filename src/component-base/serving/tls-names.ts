// Go's names for TLS in OpenSSL's words (k8s.io/component-base/cli/flag ciphersuites_flag.go; IANA registries of TLS parameters). Pure.

/** TLS 1.2 suites. Those of TLS 1.3 cannot be chosen, upstream either. */
const cipherSuites: Readonly<Record<string, string>> = {
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: 'ECDHE-ECDSA-AES128-GCM-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: 'ECDHE-ECDSA-AES256-GCM-SHA384',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: 'ECDHE-ECDSA-AES128-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA: 'ECDHE-ECDSA-AES256-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256: 'ECDHE-ECDSA-AES128-SHA256',
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: 'ECDHE-RSA-AES128-GCM-SHA256',
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: 'ECDHE-RSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: 'ECDHE-RSA-AES128-SHA',
  TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA: 'ECDHE-RSA-AES256-SHA',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256: 'ECDHE-RSA-AES128-SHA256',
  TLS_RSA_WITH_AES_128_GCM_SHA256: 'AES128-GCM-SHA256',
  TLS_RSA_WITH_AES_256_GCM_SHA384: 'AES256-GCM-SHA384',
  TLS_RSA_WITH_AES_128_CBC_SHA: 'AES128-SHA',
  TLS_RSA_WITH_AES_256_CBC_SHA: 'AES256-SHA',
  TLS_RSA_WITH_AES_128_CBC_SHA256: 'AES128-SHA256',
  TLS_AES_128_GCM_SHA256: '',
  TLS_AES_256_GCM_SHA384: '',
  TLS_CHACHA20_POLY1305_SHA256: '',
};

const curves: Readonly<Record<string, string>> = {
  23: 'P-256',
  24: 'P-384',
  25: 'P-521',
  29: 'X25519',
  4587: 'SecP256r1MLKEM768',
  4588: 'X25519MLKEM768',
  4589: 'SecP384r1MLKEM1024',
};

const versions: Readonly<Record<string, 'TLSv1.2' | 'TLSv1.3'>> = {
  '': 'TLSv1.2',
  VersionTLS10: 'TLSv1.2',
  VersionTLS11: 'TLSv1.2',
  VersionTLS12: 'TLSv1.2',
  VersionTLS13: 'TLSv1.3',
};

/** An OpenSSL cipher list; undefined for none. Throws an Error with upstream's text for an unknown name. */
export function opensslCiphers(names: readonly string[]): string | undefined {
  const list = names.map((name) => {
    const suite = cipherSuites[name];
    if (suite === undefined) throw new Error(`Cipher suite ${name} not supported or doesn't exist`);
    return suite;
  });
  if (list.length === 0) return undefined;
  // Server preference and the suites of TLS 1.3 stay as they are. Where no other was asked for, TLS 1.2 is not spoken.
  const chosen = [...new Set(list)].filter((suite) => suite !== '');
  return ['TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256', 'TLS_AES_128_GCM_SHA256', ...chosen].join(':');
}

/** OpenSSL's list of groups; undefined for none. Throws an Error for an unknown number. */
export function opensslCurves(numbers: readonly string[]): string | undefined {
  if (numbers.length === 0) return undefined;
  return numbers
    .map((number) => {
      const name = curves[number];
      if (name === undefined) throw new Error(`unknown TLS curve ${number}`);
      return name;
    })
    .join(':');
}

/** Throws an Error with upstream's text for an unknown version. */
export function minTlsVersion(name: string): 'TLSv1.2' | 'TLSv1.3' {
  const version = versions[name];
  if (version === undefined) throw new Error(`unknown tls version "${name}"`);
  return version;
}
