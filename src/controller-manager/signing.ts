// `--cluster-signing-*`: the authority that signs certificate requests, one for all signers or one each (pkg/controller/certificates/signer).
import { readFileSync } from 'node:fs';
import { type Flag, flag } from '#component-base';
import type { ControllersConfig } from '#controllers';

const section = 'Csrsigning controller';
const text = (name: string, help: string): Flag<string> => flag.string({ name, default: '', help, section });

export const signingFlags = () => ({
  clusterSigningCertFile: text('cluster-signing-cert-file', 'Authority that signs certificate requests.'),
  clusterSigningKeyFile: text('cluster-signing-key-file', 'Key of --cluster-signing-cert-file.'),
  clusterSigningDurationMs: flag.duration({
    name: 'cluster-signing-duration',
    default: 31_536_000_000,
    help: 'Longest validity of a signed certificate.',
    section,
  }),
  kubeletServingCertFile: text('cluster-signing-kubelet-serving-cert-file', 'Authority of kubernetes.io/kubelet-serving.'),
  kubeletServingKeyFile: text('cluster-signing-kubelet-serving-key-file', 'Its key.'),
  kubeletClientCertFile: text(
    'cluster-signing-kubelet-client-cert-file',
    'Authority of kubernetes.io/kube-apiserver-client-kubelet.',
  ),
  kubeletClientKeyFile: text('cluster-signing-kubelet-client-key-file', 'Its key.'),
  kubeApiserverClientCertFile: text(
    'cluster-signing-kube-apiserver-client-cert-file',
    'Authority of kubernetes.io/kube-apiserver-client.',
  ),
  kubeApiserverClientKeyFile: text('cluster-signing-kube-apiserver-client-key-file', 'Its key.'),
  legacyUnknownCertFile: text('cluster-signing-legacy-unknown-cert-file', 'Authority of kubernetes.io/legacy-unknown.'),
  legacyUnknownKeyFile: text('cluster-signing-legacy-unknown-key-file', 'Its key.'),
});

type SigningFlags = { [K in keyof ReturnType<typeof signingFlags>]: K extends 'clusterSigningDurationMs' ? number : string };

type ClusterSigner = NonNullable<ControllersConfig['clusterSigning']>;

const single = ['kubeletServing', 'kubeletClient', 'kubeApiserverClient', 'legacyUnknown'] as const;
const nameOf = {
  kubeletServing: 'kubernetes.io/kubelet-serving',
  kubeletClient: 'kubernetes.io/kube-apiserver-client-kubelet',
  kubeApiserverClient: 'kubernetes.io/kube-apiserver-client',
  legacyUnknown: 'kubernetes.io/legacy-unknown',
} as const;

/** The authorities. Throws for half a pair, for files that cannot be read, and for one authority beside single ones. */
export function signersOf(flags: SigningFlags): Pick<ControllersConfig, 'clusterSigning' | 'clusterSigners'> {
  const durationMs = flags.clusterSigningDurationMs;
  const read = (certFile: string, keyFile: string, what: string): ClusterSigner | undefined => {
    if (certFile === '' && keyFile === '') return undefined;
    if (certFile === '' || keyFile === '') throw new Error(`${what}: certificate and key must be given together`);
    return { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8'), durationMs };
  };
  const all = read(flags.clusterSigningCertFile, flags.clusterSigningKeyFile, '--cluster-signing-cert-file');
  const each = single.flatMap((name): [string, ClusterSigner][] => {
    const signer = read(flags[`${name}CertFile`], flags[`${name}KeyFile`], `the authority of ${nameOf[name]}`);
    return signer ? [[nameOf[name], signer]] : [];
  });
  if (all && each.length > 0)
    throw new Error('cannot specify --cluster-signing-{cert,key}-file and other --cluster-signing-*-file flags at the same time');
  return {
    ...(all && { clusterSigning: all }),
    ...(each.length > 0 && { clusterSigners: Object.fromEntries(each) }),
  };
}
