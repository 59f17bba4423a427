import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { Answer, Assistant } from '../../lib/cli/demo/assistant.ts';
import { exitCodeOf } from '../../lib/cli/demo/demo.ts';
import { playStory } from '../../lib/cli/demo/story.ts';
import { createTranscript } from '../../lib/cli/demo/transcript.ts';
import { ENTRY, runScript } from '../support/command-line.ts';

/** A person whose server gives these answers, one after the other. */
function assistant(name: string, answers: readonly object[]): Assistant {
  const left = [...answers];
  return {
    name,
    call: () => {
      const fields = left.shift();
      if (fields === undefined) return Promise.reject(new Error('the connection was lost'));
      return Promise.resolve({ isError: false, text: 'Fine.', fields } as Answer);
    },
    close: () => Promise.resolve(),
  };
}

/** Plays the story with such answers; says how it ended and what was printed. */
async function played(answers: readonly object[]) {
  const lines: string[] = [];
  const out = (text: string): void => {
    lines.push(text);
  };
  const code = await exitCodeOf(
    () =>
      playStory({
        ana: assistant('Ana', answers),
        ben: assistant('Ben', []),
        cara: assistant('Cara', []),
        transcript: createTranscript(out),
        killAtNextAnswer: () => undefined,
        restart: () => Promise.resolve(),
        audit: () => Promise.resolve({ code: 0, output: '' }),
      }),
    out,
  );
  return { code, lines };
}

const started = {
  code: 'OK',
  duplicate: false,
  workflow_id: 'w',
  workflow: { state: 'CREATED' },
  next_step: { step: 'guards_check' },
};

describe('checkpoint demo', () => {
  test('plays to its end with a kill, a duplicate and a trail that verifies, and ends with 0', async () => {
    const { code, out, err } = await runScript(ENTRY, ['demo'], {
      // The story is the same whatever the machine is set up for.
      HOST: '0.0.0.0',
      CHECKPOINT_PUBLIC_URL: 'https://checkpoint.example.com/mcp',
      CHECKPOINT_COMMAND_TIMEOUT_MS: 'never',
    });
    expect(err).toBe('');
    expect(out).toContain('✓          no answer arrives');
    expect(out).toContain(
      '(the server was killed with SIGKILL and is started again on the same data)',
    );
    expect(out).toContain('✓          duplicate is true');
    expect(out).toContain('✓          code is "STALE_REFERENCE"');
    expect(out).toContain('✓          every trail verifies');
    expect(out).not.toContain('✗');
    expect(out.endsWith('\nEvery answer was the right one.\n')).toBe(true);
    expect(code).toBe(0);
  }, 90_000);

  test('ends with 1 at the first answer that deviates, and names it', async () => {
    const { code, lines } = await played([{ ...started, next_step: { step: 'vibration' } }]);
    expect(code).toBe(1);
    expect(lines.slice(-3)).toEqual([
      '  ✓          workflow.state is "CREATED"',
      '  ✗          next_step.step is "guards_check"',
      '\nThe story took another course. next_step.step is "guards_check": expected "guards_check", got "vibration"',
    ]);
  });

  test('ends with 1 where an answer lacks a field', async () => {
    const { code, lines } = await played([started, { code: 'OK' }]);
    expect(code).toBe(1);
    expect(lines.at(-1)).toContain('expected "RUNNING", got undefined');
  });

  test('takes a connection that is lost for a failure of its own', async () => {
    await expect(played([])).rejects.toThrow('the connection was lost');
  });
});

describe('the example', () => {
  test('plays an inspection in process and ends with 0', async () => {
    const example = join(import.meta.dirname, '../../examples/pump-inspection.ts');
    const { code, out, err } = await runScript(example);
    expect(err).toBe('');
    expect(out.endsWith('The trail of 12 events verifies.\n')).toBe(true);
    expect(code).toBe(0);
  });
});
