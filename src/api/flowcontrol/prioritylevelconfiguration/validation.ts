// Rules of priority levels (pkg/apis/flowcontrol/validation, ValidatePriorityLevelConfiguration; KEP-1040).
import type * as flowcontrol from '#api/flowcontrol/v1';
import { type Path, root } from '#apimachinery/field';
import { inclusiveRangeError } from '#apimachinery/validation';
import { semanticEqual } from '../../common/equality.ts';
import { internalForm } from '../../common/internal-form.ts';
import type { Report } from '../../common/report.ts';
import { validateStatus } from '../common/conditions.ts';

type Spec = flowcontrol.PriorityLevelConfigurationSpec;

const queuesMax = 10_000_000;
const hashBitsMax = 60;
const zeroSharesAnnotation = 'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares';
const path = root('spec');
const internalSpec = 'flowcontrol.PriorityLevelConfigurationSpec';

/** What the level every unmatched request falls into must look like. */
const catchAll: Spec = {
  type: 'Limited',
  limited: { nominalConcurrencyShares: 5, lendablePercent: 0, limitResponse: { type: 'Reject' } },
};

export function validatePriorityLevel(report: Report, object: flowcontrol.PriorityLevelConfiguration): void {
  const { metadata, spec = { type: '' } } = object;
  if (metadata.annotations?.[zeroSharesAnnotation] !== undefined)
    report.forbidden(root('metadata', 'annotations'), `annotation '${zeroSharesAnnotation}' is forbidden`);
  validateSpec(report, spec, metadata.name === 'exempt');
  validateFixed(report, spec, metadata.name ?? '');
  validateStatus(report, object);
}

function validateFixed(report: Report, spec: Spec, name: string): void {
  if (name === 'exempt') {
    const { exempt: _, ...rest } = spec;
    if (!semanticEqual(rest, { type: 'Exempt' }))
      report.invalid(
        path,
        internalForm(internalSpec, spec),
        `spec of '${name}' except the 'spec.exempt' field must equal the fixed value`,
      );
  } else if (name === 'catch-all' && !semanticEqual(spec, catchAll)) {
    report.invalid(path, internalForm(internalSpec, spec), `spec of '${name}' must equal the fixed value`);
  }
}

function validateSpec(report: Report, { type, limited, exempt }: Spec, isExempt: boolean): void {
  if (isExempt !== (type === 'Exempt'))
    report.invalid(path.child('type'), type, "must be 'Exempt' if and only if `name` is 'exempt'");
  if (type === 'Exempt') {
    if (limited) report.forbidden(path.child('limited'), 'must be nil if the type is not Limited');
    if (exempt) validateShares(report, path.child('exempt'), exempt);
  } else if (type === 'Limited') {
    if (exempt) report.forbidden(path.child('exempt'), 'must be nil if the type is Limited');
    if (limited) validateLimited(report, path.child('limited'), limited);
    else report.required(path.child('limited'), 'must not be empty when type is Limited');
  } else report.notSupported(path.child('type'), type, ['Exempt', 'Limited']);
}

function validateNominal(report: Report, at: Path, shares: number | null | undefined): void {
  if ((shares ?? 0) < 0) report.invalid(at.child('nominalConcurrencyShares'), shares, 'must be a non-negative integer');
}

function validateLendable(report: Report, at: Path, percent = 0): void {
  if (percent < 0 || percent > 100) report.invalid(at.child('lendablePercent'), percent, inclusiveRangeError(0, 100));
}

function validateShares(report: Report, at: Path, exempt: flowcontrol.ExemptPriorityLevelConfiguration): void {
  validateNominal(report, at, exempt.nominalConcurrencyShares);
  validateLendable(report, at, exempt.lendablePercent);
}

function validateLimited(report: Report, at: Path, limited: flowcontrol.LimitedPriorityLevelConfiguration): void {
  validateNominal(report, at, limited.nominalConcurrencyShares);
  validateResponse(report, at.child('limitResponse'), limited.limitResponse ?? { type: '' });
  validateLendable(report, at, limited.lendablePercent);
  const { borrowingLimitPercent: borrowing } = limited;
  if (borrowing !== undefined && borrowing < 0)
    report.invalid(at.child('borrowingLimitPercent'), borrowing, 'if specified, must be a non-negative integer');
}

function validateResponse(report: Report, at: Path, { type, queuing }: flowcontrol.LimitResponse): void {
  const field = at.child('queuing');
  if (type === 'Reject') {
    if (queuing) report.forbidden(field, 'must be nil if limited.limitResponse.type is not Limited');
  } else if (type === 'Queue') {
    if (queuing) validateQueuing(report, field, queuing);
    else report.required(field, 'must not be empty if limited.limitResponse.type is Limited');
  } else report.notSupported(at.child('type'), type, ['Queue', 'Reject']);
}

function validateQueuing(report: Report, at: Path, queuing: flowcontrol.QueuingConfiguration): void {
  const { queues = 0, handSize = 0, queueLengthLimit = 0 } = queuing;
  if (queueLengthLimit <= 0) report.invalid(at.child('queueLengthLimit'), queueLengthLimit, 'must be positive');
  if (queues <= 0) report.invalid(at.child('queues'), queues, 'must be positive');
  else if (queues > queuesMax) report.invalid(at.child('queues'), queues, `must not be greater than ${queuesMax}`);
  const hand = at.child('handSize');
  if (handSize <= 0) return report.invalid(hand, handSize, 'must be positive');
  if (handSize > queues) return report.invalid(hand, handSize, `should not be greater than queues (${queues})`);
  if (Math.ceil(Math.log2(queues) * handSize) > hashBitsMax) {
    const what = `required entropy bits of deckSize ${queues} and handSize ${handSize}`;
    report.invalid(hand, handSize, `${what} should not be greater than ${hashBitsMax}`);
  }
}
