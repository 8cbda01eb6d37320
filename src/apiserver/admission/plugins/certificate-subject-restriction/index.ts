// CertificateSubjectRestriction: nobody gets a client certificate of system:masters (plugin/pkg/admission/certificates/subjectrestriction).
import type { CertificateSigningRequest } from '#api/certificates/v1';
import { asKind } from '#apimachinery/meta';
import { PkiError, parseCertificateRequest } from '#pki';
import { group, resource } from '../../certificates.ts';
import { definePlugin, deny, handling, isFor, type PluginFactory } from '../../plugin.ts';

const clientSigner = 'kubernetes.io/kube-apiserver-client';

export const certificateSubjectRestriction: PluginFactory = () => ({
  name: 'CertificateSubjectRestriction',
  handles: handling('CREATE'),
  validate(request) {
    if (!isFor(request, group, resource)) return;
    const { spec } = asKind<CertificateSigningRequest>(request.object);
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

export const plugin = definePlugin('CertificateSubjectRestriction', certificateSubjectRestriction);
