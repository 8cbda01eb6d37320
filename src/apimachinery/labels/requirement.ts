// One term of a label selector (k8s.io/apimachinery/pkg/labels, Requirement).
import { badRequest } from '../errors/index.ts';
import { aggregate, type FieldError, invalid, notSupported, Path } from '../field/index.ts';
import { isOneOf, parseGoInt } from '#utils';
import { isLabelValue, isQualifiedName } from '../validation/names.ts';

export type Labels = Readonly<Record<string, string>>;

export type Operator = '=' | '==' | '!=' | 'in' | 'notin' | 'exists' | '!' | 'gt' | 'lt';

export interface Requirement {
  readonly key: string;
  readonly operator: Operator;
  /** Distinct; sorted when it came from text. */
  readonly values: readonly string[];
}

const parseInt64 = (text: string): bigint | undefined => parseGoInt(text, 64);

const under = (path: Path | undefined, name: string): Path => new Path(path, name, false);

function valueCountProblems(operator: Operator, values: readonly string[], path: Path): FieldError[] {
  switch (operator) {
    case 'in':
    case 'notin':
      return values.length === 0 ? [invalid(path, values, "for 'in', 'notin' operators, values set can't be empty")] : [];
    case '=':
    case '==':
    case '!=':
      return values.length === 1 ? [] : [invalid(path, values, 'exact-match compatibility requires one single value')];
    case 'exists':
    case '!':
      return values.length === 0 ? [] : [invalid(path, values, 'values set must be empty for exists and does not exist')];
    case 'gt':
    case 'lt': {
      const count = values.length === 1 ? [] : [invalid(path, values, "for 'Gt', 'Lt' operators, exactly one value is required")];
      const notNumbers = values.flatMap((value, i) =>
        parseInt64(value) === undefined
          ? [invalid(path.index(i), value, "for 'Gt', 'Lt' operators, the value must be an integer")]
          : [],
      );
      return [...count, ...notNumbers];
    }
    default:
      return [notSupported(under(path.parent, 'operator'), operator, operators)];
  }
}

/** The operators as upstream lists them in messages: those with values first. */
export const binaryOperators: readonly Operator[] = ['in', 'notin', '=', '==', '!=', 'gt', 'lt'];
const operators: readonly Operator[] = [...binaryOperators, 'exists', '!'];

export const keyProblem = (key: string, path?: Path): FieldError | undefined => {
  const problems = isQualifiedName(key);
  return problems.length === 0 ? undefined : invalid(path, key, problems.join('; '));
};

/** Makes a requirement. Throws a 400 StatusError with upstream's text when key, operator or values do not fit. */
export function requirement(key: string, operator: Operator, values: readonly string[], path?: Path): Requirement {
  const valuesPath = under(path, 'values');
  const errors: FieldError[] = [];
  const badKey = keyProblem(key, under(path, 'key'));
  if (badKey !== undefined) errors.push(badKey);
  errors.push(...valueCountProblems(operator, values, valuesPath));
  values.forEach((value, i) => {
    const problems = isLabelValue(value);
    if (problems.length > 0) errors.push(invalid(valuesPath.index(i).key(key), value, problems.join('; ')));
  });
  if (errors.length > 0) throw badRequest(aggregate(errors));
  return { key, operator, values };
}

/** The requirement as a test on labels. */
export function compile({ key, operator, values }: Requirement): (labels: Labels) => boolean {
  const [only] = values;
  switch (operator) {
    case 'in':
    case '=':
    case '==':
      if (values.length === 1) return (labels) => labels[key] === only;
      return (labels) => typeof labels[key] === 'string' && isOneOf(labels[key], values);
    case 'notin':
    case '!=':
      if (values.length === 1) return (labels) => labels[key] !== only;
      return (labels) => typeof labels[key] !== 'string' || !isOneOf(labels[key], values);
    case 'exists':
      return (labels) => typeof labels[key] === 'string';
    case '!':
      return (labels) => typeof labels[key] !== 'string';
    case 'gt':
    case 'lt': {
      const bound = parseInt64(only ?? '');
      return (labels) => {
        const value = typeof labels[key] === 'string' ? parseInt64(labels[key]) : undefined;
        if (value === undefined || bound === undefined) return false;
        return operator === 'gt' ? value > bound : value < bound;
      };
    }
  }
}

const infix: Partial<Record<Operator, string>> = {
  '=': '=',
  '==': '==',
  '!=': '!=',
  in: ' in ',
  notin: ' notin ',
  gt: '>',
  lt: '<',
};

/** As upstream prints it: `a=b`, `a in (b,c)`, `!a`. */
export function requirementText({ key, operator, values }: Requirement): string {
  if (operator === 'exists') return key;
  if (operator === '!') return `!${key}`;
  const list = [...values].sort().join(',');
  return key + infix[operator] + (operator === 'in' || operator === 'notin' ? `(${list})` : list);
}
