// Links between resources. Google writes them with varying hosts (www.googleapis.com, compute.googleapis.com) and as parts of paths, so only what
// they name is compared. Pure.

/** The name at the end of a link. */
export const nameIn = (link: string | undefined): string => link?.slice(link.lastIndexOf('/') + 1) ?? '';

/** The part that names the resource, from `projects` on. */
const pathIn = (link: string): string => {
  const at = link.indexOf('projects/');
  return at < 0 ? link : link.slice(at);
};

export const sameLink = (a: string | undefined, b: string | undefined): boolean => pathIn(a ?? '') === pathIn(b ?? '');

/** The part of an instance's link by which members of target pools are compared: `/zones/<zone>/instances/<name>`. */
export const instancePath = (zone: string, name: string): string => `/zones/${zone}/instances/${name}`;
export const instancePathIn = (link: string): string => {
  const at = link.indexOf('/zones/');
  return at < 0 ? '' : link.slice(at);
};

/** The region of a zone, which is named `<region>-<letter>`. */
export function regionOf(zone: string): string {
  const at = zone.lastIndexOf('-');
  if (at < 0) throw new Error(`unexpected zone: ${zone}`);
  return zone.slice(0, at);
}
