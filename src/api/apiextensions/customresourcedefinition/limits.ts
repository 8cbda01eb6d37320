// Limits of definitions of custom resources, as upstream's.
export const selectableFieldsMax = 8;
export const deprecationWarningBytesMax = 256;
