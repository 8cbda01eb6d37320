// Writes test/fixtures/regexp.gen.json: what Go's regexp makes of some hundred patterns, in the words of its errors. Needs the Go toolchain.
// Usage: node spec/regexp.mjs
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Parts of RE2's syntax, each tried alone and in combinations, and things that look like it. */
const parts = String.raw`
a b . ^ $ | () (|a) (a|) (a|b) (a) (?:a) a* a+ a? a*? a+? a?? a{2} a{2,} a{2,3} a{2}? a{,3} a{ a{1 a{1, a{a} a{0} a{1000} a{1001} a{3,2}
a** a*+ a?+ a{2}{3} (a{10}){10} (a{100}){100} (a{1000}){2} * + ? {1} a|* (*) ^* $+ \b+ \b* (a*)* (a*)+ (a|b|)* (a+)(b+) (a|ab)(c|bcd)
\b \B \A \z \Z \G \d \D \s \S \w \W \pL \PL \pN \p{Greek} \P{Greek} \p{^Greek} \p{Lu} \p{Any} \p{Han} \p{greek} \p{Letter} \p{Lowercase_Letter}
\p{ASCII} \p{Assigned} \p{LC} \p{Zs} \pX \p \p{ \p{Foo} \p{Script=Greek} [\pL\pN] [^\pL] [\PL]
[[:alpha:]] [[:^alpha:]] [[:word:]] [[:digit:]a] [[:foo:]] [[:alpha:] [[.a.]] [[=a=]]
[a-c] [^a-c\d] []a] [^]a] [a\]b] [-a] [a-] [a-c-e] [z-a] [a [ [^\x00-\x{10FFFF}] [\Qab\E] [\d-z] [\w-\d] [a-\d] [😀] [é-ü] [^\n] [\s] [\b]
\Qa+b\E \Q(\E \Qab \Q\E \x41 \x{61} \x{10FFFF} \x{110000} \x{} \x{ \x \x4 \xg \101 \07 \0 \1 \8 \a \f \t \n \r \v \. \- \_ \! \é \C \e \u0041 \cA \k \
(?i) (?i)a (?i)[k] (?i)[^k] (?i)ſ (?i)Σ (?i)ß (?i)ǆ (?i)\p{Lu} (?i)[a-z] (?i:a)b (?i)(?-i)a (?-i)a (?s). (?s:.). (?m)^a$ (?m)^ (?m)$ (?U)a+ (?U)a+?
(?ims)a (?i-s)a. (?i)a(?-i)b (?P<n>a) (?<n>a) (?P<n>a)(?P<n>b) (?P<n> (?P<1>a) (?<é>a) (?P=n) (?P>n) (?=a) (?!a) (?<=a) (?<!a) (?#x) (?>a) (?z) (?-) (?i-) (?) (?i (?:
( ) (( )) ((a) a) [a]] (?i)(abort|warn) ^(?i)(abort|warn)?$ ^((?i)sun|mon)day$ ^(a+)+$ (x+x+)+y (.*)(.*)x ^$ ^\s*$ .*b a.c a\sc \.+ 漢字? é+ 😀?
`
  .trim()
  .split(/\s+/);

/** Patterns that widespread kinds carry. */
const widespread = [
  '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$',
  '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$',
  '^(0|(([0-9]+)y)?(([0-9]+)w)?(([0-9]+)d)?(([0-9]+)h)?(([0-9]+)m)?(([0-9]+)s)?(([0-9]+)ms)?)$',
  "^[A-Za-z0-9!#$%&'*+\\-.^_\\x60|~]+$",
  '^(?i)\\.?[a-z_][a-z_0-9]*(\\.[a-z_][a-z_0-9]*)*$',
  '^((?i)sun|mon|tues|wednes|thurs|fri|satur)day(?:((:(sun|mon|tues|wednes|thurs|fri|satur)day)$)|$)',
  '^([a-zA-Z0-9])(([\\-.]|[_]+)?([a-zA-Z0-9]+))*(@){1}[a-z0-9]+[.]{1}(([a-z]{2,3})|([a-z]{2,3}[.]{1}[a-z]{2,3}))$',
  '^(?:(?:25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)\\.){3}(?:25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)$',
];

const texts = [
  ...[
    '',
    'a',
    'ab',
    'aaa!',
    'abcbcd',
    'cab aB',
    'kKſ\u212as',
    'ΣςσßẞǆǅǄ',
    'é漢😀x',
    'a\nb\r\nc\td\u00a0\v',
    'A.+(b)\\[z]{2}\u2028',
    '10_9-0',
  ],
  ...['Monday', 'SUNday:monday', 'WARN', 'my-app.example.com', '100Mi', 'me.you@example.org', '10.0.255.1', '1h30m'],
];

// A linear congruential generator: the same patterns in every run.
let state = 7;
const chance = (below) => {
  state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
  return Math.floor((state / 0x80000000) * below);
};
const part = () => parts[chance(parts.length)];
const joined = [
  (a, b) => a + b,
  (a, b) => `${a}|${b}`,
  (a, b) => `(${a})${b}`,
  (a, b) => `(?:${a}${b})+`,
  (a, b) => `${a}(${b}|)*?`,
];
const combined = Array.from({ length: 300 }, () => joined[chance(joined.length)](part(), part()));

const here = dirname(fileURLToPath(import.meta.url));
const Patterns = [...new Set([...parts, ...widespread, ...combined])];
const answer = execFileSync('go', ['run', '.'], {
  cwd: join(here, 'regexp'),
  input: JSON.stringify({ Patterns, Texts: texts }),
  encoding: 'utf8',
  maxBuffer: 1 << 26,
});
const { version, rows } = JSON.parse(answer);
const lines = Patterns.map((pattern, at) => `  ${JSON.stringify([pattern, rows[at].error ?? rows[at].matches])}`);
const head = ` "source": ${JSON.stringify(`package regexp of ${version}`)},\n "texts": ${JSON.stringify(texts)}`;
writeFileSync(join(here, '..', 'test', 'fixtures', 'regexp.gen.json'), `{\n${head},\n "rows": [\n${lines.join(',\n')}\n ]\n}\n`);
