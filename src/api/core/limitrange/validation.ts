// Rules of limit ranges (pkg/apis/core/validation, ValidateLimitRange).
import type { LimitRange, LimitRangeItem } from '#api/core/v1';
import { type FieldError, type Path, root } from '#apimachinery/field';
import { parseQuantity } from '#apimachinery/quantity';
import { isQualifiedName } from '#apimachinery/validation';
import { own } from '#utils';
import { compareQuantities } from '../../common/quantities.ts';
import { collect, isEmptyMap, type Report } from '../../common/report.ts';
import { isOvercommitAllowed } from '../common/resource-names.ts';
import { validateContainerResourceName, validateResourceName } from '../common/resources.ts';

const types = ['Pod', 'Container', 'PersistentVolumeClaim'];

function validateType(report: Report, path: Path, type: string): void {
  const problems = isQualifiedName(type);
  report.problems(path, type, problems);
  if (problems.length === 0 && !type.includes('/') && !types.includes(type)) {
    report.invalid(path, type, 'must be a standard limit type or fully qualified');
  }
}

type Bound = 'max' | 'min' | 'default' | 'defaultRequest' | 'maxLimitRequestRatio';

/** The order of two bounds: what is reported when the first is above the second. `at` and `shown`: the bound named and the one printed. */
const orders: { low: Bound; high: Bound; at: Bound; shown: Bound; text: (low: string, high: string) => string }[] = [
  { low: 'min', high: 'max', at: 'min', shown: 'min', text: (low, high) => `min value ${low} is greater than max value ${high}` },
  {
    low: 'min',
    high: 'defaultRequest',
    at: 'defaultRequest',
    shown: 'defaultRequest',
    text: (low, high) => `min value ${low} is greater than default request value ${high}`,
  },
  {
    low: 'defaultRequest',
    high: 'max',
    at: 'defaultRequest',
    shown: 'defaultRequest',
    text: (low, high) => `default request value ${low} is greater than max value ${high}`,
  },
  {
    low: 'defaultRequest',
    high: 'default',
    at: 'defaultRequest',
    shown: 'defaultRequest',
    text: (low, high) => `default request value ${low} is greater than default limit value ${high}`,
  },
  {
    low: 'min',
    high: 'default',
    at: 'default',
    shown: 'min',
    text: (low, high) => `min value ${low} is greater than default value ${high}`,
  },
  {
    low: 'default',
    high: 'max',
    at: 'default',
    shown: 'max',
    text: (low, high) => `default value ${low} is greater than max value ${high}`,
  },
];

/** A ratio limit of Go's `%f`. */
const printed = (value: number): string => (Number.isFinite(value) ? value.toFixed(6) : value > 0 ? '+Inf' : 'NaN');

function validateRatio(report: Report, at: Path, ratio: string, min: string | undefined, max: string | undefined): void {
  if (compareQuantities(ratio, '1') < 0) report.invalid(at, ratio, `ratio ${ratio} is less than 1`);
  if (min === undefined || max === undefined) return;
  const largest = parseQuantity(max).milliValue() / parseQuantity(min).milliValue();
  if (parseQuantity(ratio).milliValue() / 1000 > largest) {
    report.invalid(at, ratio, `ratio ${ratio} is greater than max/min = ${printed(largest)}`);
  }
}

function validateBounds(report: Report, path: Path, item: LimitRangeItem, name: string): void {
  const isPod = item.type === 'Pod';
  const amount = (bound: Bound): string | undefined =>
    isPod && (bound === 'default' || bound === 'defaultRequest') ? undefined : own(item[bound] ?? {}, name);
  for (const { low, high, at, shown, text } of orders) {
    const below = amount(low);
    const above = amount(high);
    if (below === undefined || above === undefined || compareQuantities(below, above) <= 0) continue;
    report.invalid(path.child(at).key(name), amount(shown), text(below, above));
  }
  const ratio = amount('maxLimitRequestRatio');
  if (ratio !== undefined)
    validateRatio(report, path.child('maxLimitRequestRatio').key(name), ratio, amount('min'), amount('max'));
  const limit = amount('default');
  const request = amount('defaultRequest');
  if (isOvercommitAllowed(name) || limit === undefined || request === undefined || compareQuantities(limit, request) === 0)
    return;
  const detail = `default value ${limit} must equal to defaultRequest value ${request} in ${name}`;
  report.invalid(path.child('defaultRequest').key(name), request, detail);
}

function validateItem(report: Report, path: Path, item: LimitRangeItem): void {
  const names = new Set<string>();
  const nameRule = item.type === 'Pod' || item.type === 'Container' ? validateContainerResourceName : validateResourceName;
  const validateNames = (bound: Bound): void => {
    for (const name of Object.keys(item[bound] ?? {}).sort()) {
      nameRule(report, path.child(bound).key(name), name);
      names.add(name);
    }
  };
  validateNames('max');
  validateNames('min');
  for (const bound of ['default', 'defaultRequest'] as const) {
    if (item.type !== 'Pod') validateNames(bound);
    else if (!isEmptyMap(item[bound])) report.forbidden(path.child(bound), "may not be specified when `type` is 'Pod'");
  }
  if (item.type === 'PersistentVolumeClaim' && item.min?.['storage'] === undefined && item.max?.['storage'] === undefined) {
    report.required(path.child('limits'), 'either minimum or maximum storage value is required, but neither was provided');
  }
  validateNames('maxLimitRequestRatio');
  for (const name of names) validateBounds(report, path, item, name);
}

export const validateLimitRange = ({ spec }: LimitRange): FieldError[] =>
  collect((report) => {
    const seen = new Set<string>();
    spec?.limits?.forEach((item, index) => {
      const path = root('spec', 'limits').index(index);
      const type = item.type ?? '';
      validateType(report, path.child('type'), type);
      if (seen.has(type)) report.duplicate(path.child('type'), type);
      seen.add(type);
      validateItem(report, path, item);
    });
  });
