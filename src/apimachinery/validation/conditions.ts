// metav1.Condition lists (k8s.io/apimachinery/pkg/apis/meta/v1/validation, ValidateConditions).
import { duplicate, type FieldError, invalid, notSupported, type Path, required, tooLong } from '../field/index.ts';
import { validateLabelName } from './labels.ts';
import { conditionMessageLengthMax, conditionReasonLengthMax } from './limits.ts';
import { byteLength, regexError } from './texts.ts';

/** One condition of a status (metav1.Condition). */
export interface Condition {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  observedGeneration?: number;
  lastTransitionTime: string;
  reason: string;
  message: string;
}

const reasonPattern = '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?';
const reasonRegex = new RegExp(`^(?:${reasonPattern})$`);
const reasonMessage =
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'";
const statuses = ['False', 'True', 'Unknown'];

function validateReason(reason: string, path: Path): FieldError[] {
  if (reason === '') return [required(path, '')];
  const errors: FieldError[] = [];
  if (!reasonRegex.test(reason)) {
    const text = regexError(reasonMessage, reasonPattern, 'my_name', 'MY_NAME', 'MyName', 'ReasonA,ReasonB', 'ReasonA:ReasonB');
    errors.push(invalid(path, reason, text));
  }
  if (byteLength(reason) > conditionReasonLengthMax) errors.push(tooLong(path, conditionReasonLengthMax));
  return errors;
}

export function validateCondition(condition: Partial<Condition>, path: Path): FieldError[] {
  const { type = '', status = '', observedGeneration = 0, lastTransitionTime = '', reason = '', message = '' } = condition;
  const errors = validateLabelName(type, path.child('type'));
  if (!statuses.includes(status)) errors.push(notSupported(path.child('status'), status, statuses));
  if (observedGeneration < 0) {
    errors.push(invalid(path.child('observedGeneration'), observedGeneration, 'must be greater than or equal to zero'));
  }
  if (lastTransitionTime === '') errors.push(required(path.child('lastTransitionTime'), ''));
  errors.push(...validateReason(reason, path.child('reason')));
  if (byteLength(message) > conditionMessageLengthMax) errors.push(tooLong(path.child('message'), conditionMessageLengthMax));
  return errors;
}

export function validateConditions(conditions: readonly Partial<Condition>[] | undefined, path: Path): FieldError[] {
  const seen = new Set<string>();
  return (conditions ?? []).flatMap((condition, i) => {
    const type = condition.type ?? '';
    const errors = seen.has(type) ? [duplicate(path.index(i).child('type'), type)] : [];
    seen.add(type);
    return [...errors, ...validateCondition(condition, path.index(i))];
  });
}
