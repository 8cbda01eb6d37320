// Field paths and validation failures (k8s.io/apimachinery/pkg/util/validation/field).
export { Path, root } from './path.ts';
export { gather } from './gather.ts';
export { errorTextCharsMax, fieldErrorsMax } from './limits.ts';
export type { FieldError, FieldErrorType } from './error.ts';
export {
  aggregate,
  aggregateTexts,
  duplicate,
  errorBody,
  errorText,
  forbidden,
  goJson,
  internal,
  invalid,
  notFound,
  notSupported,
  required,
  tooFew,
  tooLong,
  tooLongCharacters,
  tooMany,
  tooShort,
  typeInvalid,
} from './error.ts';
