// Names in patterns that Go reads and the compiler does not: of Unicode classes in any case, with or without separators, and by the long names
// of categories (since Go 1.25), and of groups twice.

const categories: Readonly<Record<string, string>> = {
  Any: 'Any',
  Ascii: 'Ascii',
  Assigned: 'Assigned',
  Casedletter: 'LC',
  Closepunctuation: 'Pe',
  Cntrl: 'Cc',
  Combiningmark: 'M',
  Connectorpunctuation: 'Pc',
  Control: 'Cc',
  Currencysymbol: 'Sc',
  Dashpunctuation: 'Pd',
  Decimalnumber: 'Nd',
  Digit: 'Nd',
  Enclosingmark: 'Me',
  Finalpunctuation: 'Pf',
  Format: 'Cf',
  Initialpunctuation: 'Pi',
  Letter: 'L',
  Letternumber: 'Nl',
  Lineseparator: 'Zl',
  Lowercaseletter: 'Ll',
  Mark: 'M',
  Mathsymbol: 'Sm',
  Modifierletter: 'Lm',
  Modifiersymbol: 'Sk',
  Nonspacingmark: 'Mn',
  Number: 'N',
  Openpunctuation: 'Ps',
  Other: 'C',
  Otherletter: 'Lo',
  Othernumber: 'No',
  Otherpunctuation: 'Po',
  Othersymbol: 'So',
  Paragraphseparator: 'Zp',
  Privateuse: 'Co',
  Punct: 'P',
  Punctuation: 'P',
  Separator: 'Z',
  Spaceseparator: 'Zs',
  Spacingmark: 'Mc',
  Surrogate: 'Cs',
  Symbol: 'S',
  Titlecaseletter: 'Lt',
  Unassigned: 'Cn',
  Uppercaseletter: 'Lu',
};

function canonicalName(name: string): string {
  const plain = name.replace(/[_ -]/g, '');
  const own = plain.slice(0, 1).toUpperCase() + plain.slice(1).toLowerCase();
  return (Object.hasOwn(categories, own) ? categories[own] : undefined) ?? own;
}

const unicodeClass = /\\[pP](?:\{(\^?)([^}]*)\}|([a-z]))|\\[^]/g;

const withCanonicalClasses = (part: string): string =>
  part.replace(unicodeClass, (whole, not: string | undefined, name: string | undefined, letter: string | undefined) => {
    if (letter !== undefined) return `${whole.slice(0, 2)}${letter.toUpperCase()}`;
    return name === undefined ? whole : `${whole.slice(0, 2)}{${not ?? ''}${canonicalName(name)}}`;
  });

const quotation = /\\Q(?:[^\\]|\\(?!E))*(?:\\E)?/.source;
const charClass = /\[\^?\]?(?:\[:\^?[a-z]+:\]|\\[^]|[^\]\\])*\]/.source;
const namedGroup = /\(\?P?<\w+>/.source;
const parts = new RegExp(`${quotation}|${charClass}|${namedGroup}|${unicodeClass.source}`, 'g');

/** Rewrites a pattern without names of groups, and with names of Unicode classes in the spelling that the compiler knows. */
export const withCanonicalNames = (pattern: string): string =>
  pattern.replace(parts, (part) => {
    if (part.startsWith('(')) return '(';
    return part.startsWith('\\Q') ? part : withCanonicalClasses(part);
  });
