// What the plugins about certificate signing requests share (plugin/pkg/admission/certificates).
import type { Authorizer } from '../authorization/types.ts';
import type { AdmissionRequest } from '../registry/generic/admission.ts';

export const group = 'certificates.k8s.io';
export const resource = 'certificatesigningrequests';

/** Whether the user may `verb` for the signer, by its name or by its whole domain. */
export async function mayForSigner(
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
