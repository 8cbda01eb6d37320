import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LinkRewriter, proxiedLink } from './html-links.ts';

const page = { prefix: '/api/v1/namespaces/ns/pods/p/proxy', host: '10.244.1.2:80', clientHost: 'api:6443' };
function rewritten(html: string, sizes: readonly number[] = [html.length]): string {
  const rewriter = new LinkRewriter((link) => proxiedLink(link, page));
  let [out, at, turn] = ['', 0, 0];
  while (at < html.length) {
    const size = sizes[turn++ % sizes.length] ?? 1;
    out += rewriter.push(html.slice(at, at + size));
    at += size;
  }
  return out + rewriter.end();
}

describe('links', () => {
  it.each([
    ['/a/b?c=d#e', `${page.prefix}/a/b?c=d#e`],
    ['http://10.244.1.2:80/a', `${page.prefix}/a`],
    ['//10.244.1.2:80/a', `${page.prefix}/a`],
    ['https://api:6443/a', `https://api:6443${page.prefix}/a`],
    [`${page.prefix}/a`, `${page.prefix}/a`],
    ['a/b', 'a/b'],
    ['#top', '#top'],
    ['', ''],
    ['http://example.com/a', 'http://example.com/a'],
    ['mailto:a@b', 'mailto:a@b'],
  ])('%j becomes %j', (link, now) => expect(proxiedLink(link, page)).toBe(now));
});

describe('a page', () => {
  it('has its links rewritten and everything else as it was', () => {
    const html = (link: string): string =>
      `<!DOCTYPE html>\n<!-- <a href="/no"> --><A class='x' HREF = "${link}">1 < 2 &amp; /no</A><img alt='/no' src='${link}'/><form action=${link}>` +
      `<script>"<a href='/no'>"</script><a title=">" href="${link}"><a data-href="/no"><p href="/no">\xff`;
    expect(rewritten(html('/in'))).toBe(html(`${page.prefix}/in`));
  });
  it('comes out the same in whatever pieces it comes', () => {
    const piece = fc.constantFrom(
      '<a href="/x">',
      '<',
      '>',
      '"',
      "'",
      '=',
      ' ',
      '<!--',
      '-->',
      '<script>',
      '</script>',
      '<img src=/y',
      '/',
      'é',
      '<b',
      'href="/z"',
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 20 }),
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 }),
        (parts, sizes) => {
          const html = parts.join('');
          expect(rewritten(html, sizes)).toBe(rewritten(html));
        },
      ),
    );
  });
  it('that never ends a tag is passed on', () => {
    const html = `<a href="/${'x'.repeat(20_000)}`;
    expect(rewritten(html, [1_000])).toBe(html);
  });
});
