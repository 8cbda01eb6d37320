// Resources as an EncryptionConfiguration names them: `secrets`, `deployments.apps`, `*.apps`, `*.` (all of the core group), `*.*`. Pure.

export interface GroupResource {
  group: string;
  resource: string;
}

export function parseGroupResource(text: string): GroupResource {
  const dot = text.indexOf('.');
  return dot < 0 ? { group: '', resource: text } : { group: text.slice(dot + 1), resource: text.slice(0, dot) };
}

/** The text by which metrics and messages name the resource. */
export const groupResourceText = ({ group, resource }: GroupResource): string => {
  if (group === '') return resource === '*' ? '*.' : resource;
  return `${resource}.${group}`;
};
