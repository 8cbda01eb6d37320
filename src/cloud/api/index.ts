// The HTTP API as data. Pure.
export { type AuditEvent, auditEvent } from './account.ts';
export { type ErrorBody, errorBody, Refusal } from './errors.ts';
export { openApiDocument } from './openapi.ts';
export { type Method, type Operation, parameterNames } from './operation.ts';
export { type Input, type OperationId, operationEntries, operations, type Output, type ParsedInput } from './operations.ts';
export { parseInput, queryObject } from './parse-input.ts';
export { type RoutedRequest, routeRequest } from './route-request.ts';
