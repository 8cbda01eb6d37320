// The text of a PATCH to what it asks for, with what strict reading finds (k8s.io/apiserver/pkg/endpoints/handlers/patch.go).
import { badRequest } from '#apimachinery/errors';
import { DecodeError, jsonKind } from '#apimachinery/schema';
import type { WriteSettings } from '../registry/generic/types.ts';
import { duplicateFields, parseText, warningTexts } from './body.ts';

export const patchTypes: readonly string[] = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
];

export interface PatchText {
  value: unknown;
  /** Duplicate keys, and unknown members of JSON patch operations. */
  strictErrors: string[];
}

/** Rejects with 400. `rest`: waited for between the steps of reading. */
export const patchText = (bytes: Buffer, type: string, strict: boolean, rest: WriteSettings['rest']): Promise<PatchText> =>
  type === 'application/apply-patch+yaml' ? applyText(bytes, strict, rest) : jsonText(bytes, type, strict, rest);

const prefixed = new Set(['application/json-patch+json', 'application/merge-patch+json']);

async function jsonText(bytes: Buffer, type: string, strict: boolean, rest: WriteSettings['rest']): Promise<PatchText> {
  try {
    const { value, duplicates } = await parseText(bytes, 'json', strict, rest);
    const doubled = duplicates === undefined ? [] : duplicateFields(value, duplicates);
    if (type !== 'application/json-patch+json') return { value, strictErrors: doubled };
    return { value, strictErrors: [...doubled, ...checkOperations(value)].map((text) => `json patch ${text}`) };
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw badRequest(prefixed.has(type) ? `error decoding patch: ${error.message}` : error.message);
  }
}

const operationTexts = new Set(['op', 'path', 'from']);

/** Operations are read as structs: their texts have to be texts, other members are unknown. */
function checkOperations(value: unknown): string[] {
  const unknown: string[] = [];
  for (const [at, operation] of (Array.isArray(value) ? value : []).entries()) {
    if (typeof operation !== 'object' || operation === null || Array.isArray(operation)) continue;
    for (const [name, member] of Object.entries(operation as Record<string, unknown>)) {
      if (operationTexts.has(name)) {
        if (typeof member === 'string' || member === null) continue;
        throw new DecodeError(
          `json: cannot unmarshal ${jsonKind(member)} into Go struct field jsonPatchOp.${name} of type string`,
        );
      }
      if (name !== 'value') unknown.push(`unknown field "[${at}].${name}"`);
    }
  }
  return unknown;
}

async function applyText(bytes: Buffer, strict: boolean, rest: WriteSettings['rest']): Promise<PatchText> {
  try {
    const { value, strictErrors } = await parseText(bytes, 'yaml', strict, rest);
    if (value !== null && value !== undefined && (typeof value !== 'object' || Array.isArray(value))) {
      throw badRequest(
        `error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${jsonKind(value)} into Go value of type map[string]interface {}`,
      );
    }
    return { value, strictErrors: strictErrors.flatMap(warningTexts) };
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw badRequest(`error decoding YAML: error converting YAML to JSON: ${error.message}`);
  }
}
