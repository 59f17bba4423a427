// Where the values of a JSON text stand: lines and columns by JSON pointer, and what is wrong with the
// text itself. The syntax tree is a library's; what counts as acceptable is decided in the core.
import { parse, type DocumentNode, type ValueNode } from '@humanwhocodes/momoa';
import type { InputFault } from '../../core/input-fault.ts';
import { pointer } from '../../core/json.ts';

/** A place in a text; both count from 1, columns in UTF-16 code units. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** A fault with its place in the text. */
export interface PlacedFault extends InputFault, Place {}

/** What is known of one text. */
export interface Places {
  /** The place of a value, or of the nearest value around it where there is none. */
  at(path: string): Place;
  has(path: string): boolean;
  /** Every fault of the text that the tree shows; without a tree, the first one. */
  readonly faults: readonly PlacedFault[];
}

/** Reads a text as far as it is JSON. `text` has no byte order mark. */
export function placesOf(text: string): Places {
  let tree: DocumentNode;
  try {
    tree = parse(text, { mode: 'json' });
  } catch (error) {
    const at = (): Place => ({ line: 1, column: 1 });
    return { at, has: () => false, faults: [syntaxFault(error)] };
  }
  const places = new Map<string, Place>();
  const faults: PlacedFault[] = [];
  const open: { node: ValueNode; path: string }[] = [{ node: tree.body, path: '' }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, path } = next;
    // Taken from the end: of a name that comes twice, the last value is the one that counts.
    if (!places.has(path)) places.set(path, placeOf(node));
    if (node.type === 'Array') {
      node.elements.forEach(({ value }, i) => open.push({ node: value, path: pointer(path, i) }));
    } else if (node.type === 'Object') {
      const names = new Set<string>();
      for (const { name, value } of node.members) {
        const member = name.type === 'String' ? name.value : name.name;
        const inner = pointer(path, member);
        if (names.has(member)) faults.push(repeated(inner, placeOf(name)));
        names.add(member);
        if (hasControl(text, name)) faults.push(unescaped(inner, placeOf(name)));
        open.push({ node: value, path: inner });
      }
    } else if (hasControl(text, node)) faults.push(unescaped(path, placeOf(node)));
  }
  const at = (path: string): Place => {
    const found = places.get(path);
    if (found !== undefined || path === '') return found ?? { line: 1, column: 1 };
    return at(path.slice(0, path.lastIndexOf('/')));
  };
  return { at, has: (path) => places.has(path), faults };
}

interface Located {
  readonly loc: {
    readonly start: Place & { readonly offset: number };
    readonly end: { readonly offset: number };
  };
}

function placeOf({ loc }: Located): Place {
  return { line: loc.start.line, column: loc.start.column };
}

/** The library reads control characters within texts, which JSON wants to be escaped. */
function hasControl(text: string, { loc }: Located): boolean {
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  return /[\u0000-\u001f]/u.test(text.slice(loc.start.offset, loc.end.offset));
}

function repeated(path: string, place: Place): PlacedFault {
  return { ...place, path, message: 'the member name appears twice' };
}

function unescaped(path: string, place: Place): PlacedFault {
  return { ...place, path, message: 'expected control characters in a text to be escaped' };
}

/** What the library calls the parts of a text. */
const TOKENS: { readonly [name: string]: string } = {
  LBrace: '"{"',
  RBrace: '"}"',
  LBracket: '"["',
  RBracket: '"]"',
  Comma: '","',
  Colon: '":"',
  String: 'a text',
  Number: 'a number',
  Boolean: 'true or false',
  Null: 'null',
};

function syntaxFault(error: unknown): PlacedFault {
  const { line = 1, column = 1, message = '' } = error as Partial<Place & Error>;
  const token = /^Unexpected token (\w+) found/u.exec(message)?.[1];
  const other = /^Unexpected ((?:end of input|character|identifier)[^]{0,80}) found/u.exec(message);
  const met = token === undefined ? other?.[1] : (TOKENS[token] ?? token);
  const what = met === undefined ? '' : `: unexpected ${met}`;
  return { line, column, path: '', message: `expected valid JSON${what}` };
}
