// CertificateApproval: who may approve requests of a signer (plugin/pkg/admission/certificates/approval).
import type { CertificateSigningRequest } from '#api/certificates/v1';
import { asKind } from '#apimachinery/meta';
import { quote } from '#utils';
import { group, mayForSigner, resource } from '../../certificates.ts';
import { definePlugin, deny, handling, isFor, type PluginFactory } from '../../plugin.ts';

export const certificateApproval: PluginFactory = ({ authorizer }) => ({
  name: 'CertificateApproval',
  handles: handling('UPDATE'),
  async validate(request) {
    if (!isFor(request, group, resource, 'approval')) return;
    const { signerName } = asKind<CertificateSigningRequest>(request.oldObject).spec;
    if (await mayForSigner(authorizer, request, 'approve', signerName)) return;
    throw deny(request, `user not permitted to approve requests with signerName ${quote(signerName)}`);
  },
});

export const plugin = definePlugin('CertificateApproval', certificateApproval);
