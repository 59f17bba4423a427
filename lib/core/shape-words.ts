// What a schema finds wrong, in the words of this product. Values are never repeated.
import type * as z from 'zod';

/** What was expected at the place of an issue. */
export function expectedOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${TYPES[issue.expected] ?? `a ${issue.expected}`}`;
    case 'invalid_value':
      return `expected one of: ${issue.values.map(String).join(', ')}`;
    case 'too_small':
      return issue.origin === 'string'
        ? 'expected a text that is not empty'
        : `expected at least ${String(issue.minimum)}${unitOf(issue.origin)}`;
    case 'too_big':
      return `expected at most ${String(issue.maximum)}${unitOf(issue.origin)}`;
    case 'invalid_union':
      return 'options' in issue && issue.options !== undefined
        ? `expected one of: ${issue.options.map(String).join(', ')}`
        : own(issue.message, 'expected another shape');
    case 'not_multiple_of':
      return `expected a multiple of ${issue.divisor}`;
    case 'unrecognized_keys':
      return `expected no member ${issue.keys.join(', ')}`;
    default:
      return own(issue.message, 'expected another form');
  }
}

/** A message that the schema states itself; the library's own ones speak to programmers. */
const own = (message: string, otherwise: string): string =>
  message.startsWith('Invalid ') ? otherwise : message;

const TYPES: { readonly [type: string]: string } = {
  int: 'a whole number',
  object: 'an object',
  array: 'an array',
};

function unitOf(origin: string): string {
  if (origin === 'string') return ' characters';
  return origin === 'array' ? ' entries' : '';
}

/** What stands at a path of an input; undefined where nothing does. */
export function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, part) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, part)
        ? (value as Record<PropertyKey, unknown>)[part]
        : undefined,
    input,
  );
}
