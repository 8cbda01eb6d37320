// Removes certificate requests that nobody needs any more (pkg/controller/certificates/cleaner).
import type { CertificateSigningRequest } from '#api/certificates/v1';
import { type ControllerDefinition, defineController, ownKey, type Plan, watch } from '#controller-runtime';
import { certificateSigningRequests, refOf } from '#controller-runtime/platform';
import { parseCertificate, PkiError } from '#pki';
import { hasCondition, isIssued, pemOf } from './request.ts';
import { rights, serviceAccount } from './rights.ts';

type Csr = CertificateSigningRequest;

const hourMs = 3_600_000;
const decidedMs = hourMs;
const pendingMs = 24 * hourMs;

const older = (time: string | null | undefined, ageMs: number, now: number): boolean => now - Date.parse(time ?? '') > ageMs;

function isExpired({ status }: Csr, now: number): boolean {
  try {
    return now > parseCertificate(pemOf(status?.certificate)).notAfter;
  } catch (error) {
    if (error instanceof PkiError) return false;
    throw error;
  }
}

/** Why the request may go; undefined: it stays. */
export function whyObsolete(request: Csr, now: number): string | undefined {
  const conditions = request.status?.conditions ?? [];
  if (conditions.length === 0)
    return older(request.metadata.creationTimestamp, pendingMs, now) ? 'nobody decided about it' : undefined;
  for (const { type, lastUpdateTime } of conditions) {
    if (type === 'Denied' && older(lastUpdateTime, decidedMs, now)) return 'it was denied';
    if (type === 'Failed' && older(lastUpdateTime, decidedMs, now)) return 'it failed';
    if (type !== 'Approved') continue;
    if (isIssued(request) && older(lastUpdateTime, decidedMs, now)) return 'its certificate was issued';
    if (!isIssued(request) && older(lastUpdateTime, pendingMs, now)) return 'its certificate was never issued';
  }
  return hasCondition(request, 'Approved') && isIssued(request) && isExpired(request, now)
    ? 'its certificate is expired'
    : undefined;
}

export interface CleaningView {
  request: Csr | undefined;
}

export const csrCleanerController: ControllerDefinition = defineController<CleaningView>({
  name: 'certificatesigningrequest-cleaner-controller',
  aliases: ['csrcleaner'],
  for: certificateSigningRequests,
  serviceAccount,
  rights,
  watches: [watch<Csr>({ resource: certificateSigningRequests })],
  periodic: { everyMs: hourMs, keys: (cache) => cache.list<Csr>(certificateSigningRequests).flatMap(ownKey) },
  view: (key, cache) => ({ request: cache.get<Csr>(certificateSigningRequests, '', key) }),
  reconcile({ request }, now): Plan {
    const why = request && whyObsolete(request, now);
    if (!request || why === undefined) return { effects: [] };
    return {
      effects: [{ op: 'delete', ref: refOf(certificateSigningRequests, request) }],
      because: `The request is kept no longer: ${why}.`,
    };
  },
});
