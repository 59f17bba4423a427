// The transcript of the demo, and its judge: every expectation is printed, a wrong one ends the story.
import { isDeepStrictEqual } from 'node:util';
import type { Answer, Assistant } from './assistant.ts';

/** The story took another course than it must. */
export class Deviation extends Error {
  override readonly name = 'Deviation';
}

/** Prints what is said and checks what is answered. */
export interface Transcript {
  scene(title: string): void;
  note(text: string): void;
  /** A person speaks, the assistant calls a tool, Checkpoint answers; expectations by dotted path. */
  turn(
    who: Assistant,
    words: string,
    tool: string,
    args: { readonly [name: string]: unknown },
    expected: { readonly [path: string]: unknown },
  ): Promise<Answer>;
  /** A person speaks and no answer comes. */
  silence(
    who: Assistant,
    words: string,
    tool: string,
    args: { readonly [name: string]: unknown },
  ): Promise<void>;
  expect(what: string, actual: unknown, expected: unknown): void;
}

/** Builds a transcript that prints through `out`. */
export function createTranscript(out: (text: string) => void): Transcript {
  let scenes = 0;
  const line = (label: string, text: string): void => {
    out(`  ${label.padEnd(11)}${text}`);
  };
  const expect = (what: string, actual: unknown, expected: unknown): void => {
    const good = isDeepStrictEqual(actual, expected);
    line(good ? '✓' : '✗', what);
    if (!good) {
      throw new Deviation(
        `${what}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`,
      );
    }
  };
  return {
    expect,
    scene: (title) => {
      scenes++;
      out(`\n${scenes}. ${title}`);
    },
    note: (text) => {
      line('', text);
    },
    turn: async (who, words, tool, args, expected) => {
      line(who.name, `“${words}”`);
      line('→', `${tool} ${JSON.stringify(args)}`);
      const answer = await who.call(tool, args);
      line('Checkpoint', `“${answer.text}”`);
      for (const [path, value] of Object.entries(expected)) {
        expect(`${path} is ${JSON.stringify(value)}`, valueAt(answer.fields, path), value);
      }
      return answer;
    },
    silence: async (who, words, tool, args) => {
      line(who.name, `“${words}”`);
      line('→', `${tool} ${JSON.stringify(args)}`);
      let answered = true;
      try {
        await who.call(tool, args);
      } catch {
        answered = false;
      }
      expect('no answer arrives', answered, false);
    },
  };
}

/** The value at a dotted path of an answer. */
export function valueAt(fields: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (value, name) => (value as Record<string, unknown> | undefined)?.[name],
      fields,
    );
}
