// Image names as people write them (upstream pkg/util/parsers, distribution/reference).

const domain =
  '(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?';
const component = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*';
const pattern = new RegExp(
  `^((?:${domain}/)?${component}(?:/${component})*)(?::([\\w][\\w.-]{0,127}))?(?:@([A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}))?$`,
);

/** The image with `:latest` when it has neither tag nor digest. Throws an Error with upstream's text when it is no image name. */
export function withDefaultTag(image: string): string {
  const match = pattern.exec(image);
  if (match === null) throw new Error(`couldn't parse image name "${image}": invalid reference format${hint(image)}`);
  return match[2] === undefined && match[3] === undefined ? `${image}:latest` : image;
}

const hint = (image: string): string =>
  /[A-Z]/.test(image.split(/[:@]/)[0] ?? '') ? ': repository name (library/' + image + ') must be lowercase' : '';

/** The registry an image comes from: `docker.io` unless the first part looks like a host. */
export function registryOf(image: string): string {
  const [first = '', ...rest] = image.split('/');
  return rest.length > 0 && (first.includes('.') || first.includes(':') || first === 'localhost') ? first : 'docker.io';
}
