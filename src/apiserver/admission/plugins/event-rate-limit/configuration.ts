// The configuration of EventRateLimit (eventratelimit.admission.k8s.io/v1alpha1), checked in upstream's words.
import { aggregate, type FieldError, invalid, notSupported, root } from '#apimachinery/field';
import { type Fields, readConfiguration } from '../../../configuration/index.ts';

const types = ['Namespace', 'Server', 'SourceAndObject', 'User'] as const;
export type LimitType = (typeof types)[number];

export interface Limit {
  type: LimitType;
  qps: number;
  burst: number;
  cacheSize: number;
}

const fields = { limits: { list: { type: 'string', qps: 'int', burst: 'int', cacheSize: 'int' } } } as const satisfies Fields;
/** Buckets that a limit remembers where its configuration does not say. */
const cacheSizeDefault = 4096;

/** Throws an Error that lists what is wrong. Without a text there are no limits, which is wrong, too. */
export function limitsOf(text: string | undefined): Limit[] {
  const group = 'eventratelimit.admission.k8s.io';
  const file = { group, kind: 'Configuration', versions: ['v1alpha1'], fields };
  const given = text === undefined ? [] : (readConfiguration(text, file).limits ?? []);
  const limits = given.map(({ type = '', qps = 0, burst = 0, cacheSize = 0 }) => ({ type, qps, burst, cacheSize }));
  const errors: FieldError[] = limits.length > 0 ? [] : [invalid(root('limits'), null, 'must not be empty')];
  for (const [index, { type, qps, burst, cacheSize }] of limits.entries()) {
    const path = root('limits').index(index);
    if (!types.some((known) => known === type)) errors.push(notSupported(path.child('type'), type, types));
    if (burst <= 0) errors.push(invalid(path.child('burst'), burst, 'must be positive'));
    if (qps <= 0) errors.push(invalid(path.child('qps'), qps, 'must be positive'));
    if (type !== 'Server' && cacheSize < 0) errors.push(invalid(path.child('cacheSize'), cacheSize, 'must not be negative'));
  }
  if (errors.length > 0) throw new Error(aggregate(errors));
  return limits.map(({ type, cacheSize, ...rates }) => ({
    ...rates,
    type: type as LimitType,
    cacheSize: type === 'Server' ? 1 : cacheSize || cacheSizeDefault,
  }));
}
