// Limits of metadata (k8s.io/apimachinery/pkg/api/validation, pkg/apis/meta/v1/validation).

/** All keys and values of an object's annotations together. */
export const annotationsBytesMax = 256 * 1024;
export const fieldManagerLengthMax = 128;
export const subresourceNameLengthMax = 256;
export const conditionReasonLengthMax = 1024;
export const conditionMessageLengthMax = 32 * 1024;
