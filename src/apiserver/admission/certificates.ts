// Who may approve, sign, and ask for what (plugin/pkg/admission/certificates).
import type { CertificateSigningRequest } from '#api/certificates/v1';
import { PkiError, parseCertificateRequest } from '#pki';
import { quote } from '#utils';
import type { Authorizer } from '../authorization/types.ts';
import type { AdmissionRequest } from '../registry/generic/admission.ts';
import { deny, handling, isFor, type PluginFactory } from './plugin.ts';

const group = 'certificates.k8s.io';
const resource = 'certificatesigningrequests';
const clientSigner = 'kubernetes.io/kube-apiserver-client';

/** Whether the user may `verb` for the signer, by its name or by its whole domain. */
async function mayForSigner(
  authorizer: Authorizer,
  { user }: AdmissionRequest,
  verb: string,
  signerName: string,
): Promise<boolean> {
  const domain = signerName.slice(0, signerName.indexOf('/'));
  for (const name of [signerName, `${domain}/*`]) {
    const target = { group, version: '*', resource: 'signers', subresource: '', namespace: '', name };
    if ((await authorizer.authorize({ user, verb, target })).allowed) return true;
  }
  return false;
}

export const certificateApproval: PluginFactory = ({ authorizer }) => ({
  name: 'CertificateApproval',
  handles: handling('UPDATE'),
  async validate(request) {
    if (!isFor(request, group, resource, 'approval')) return;
    const { signerName } = (request.oldObject as unknown as CertificateSigningRequest).spec;
    if (await mayForSigner(authorizer, request, 'approve', signerName)) return;
    throw deny(request, `user not permitted to approve requests with signerName ${quote(signerName)}`);
  },
});

export const certificateSigning: PluginFactory = ({ authorizer }) => ({
  name: 'CertificateSigning',
  handles: handling('UPDATE'),
  async validate(request) {
    if (!isFor(request, group, resource, 'status')) return;
    const old = request.oldObject as unknown as CertificateSigningRequest;
    const now = request.object as unknown as CertificateSigningRequest;
    const text = ({ status }: CertificateSigningRequest): string =>
      JSON.stringify([status?.certificate ?? '', status?.conditions ?? []]);
    if (text(old) === text(now)) return;
    if (await mayForSigner(authorizer, request, 'sign', old.spec.signerName)) return;
    throw deny(request, `user not permitted to sign requests with signerName ${quote(old.spec.signerName)}`);
  },
});

export const certificateSubjectRestriction: PluginFactory = () => ({
  name: 'CertificateSubjectRestriction',
  handles: handling('CREATE'),
  validate(request) {
    if (!isFor(request, group, resource)) return;
    const { spec } = request.object as unknown as CertificateSigningRequest;
    if (spec?.signerName !== clientSigner) return;
    try {
      const asked = parseCertificateRequest(Buffer.from(spec.request ?? '', 'base64').toString('latin1'));
      if (!asked.subject.organizations.includes('system:masters')) return;
    } catch (error) {
      if (error instanceof PkiError) throw deny(request, `failed to parse CSR: ${error.message}`);
      throw error;
    }
    throw deny(request, `use of ${clientSigner} signer with system:masters group is not allowed`);
  },
});
