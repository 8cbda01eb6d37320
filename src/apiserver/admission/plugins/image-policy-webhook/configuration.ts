// The configuration of ImagePolicyWebhook: a file without a kind, whose numbers are seconds and milliseconds (plugin/pkg/admission/imagepolicy, config.go). Pure.
import { parseYaml } from '#apimachinery/codec';
import { formatDurationMs } from '#apimachinery/duration';

export interface ImagePolicy {
  kubeConfigFile: string;
  /** How long an answer that allows is remembered; 0: not at all. */
  allowMs: number;
  denyMs: number;
  /** Before the server is asked a second time. */
  retryMs: number;
  /** Pods are let in where the server does not answer. */
  defaultAllow: boolean;
}

interface Span {
  unitMs: number;
  min: string;
  maxMs: number;
  default: number;
}

const ttl = { unitMs: 1000, min: '1s', maxMs: 30 * 60_000 };
const spans = {
  retryBackoff: { unitMs: 1, min: '1ns', maxMs: 5 * 60_000, default: 500 },
  allowTTL: { ...ttl, default: 5 * 60_000 },
  denyTTL: { ...ttl, default: 30_000 },
} satisfies Record<string, Span>;

const kindOf = (value: unknown): string => (Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value);

const wrongType = (value: unknown, name: string, type: string): Error =>
  new Error(
    `json: cannot unmarshal ${kindOf(value)} into Go struct field imagePolicyWebhookConfig.imagePolicy.${name} of type ${type}`,
  );

/** -1 switches it off, 0 and nothing at all are the default. */
function msOf(fields: Record<string, unknown>, name: keyof typeof spans): number {
  const { unitMs, min, maxMs, default: usual } = spans[name];
  const given = fields[name] ?? 0;
  if (typeof given !== 'number' || !Number.isInteger(given)) throw wrongType(given, name, 'time.Duration');
  if (given === 0) return usual;
  if (given === -1) return 0;
  const ms = given * unitMs;
  if (ms < 0 || ms > maxMs)
    throw new Error(`valid value is between ${min} and ${formatDurationMs(maxMs)}, got ${formatDurationMs(ms)}`);
  return ms;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Throws an Error that says what is wrong. */
export function imagePolicyOf(text: string | undefined): ImagePolicy {
  if (text === undefined) throw new Error('no config specified');
  const { value } = parseYaml(text);
  const given = (isObject(value) ? value.imagePolicy : undefined) ?? {};
  if (!isObject(given))
    throw new Error(`json: cannot unmarshal ${kindOf(given)} into Go struct field AdmissionConfig.imagePolicy`);
  const { kubeConfigFile = '', defaultAllow = false } = given;
  if (typeof kubeConfigFile !== 'string') throw wrongType(kubeConfigFile, 'kubeConfigFile', 'string');
  if (typeof defaultAllow !== 'boolean') throw wrongType(defaultAllow, 'defaultAllow', 'bool');
  const [retryMs, allowMs, denyMs] = [msOf(given, 'retryBackoff'), msOf(given, 'allowTTL'), msOf(given, 'denyTTL')];
  if (kubeConfigFile === '') throw new Error('imagePolicy.kubeConfigFile must name the kubeconfig of the server that decides');
  return { kubeConfigFile, allowMs, denyMs, retryMs, defaultAllow };
}
