// What can be wrong with a strategic merge patch (k8s.io/apimachinery/pkg/util/mergepatch). All of it is the client's
// fault and a 400; upstream answers most of it as a plain 500.
import { goPrint, goTypeName } from '#utils';
import { badRequest, plainError, type StatusError } from '../errors/index.ts';
import type { Json } from './json.ts';

export const badDeleteList = (): StatusError => badRequest('invalid patch format of primitive list');
export const badRetainKeys = (): StatusError => badRequest('invalid patch format of retainKeys');
export const badElementOrder = (): StatusError => badRequest('invalid patch format of setElementOrder list');

export const noMergeKey = (item: Json, key: string): StatusError =>
  plainError(`map: ${goPrint(item)} does not contain declared merge key: ${key}`);

export const unknownDirective = (directive: Json, patch: Json): StatusError =>
  plainError(`unknown patch type: ${goPrint(directive)} in map: ${goPrint(patch)}`);

export const wrongType = (expected: Json, actual: Json): StatusError =>
  plainError(`expected a ${goTypeName(expected)}, but received a ${goTypeName(actual)}`);

export const orderMismatch = (patch: Json, order: Json): StatusError =>
  plainError(`The order in patch list:\n${goPrint(patch)}\n doesn't match $setElementOrder list:\n${goPrint(order)}\n`);

export const mixedTypes = (lists: readonly Json[]): StatusError =>
  plainError(`list element types are not identical: ${goPrint(lists)}`);

export const unknownField = (type: string, field: string): StatusError =>
  plainError(`unable to find api field in struct ${type.slice(type.lastIndexOf('.') + 1)} for the json field "${field}"`);
