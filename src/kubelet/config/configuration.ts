// A KubeletConfiguration as it is written (kubelet.config.k8s.io/v1beta1): fields that nobody knows and those that ask for what is not here are
// refused, and a zero stands for the default, as in the files that kubeadm writes.
import { parseDurationMs } from '#apimachinery/duration';
import { checkFixedGates, FlagError } from '#component-base';
import { fieldsRefused, fieldsServed, fieldsWithoutEffect } from './unserved-fields.ts';

const isZero = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  value === 0 ||
  value === '0s' ||
  value === '0' ||
  (Array.isArray(value) && value.length === 0) ||
  (typeof value === 'object' && !Array.isArray(value) && Object.values(value as object).every(isZero));

const plain = (value: unknown): string => {
  if (typeof value === 'string' && /^\d+(\.\d+)?(ms|[smh])/.test(value)) {
    try {
      return String(parseDurationMs(value));
    } catch {
      return value;
    }
  }
  return JSON.stringify(value);
};

/** Durations that are zero in the file are not set. */
const withoutZeros = <T extends object>(value: T): T =>
  Object.fromEntries(
    Object.entries(value)
      .filter(([, one]) => one !== null && one !== '0s')
      .map(([name, one]) => [
        name,
        typeof one === 'object' && !Array.isArray(one) && one !== null ? withoutZeros(one as object) : one,
      ]),
  ) as T;

/** The configuration without its zeros, and a warning for each field that changes nothing. Throws FlagError. */
export function checkConfiguration<T extends object>(given: T): { configuration: T; warnings: string[] } {
  const warnings: string[] = [];
  for (const [name, value] of Object.entries(given)) {
    if (fieldsServed.has(name)) continue;
    const [refused, idle] = [fieldsRefused[name], fieldsWithoutEffect[name]];
    const row = refused ?? idle;
    if (!row) throw new FlagError(`failed to load kubelet config file: strict decoding error: unknown field "${name}"`);
    const [usual, why] = row;
    if (isZero(value) || plain(value) === plain(usual)) continue;
    if (refused) throw new FlagError(`${name} of the KubeletConfiguration is not supported: ${why}`);
    warnings.push(`Field ${name} of the KubeletConfiguration has no effect: ${why}`);
  }
  checkFixedGates((given as { featureGates?: Record<string, boolean> }).featureGates ?? {});
  return { configuration: withoutZeros(given), warnings };
}
