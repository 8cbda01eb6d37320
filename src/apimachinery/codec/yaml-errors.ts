// Syntax errors of YAML in the words of upstream's parser (libyaml, as go-yaml reports them): errors of its scanner name the line they are in,
// errors of its grammar the line before, and neither names the first.
import type { YAMLError } from 'yaml';

// oxlint-disable-next-line no-control-regex -- these are what YAML forbids
export const controlCharacters = /[\0-\x08\v\f\x0e-\x1f\x7f]/;

interface Words {
  text: string;
  /** Where libyaml would see it. */
  at: number;
  scanner: boolean;
}

const scanner = (text: string, at: number): Words => ({ text, at, scanner: true });
const grammar = (text: string, at: number): Words => ({ text, at, scanner: false });

function wordsOf(error: YAMLError, text: string): Words {
  const [start, end] = error.pos;
  const { code, message } = error;
  if (message.startsWith('Flow sequence') || message.startsWith('Flow map')) {
    const expectsNode = /[[{,]\s*$/.test(text.slice(0, start));
    return grammar(
      expectsNode
        ? 'did not find expected node content'
        : `did not find expected ',' or '${message.startsWith('Flow map') ? '}' : ']'}'`,
      start,
    );
  }
  if (message.startsWith('Missing closing')) return scanner('found unexpected end of stream', start);
  if (message.startsWith('All sequence items')) return grammar("did not find expected '-' indicator", start);
  if (message.startsWith('Block scalar header')) return scanner('did not find expected comment or line break', start);
  if (message.startsWith('Implicit keys of flow')) return grammar("did not find expected ',' or ']'", end);
  switch (code) {
    case 'TAB_AS_INDENT':
      return scanner('found a tab character that violates indentation', start);
    case 'BLOCK_AS_IMPLICIT_KEY':
      return scanner('mapping values are not allowed in this context', start + Math.max(0, text.slice(start).search(/:\s/)));
    case 'MULTILINE_IMPLICIT_KEY':
      return scanner('mapping values are not allowed in this context', end);
    case 'MISSING_CHAR':
      return scanner("could not find expected ':'", text.length);
    case 'BAD_DQ_ESCAPE':
      return scanner('found unknown escape character', start);
    case 'BAD_ALIAS':
      return scanner('did not find expected alphabetic or numeric character', start);
    case 'BAD_SCALAR_START':
      return scanner('found character that cannot start any token', start);
    case 'TAG_RESOLVE_FAILED':
      return scanner("did not find the expected '>'", start);
    case 'RESOURCE_EXHAUSTION':
      return scanner('exceeded max depth of 10000', start);
    case 'BAD_INDENT':
      return grammar('did not find expected key', start);
    default:
      return grammar(unexpected(message, text), start);
  }
}

function unexpected(message: string, text: string): string {
  if (!message.startsWith('Unexpected scalar at node end')) return 'did not find expected node content';
  return /^- /.test(text.trimStart()) ? "did not find expected '-' indicator" : 'did not find expected key';
}

/** The message without "yaml: ". */
export function libyamlMessage(error: YAMLError, text: string): string {
  const words = wordsOf(error, text);
  // The end of the text counts as the line after a final line break.
  const missingBreak = words.at >= text.length && !text.endsWith('\n') && !words.text.startsWith('found unexpected') ? 1 : 0;
  const line = text.slice(0, words.at).split('\n').length + missingBreak;
  const shown = words.scanner ? line : line - 1;
  return shown > (words.scanner ? 1 : 0) ? `line ${shown}: ${words.text}` : words.text;
}
