import { describe, expect, test } from '@jest/globals';
import { readSettings } from '../../lib/settings.ts';
import { faultsOf } from '../support/settings-faults.ts';

const SECRET = `whsec_${Buffer.from('a secret of the ticket desk').toString('base64')}`;
const URL = 'https://desk.example.com/tickets';

describe('CHECKPOINT_TICKETS', () => {
  const read = (text: string) => readSettings({ CHECKPOINT_TICKETS: text }).tickets;
  const problemOf = (text: string): string =>
    faultsOf({ CHECKPOINT_TICKETS: text })[0]?.problem ?? '';
  const hook = (part: object) =>
    JSON.stringify({ webhook: { url: URL, secrets: [SECRET], ...part } });

  test('is the built-in table where nothing is set', () => {
    expect(readSettings({}).tickets).toEqual({ kind: 'built-in' });
  });

  test.each([
    ['built-in', { kind: 'built-in' }],
    ['opscenter', { kind: 'opscenter' }],
    [hook({}), { kind: 'webhook', url: URL, secrets: [SECRET] }],
  ])('takes %s', (text, expected) => {
    expect(read(text)).toEqual(expected);
  });

  const EXPECTED = 'expected built-in, opscenter or a JSON object with a webhook';
  test.each([
    ['another word', 'hunter2', EXPECTED],
    ['a list', '["hunter2"]', EXPECTED],
    ['no JSON', '{"hunter2', EXPECTED],
    ['another member', '{"hunter2":{}}', EXPECTED],
    [
      'a URL without TLS',
      hook({ url: 'http://desk.example.com/hunter2' }),
      'expected an https URL',
    ],
    ['no secret', hook({ secrets: [] }), '/webhook/secrets expected at least one secret'],
    [
      'a secret of another form',
      hook({ secrets: ['hunter2'] }),
      '/webhook/secrets/0 expected whsec_',
    ],
    ['a member too many', hook({ token: 'hunter2' }), '/webhook'],
  ])('refuses %s, and repeats nothing of it', (_title, text, problem) => {
    expect(problemOf(text)).toContain(problem);
    expect(problemOf(text)).not.toContain('hunter2');
  });
});
