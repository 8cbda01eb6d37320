// What can be wrong with a strategic merge patch (k8s.io/apimachinery/pkg/util/mergepatch). All of it is the client's
// fault and a 400; upstream answers most of it as a plain 500.
import { goPrint, goString, goTypeName, quote } from '#utils';
import { badRequest, genericServerResponse, plainError, type StatusError } from '../errors/index.ts';
import type { Json } from './json.ts';

export const badDeleteList = (): StatusError => badRequest('invalid patch format of primitive list');
export const badRetainKeys = (): StatusError => badRequest('invalid patch format of retainKeys');
export const badElementOrder = (): StatusError => badRequest('invalid patch format of setElementOrder list');

export const noMergeKey = (item: Json, key: string): StatusError =>
  plainError(`map: ${goPrint(item)} does not contain declared merge key: ${key}`);

export const unknownDirective = (directive: Json, patch: Json): StatusError =>
  plainError(`unknown patch type: ${goString(directive)} in map: ${goPrint(patch)}`);

export const wrongType = (expected: Json, actual: Json): StatusError =>
  plainError(`expected a ${goTypeName(expected)}, but received a ${actual === null ? goString(actual) : goTypeName(actual)}`);

export const orderMismatch = (patch: Json, order: Json): StatusError =>
  plainError(`The order in patch list:\n${goPrint(patch)}\n doesn't match $setElementOrder list:\n${goPrint(order)}\n`);

export const mixedTypes = (lists: readonly Json[]): StatusError =>
  plainError(`list element types are not identical: ${goPrint(lists)}`);

/** `type` is the Go name of the struct. */
export const unknownField = (type: string, field: string): StatusError =>
  plainError(`unable to find api field in struct ${type} for the json field ${quote(field)}`);

export const mergedMap = (): StatusError => plainError('merging an object in json but data type is not struct, instead is: map');

export const listOfLists = (): StatusError =>
  genericServerResponse({
    code: 422,
    method: '',
    resource: { group: '', resource: '' },
    name: '',
    text: 'lists of lists are not supported',
  });
