// Rules of certificate signing requests (pkg/apis/certificates/validation).
import type { CertificateSigningRequest, CertificateSigningRequestCondition } from '#api/certificates/v1';
import { type FieldError, type Path, root } from '#apimachinery/field';
import {
  byteLength,
  dns1123LabelMaxLength,
  dns1123SubdomainMaxLength,
  isDNS1123Label,
  isDNS1123Subdomain,
} from '#apimachinery/validation';
import { quote, repeats } from '#utils';
import { semanticEqual } from '../../common/equality.ts';
import { collect, isEmpty, type Report } from '../../common/report.ts';
import { internalDiff } from '../../common/unified-diff.ts';
import type { KindContext } from '../../kind.ts';

type CSR = CertificateSigningRequest;

const conditionsPath = root('status', 'conditions');
const certificatePath = root('status', 'certificate');
const secondsMin = 600;
const legacySigner = 'kubernetes.io/legacy-unknown';
const finalTypes = ['Approved', 'Denied', 'Failed'];
const usages =
  'any|cert sign|client auth|code signing|content commitment|crl sign|data encipherment|decipher only|digital signature|email protection|encipher only|ipsec end system|ipsec tunnel|ipsec user|key agreement|key encipherment|microsoft sgc|netscape sgc|ocsp signing|s/mime|server auth|signing|timestamping'.split(
    '|',
  );

/** The ways to write a request: as a whole (''), or by a subresource that may set a part of the status. */
export type CertificateDoor = '' | 'status' | 'approval';

export const conditionsOf = ({ status }: CSR, type?: string): CertificateSigningRequestCondition[] =>
  (status?.conditions ?? []).filter((condition) => type === undefined || condition.type === type);

const hasDuplicates = (values: readonly unknown[]): boolean => new Set(values).size < values.length;

/** Checks a request. What was wrong with `old` already may stay. */
export function validateRequest(csr: CSR, context: KindContext, old?: CSR): FieldError[] {
  return collect((report) => {
    const path = root('spec');
    const { request, usages: given, expirationSeconds: seconds }: Partial<CSR['spec']> = csr.spec ?? {};
    const signerName = csr.spec?.signerName || '';
    const problem = context.settings?.certificates.requestProblem(request ?? '');
    if (problem !== undefined) report.invalid(path.child('request'), request ?? null, problem);
    validateUsages(report, path.child('usages'), given ?? [], old?.spec.usages ?? []);
    if (signerName === legacySigner && old?.spec.signerName !== legacySigner)
      report.invalid(path.child('signerName'), signerName, 'the legacy signerName is not allowed via this API version');
    else validateSignerName(report, path.child('signerName'), signerName);
    if (seconds !== undefined && seconds < secondsMin) {
      const detail = 'may not specify a duration less than 600 seconds (10 minutes)';
      report.invalid(path.child('expirationSeconds'), seconds, detail);
    }
    validateConditionList(report, csr, old);
    validateCertificate(report, csr, old, context);
  });
}

function validateUsages(report: Report, path: Path, given: string[], old: string[]): void {
  if (given.length === 0) report.required(path);
  if (old.every((usage) => usages.includes(usage)))
    given.forEach((usage, index) => report.known(path.index(index), usage, usages));
  if (hasDuplicates(old)) return;
  const isRepeat = repeats();
  given.forEach((usage, index) => {
    if (isRepeat(usage)) report.duplicate(path.index(index), usage);
  });
}

