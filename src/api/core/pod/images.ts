// Image references as far as defaults need them (github.com/distribution/reference): which tag an image is pulled by.

const domain =
  '(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?';
const segment = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*';
const reference = new RegExp(
  `^(?:(?<domain>${domain})/)?(?<path>${segment}(?:/${segment})*)(?::(?<tag>[\\w][\\w.-]{0,127}))?(?:@(?<digest>[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}))?$`,
);
const identifier = /^[a-f0-9]{64}$/;

/** The tag of an image: 'latest' when it names neither tag nor digest, '' when it has only a digest, is an image ID, or is not a valid reference. */
export function imageTag(image: string): string {
  if (identifier.test(image)) return '';
  const match = reference.exec(image);
  if (match?.groups === undefined) return '';
  const { tag, digest } = match.groups;
  return tag ?? (digest === undefined ? 'latest' : '');
}

/** How an image is pulled when nobody says: `latest` always, others once. */
export const defaultPullPolicy = (image: string | undefined): string =>
  imageTag(image ?? '') === 'latest' ? 'Always' : 'IfNotPresent';
