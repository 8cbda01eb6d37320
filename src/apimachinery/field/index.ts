// Field paths and validation failures (k8s.io/apimachinery/pkg/util/validation/field).

export type FieldErrorType =
  | 'FieldValueNotFound'
  | 'FieldValueRequired'
  | 'FieldValueDuplicate'
  | 'FieldValueInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueForbidden'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'InternalError'
  | 'FieldValueTypeInvalid';

/** One validation failure. `detail` is upstream's text after the value. */
export interface FieldError {
  type: FieldErrorType;
  /** Rendered path, e.g. `spec.containers[0].name`. */
  field: string;
  /** The offending value, or undefined where upstream prints none. */
  badValue?: unknown;
  detail: string;
}