function validateConditionList(report: Report, csr: CSR, old: CSR | undefined): void {
  const before = old ? conditionsOf(old) : [];
  const allowEmptyType = before.some(({ type }) => isEmpty(type));
  const allowBoth = ['Approved', 'Denied'].every((type) => before.some((condition) => condition.type === type));
  const allowDuplicates = hasDuplicates(before.map(({ type }) => type));
  const seen = new Set<string>();
  conditionsOf(csr).forEach(({ type, status }, index) => {
    const at = conditionsPath.index(index);
    if (!allowEmptyType && isEmpty(type)) report.required(at.child('type'));
    report.oneOf(at.child('status'), status, finalTypes.includes(type) ? ['True'] : ['False', 'True', 'Unknown']);
    const other = type === 'Approved' ? 'Denied' : type === 'Denied' ? 'Approved' : undefined;
    if (!allowBoth && other !== undefined && seen.has(other))
      report.invalid(conditionsPath, type, 'Approved and Denied conditions are mutually exclusive');
    if (!allowDuplicates && seen.has(type)) report.duplicate(at.child('type'), type);
    seen.add(type);
  });
}

function validateCertificate(report: Report, csr: CSR, old: CSR | undefined, { settings }: KindContext): void {
  const given = csr.status?.certificate ?? '';
  const before = old?.status?.certificate ?? '';
  if (old !== undefined && given === before) return;
  const problemOf = (text: string): string | undefined =>
    text === '' ? undefined : settings?.certificates.certificatesProblem(text);
  if (old !== undefined && problemOf(before) !== undefined) return;
  const problem = problemOf(given);
  if (problem !== undefined) report.invalid(certificatePath, '<certificate data>', problem);
}

export function validateSignerName(report: Report, path: Path, name: string): void {
  if (name === '') return report.required(path);
  const [domain = '', rest = '', ...more] = name.split('/');
  if (more.length > 0 || !name.includes('/'))
    return report.invalid(path, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'");
  if (byteLength(domain) > dns1123SubdomainMaxLength) report.tooLong(path, dns1123SubdomainMaxLength);
  validateSegments(report, path, domain, isDNS1123Label);
  if (!domain.includes('.')) report.invalid(path, domain, 'should be a domain with at least two segments separated by dots');
  validateSegments(report, path, rest, isDNS1123Subdomain);
  const bytesMax = 2 * dns1123SubdomainMaxLength + dns1123LabelMaxLength + 2;
  if (byteLength(name) > bytesMax) report.tooLong(path, bytesMax);
}

/** An error names only the first segment that is wrong, as upstream's does. */
function validateSegments(report: Report, path: Path, text: string, rule: (segment: string) => string[]): void {
  for (const segment of text.split('.')) {
    const problems = rule(segment);
    for (const problem of problems) report.invalid(path, text, `validating label ${quote(segment)}: ${problem}`);
    if (problems.length > 0) return;
  }
}

export function validateRequestUpdate(csr: CSR, old: CSR, context: KindContext, door: CertificateDoor): FieldError[] {
  const changes = collect((report) => {
    for (const type of finalTypes)
      if (conditionsOf(csr, type).length < conditionsOf(old, type).length)
        report.forbidden(conditionsPath, `updates may not remove a condition of type ${quote(type)}`);
    if (door !== 'approval') validateDecisionsStay(report, csr, old);
    const before = old.status?.certificate ?? '';
    if ((csr.status?.certificate ?? '') === before) return;
    if (door !== 'status') report.forbidden(certificatePath, 'updates may not set certificate content');
    else if (before !== '') report.forbidden(certificatePath, 'updates may not modify existing certificate content');
  });
  return [...validateRequest(csr, context, old), ...changes];
}

function validateDecisionsStay(report: Report, csr: CSR, old: CSR): void {
  for (const type of ['Approved', 'Denied']) {
    const now = conditionsOf(csr, type);
    const before = conditionsOf(old, type);
    if (now.length > before.length) report.forbidden(conditionsPath, `updates may not add a condition of type ${quote(type)}`);
    else if (now.length === before.length && !semanticEqual(now, before))
      report.forbidden(
        conditionsPath,
        `updates may not modify a condition of type ${quote(type)}\n${internalDiff('certificates.CertificateSigningRequestCondition', before, now)}`,
      );
  }
}
