// The three patch languages of the API besides server-side apply: JSON patch (RFC 6902), JSON merge patch (RFC 7386) and strategic merge patch.
export { type Json, jsonTypeName } from './json.ts';
export { applyOperations, jsonPatch, type PatchOutcome } from './json-patch.ts';
export { jsonPatchOperationsMax } from './limits.ts';
export { mergePatch } from './merge-patch.ts';
export { strategicMergePatch } from './strategic-merge-patch.ts';
