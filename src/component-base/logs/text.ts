// klog's text form of key/value pairs (klog/v2/internal/serialize): strings quoted, multi-line strings as an indented block.
import { quote } from '#utils';
import { toJsonValue } from './values.ts';

function formatString(key: string, text: string): string {
  if (!text.includes('\n')) return ` ${key}=${quote(text)}`;
  return ` ${key}=<\n\t${text.replace(/\n$/, '').replaceAll('\n', '\n\t')}\n >`;
}

function formatPair(key: string, value: unknown): string {
  if (typeof value === 'string') return formatString(key, value);
  if (value instanceof Error) return formatString(key, value.message);
  if (value === null || value === undefined) return ` ${key}=null`;
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return ` ${key}=${value}`;
  const plain = toJsonValue(value);
  return typeof plain === 'string' ? formatString(key, plain) : ` ${key}=${JSON.stringify(plain)}`;
}

/** `key="value"` pairs, each with a leading space. An `error` is printed under klog's name `err`, first. */
export function formatTextValues(values: Record<string, unknown> | undefined): string {
  if (values === undefined) return '';
  let text = '';
  let error = '';
  for (const key of Object.keys(values)) {
    if (key === 'error' || key === 'err') error = formatPair('err', values[key]);
    else text += formatPair(key, values[key]);
  }
  return error + text;
}
