// JSON merge patch (RFC 7386).
import { own, setOwn } from '#utils';
import { badRequest } from '../errors/index.ts';
import { isObject, type Json, type JsonObject, jsonTypeName, withoutNulls } from './json.ts';

function mergeObjects(document: JsonObject, patch: JsonObject): JsonObject {
  const out = { ...document };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) {
      delete out[key];
      continue;
    }
    const current = own(document, key);
    setOwn(out, key, isObject(current) && isObject(value) ? mergeObjects(current, value) : withoutNulls(value));
  }
  return out;
}

/** Applies a merge patch to an object. Throws a 400 StatusError when the patch is not an object. */
export function mergePatch(document: Json, patch: Json): JsonObject {
  if (patch === null) throw badRequest('Invalid JSON Patch');
  if (!isObject(patch)) {
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${jsonTypeName(patch)} into Go value of type map[string]interface {}`,
    );
  }
  return mergeObjects(isObject(document) ? document : {}, patch);
}
