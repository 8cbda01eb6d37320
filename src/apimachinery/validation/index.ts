// Rules for names, values and metadata that every kind shares (k8s.io/apimachinery/pkg/util/validation and pkg/api/validation).
export * from './conditions.ts';
export * from './ip.ts';
export * from './ip-address.ts';
export * from './labels.ts';
export * from './limits.ts';
export * from './names.ts';
export * from './object-meta.ts';
export * from './options.ts';
export * from './texts.ts';
export * from './values.ts';
