// CertificateSigning: who may sign requests of a signer (plugin/pkg/admission/certificates/signing).
import type { CertificateSigningRequest } from '#api/certificates/v1';
import { asKind } from '#apimachinery/meta';
import { quote } from '#utils';
import { group, mayForSigner, resource } from '../../certificates.ts';
import { definePlugin, deny, handling, isFor, type PluginFactory } from '../../plugin.ts';

export const certificateSigning: PluginFactory = ({ authorizer }) => ({
  name: 'CertificateSigning',
  handles: handling('UPDATE'),
  async validate(request) {
    if (!isFor(request, group, resource, 'status')) return;
    const old = asKind<CertificateSigningRequest>(request.oldObject);
    const now = asKind<CertificateSigningRequest>(request.object);
    const text = ({ status }: CertificateSigningRequest): string =>
      JSON.stringify([status?.certificate ?? '', status?.conditions ?? []]);
    if (text(old) === text(now)) return;
    if (await mayForSigner(authorizer, request, 'sign', old.spec.signerName)) return;
    throw deny(request, `user not permitted to sign requests with signerName ${quote(old.spec.signerName)}`);
  },
});

export const plugin = definePlugin('CertificateSigning', certificateSigning);
