// Texts from outside of a length that only work which grows with the length survives: work that grows with its square would not end within the time of
// a test. Each reader gets texts that lead it back again and again.
import { describe, expect, test } from 'vitest';
import type { ISCSIVolumeSource } from '#api/core/v1';
import { parseYaml } from '#apimachinery/codec';
import { parseDurationNs } from '#apimachinery/duration';
import { root } from '#apimachinery/field';
import { parse as parseFields } from '#apimachinery/fields';
import { parseIntOrString } from '#apimachinery/intstr';
import { parse as parseLabels, requirement, selectorOf } from '#apimachinery/labels';
import { parseQuantity } from '#apimachinery/quantity';
import * as validation from '#apimachinery/validation';
import { stringFormat } from '../apiextensions/common/formats.ts';
import { isTimeZone, parseSchedule } from '../batch/cronjob/schedule.ts';
import { iscsi } from '../core/common/volume-sources.ts';
import { imageTag } from '../core/pod/images.ts';
import { tlsWarnings } from '../core/secret/tls-warnings.ts';
import { Report } from './report.ts';

type Reader = (text: string) => unknown;

const chars = 200_000;
const formats =
  'bsonobjectid uri email hostname ipv4 ipv6 cidr mac uuid isbn10 isbn13 creditcard ssn hexcolor rgbcolor byte date duration datetime';
const tls = (text: string): unknown => {
  const data = { 'tls.crt': btoa(text), 'tls.key': btoa(text) };
  return tlsWarnings({ metadata: {}, type: 'kubernetes.io/tls', data });
};
const volume = (text: string): unknown => {
  const source = { targetPortal: text, iqn: `iqn${text}`, initiatorName: `iqn${text}`, lun: 0 } as ISCSIVolumeSource;
  return iscsi(new Report(), root('spec'), source);
};
const rules = Object.entries(validation).filter(
  ([name, value]) => typeof value === 'function' && /^(is|parse)[A-Z]/.test(name),
) as [string, Reader][];

const readers: [string, Reader][] = [
  ...rules,
  ['quantity', parseQuantity],
  ['duration', parseDurationNs],
  ['number or percentage', parseIntOrString],
  ['label selector', parseLabels],
  ['values of a label selector', (text) => parseLabels(`a in (${text})`)],
  ['field selector', parseFields],
  ['schedule', parseSchedule],
  ['time zone', isTimeZone],
  ['image', imageTag],
  ['TLS secret', tls],
  ['iSCSI volume', volume],
  ['YAML', parseYaml],
  ...formats.split(' ').map((name): [string, Reader] => [`format ${name}`, (text) => stringFormat(name)?.(text)]),
];

const units = [
  '0',
  '1',
  'a',
  'A',
  '.',
  '-',
  '_',
  ':',
  '/',
  ' ',
  '%',
  '[',
  "'",
  '1.',
  'a.',
  'a-',
  'a/',
  '1h',
  '0:',
  '::',
  'a@b.',
  'a,',
  '1,',
];
const blocks = ['-----BEGIN ', '-----BEGIN A-----\n', '-----BEGIN A-----\n-----END B-----\n', 'iqn.2020-01.', '.2020-01.aiqn'];
const texts = [...units, ...blocks].flatMap((unit) => {
  const text = unit.repeat(chars / unit.length);
  return [text, `${text}!`, `1${text}x`];
});

describe('a text of 200,000 characters is read or refused', () => {
  test.each(readers)('%s', { timeout: 60_000 }, (_, read) => {
    for (const text of texts) {
      try {
        read(text);
      } catch (error) {
        expect(error).toBeInstanceOf(Error);
        expect(error).not.toBeInstanceOf(RangeError);
      }
    }
  });
});

test('a selector with 100,000 values is asked about 100,000 objects', { timeout: 60_000 }, () => {
  const values = Array.from({ length: 100_000 }, (_, at) => `v${at}`);
  for (const operator of ['in', 'notin'] as const) {
    const selector = selectorOf([requirement('a', operator, values)]);
    const found = values.filter((value) => selector.matches({ a: `${value}x` }));
    expect(found).toHaveLength(operator === 'in' ? 0 : values.length);
  }
});
