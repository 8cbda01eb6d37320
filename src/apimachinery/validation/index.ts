// Rules for names, values and metadata that every kind shares (k8s.io/apimachinery/pkg/util/validation and pkg/api/validation).
export * from './texts.ts';
export * from './names.ts';
export * from './values.ts';
