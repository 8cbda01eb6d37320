// A resource as the API shows it, and its path.

export interface Resource {
  kind: string;
  id: string;
  name: string;
  description?: string;
  creationTimestamp: string;
  selfLink: string;
  region?: string;
  zone?: string;
  [field: string]: unknown;
}

/** Links in answers have this host, whatever host the client called. */
export const linkBase = 'https://www.googleapis.com/compute/v1/';

/** The path in a link, from `projects` on; parts of paths are completed for the project. */
export function pathIn(link: unknown, project: string): string {
  const text = String(link ?? '');
  const at = text.indexOf('projects/');
  if (at >= 0) return text.slice(at);
  const part = /(?:^|\/)((?:zones|regions)\/[^/]+\/.+|global\/.+)$/.exec(text)?.[1];
  return part ? `projects/${project}/${part}` : text;
}
export const linkOf = (path: string): string => linkBase + path;
export const nameIn = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
export const projectIn = (path: string): string => path.split('/')[1] ?? '';
/** The part of a path that says where a resource lives: `projects/p/regions/r` of `projects/p/regions/r/targetPools/x`. */
export const placeIn = (path: string): string =>
  path
    .split('/')
    .slice(0, path.includes('/global/') ? 3 : 4)
    .join('/');
