// One term of a label selector (k8s.io/apimachinery/pkg/labels, Requirement).
import { badRequest } from '../errors/index.ts';
import { aggregate, type FieldError, invalid, notSupported, Path } from '../field/index.ts';
import { parseGoInt } from '#utils';
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

/** What all requirements on one key say together. */
interface Bounds {
  /** Without the label nothing is selected. */
  needed: boolean;
  /** It must not be there. */
  absent: boolean;
  among?: ReadonlySet<string>;
  notAmong?: Set<string>;
  above?: bigint;
  below?: bigint;
}

function narrow(bounds: Bounds, { operator, values }: Requirement): void {
  if (operator === '!') bounds.absent = true;
  else if (operator !== 'notin' && operator !== '!=') bounds.needed = true;
  if (operator === 'in' || operator === '=' || operator === '==') {
    const { among } = bounds;
    bounds.among = new Set(among ? values.filter((value) => among.has(value)) : values);
  } else if (operator === 'notin' || operator === '!=') {
    bounds.notAmong ??= new Set();
    for (const value of values) bounds.notAmong.add(value);
  } else if (operator === 'gt' || operator === 'lt') {
    const bound = parseInt64(values[0] ?? '');
    if (bound === undefined) bounds.among = new Set();
    else if (operator === 'gt') bounds.above = bounds.above === undefined || bound > bounds.above ? bound : bounds.above;
    else bounds.below = bounds.below === undefined || bound < bounds.below ? bound : bounds.below;
  }
}

function allows(bounds: Bounds, value: string): boolean {
  if (bounds.absent || bounds.notAmong?.has(value)) return false;
  if (bounds.among && !bounds.among.has(value)) return false;
  if (bounds.above === undefined && bounds.below === undefined) return true;
  const number = parseInt64(value);
  if (number === undefined) return false;
  return (bounds.above === undefined || number > bounds.above) && (bounds.below === undefined || number < bounds.below);
}

/** With so many keys that may be absent, an object's labels are gone through and not the keys. */
const keysMax = 8;

/** All requirements as one test. It costs what the labels hold, however many the requirements are. */
export function compile(requirements: readonly Requirement[]): (labels: Labels) => boolean {
  const [first] = requirements;
  const [value] = first?.values ?? [];
  // What most selectors are needs no tables.
  if (requirements.length === 1 && first?.operator === '=' && value !== undefined) return (labels) => labels[first.key] === value;
  const byKey = new Map<string, Bounds>();
  for (const requirement of requirements) {
    let bounds = byKey.get(requirement.key);
    if (!bounds) byKey.set(requirement.key, (bounds = { needed: false, absent: false }));
    narrow(bounds, requirement);
  }
  const all = [...byKey];
  const needed = all.filter(([, bounds]) => bounds.needed);
  const optional = all.filter(([, bounds]) => !bounds.needed);
  const passes = (labels: Labels, [key, bounds]: [string, Bounds]): boolean =>
    typeof labels[key] === 'string' ? allows(bounds, labels[key]) : !bounds.needed;
  return (labels) => {
    for (const one of needed) if (!passes(labels, one)) return false;
    if (optional.length <= keysMax) {
      for (const one of optional) if (!passes(labels, one)) return false;
      return true;
    }
    for (const key in labels) {
      const bounds = byKey.get(key);
      if (bounds && !passes(labels, [key, bounds])) return false;
    }
    return true;
  };
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

/** The requirement as upstream prints it: `a=b`, `a in (b,c)`, `!a`. */
export function requirementText({ key, operator, values }: Requirement): string {
  if (operator === 'exists') return key;
  if (operator === '!') return `!${key}`;
  const list = [...values].sort().join(',');
  return key + infix[operator] + (operator === 'in' || operator === 'notin' ? `(${list})` : list);
}
