import { expect, test } from '@jest/globals';
import type { DeploymentValues } from '../../lib/adapters/deployment/read-values.ts';
import type { EvidenceServerSettings } from '../../lib/settings/evidence.ts';
import { keptEvidence, keptTickets } from '../../lib/wiring/kept.ts';

const ID = 'arn:aws:secretsmanager:eu-central-1:123456789012:secret:kept-AbCdEf';
const SECRET = `whsec_${'A'.repeat(32)}`;
const values = (text: string): DeploymentValues => ({
  parameter: () => Promise.reject(new Error('not asked')),
  secret: (id) => Promise.resolve(id === ID ? text : ''),
  close: () => undefined,
});
const BUNDLED: EvidenceServerSettings[] = [{ name: 'bundled', kind: 'bundled' }];

test('evidence servers with their headers are read from the secret that the settings name', async () => {
  const text =
    '[{"name":"metrics","url":"https://metrics.example.com/mcp","headers":{"authorization":"Bearer t"}}]';
  const settings = { evidenceServers: BUNDLED, evidenceSecretId: ID };
  expect(await keptEvidence(settings, values(text))).toEqual([
    {
      name: 'metrics',
      kind: 'url',
      url: 'https://metrics.example.com/mcp',
      headers: { authorization: 'Bearer t' },
      privateNetwork: false,
    },
  ]);
  expect(await keptEvidence({ ...settings, evidenceSecretId: undefined }, values(text))).toBe(
    BUNDLED,
  );
});

test('a webhook for tickets is read from the secret that the settings name', async () => {
  const url = 'https://desk.example.com/tickets';
  const text = JSON.stringify({ webhook: { url, secrets: [SECRET] } });
  const settings = { tickets: { kind: 'built-in' }, ticketsSecretId: ID } as const;
  expect(await keptTickets(settings, values(text))).toEqual({
    kind: 'webhook',
    url,
    secrets: [SECRET],
  });
});

test.each([
  ['no JSON', '{"secret-1"', 'expected JSON'],
  ['a URL that is not secure', '[{"name":"m","url":"http://m.example.com"}]', 'at 0.url: expected'],
  ['nothing known', '[{"name":"m"}]', 'at 0.name: expected exactly one of'],
])('%s in such a secret ends the start, and is told by its place alone', async (_, text, said) => {
  const settings = { evidenceServers: BUNDLED, evidenceSecretId: ID };
  const reading = keptEvidence(settings, values(text));
  await expect(reading).rejects.toMatchObject({ kind: 'terminal', code: 'START_REFUSED' });
  const told = await reading.catch((error: unknown) => String(error));
  expect(told).toContain(`the secret ${ID} holds no list of evidence servers`);
  expect(told).toContain(said);
  expect(told).not.toContain('secret-1');
});

test('a command in such a secret ends the start: a function has none', async () => {
  const settings = { evidenceServers: BUNDLED, evidenceSecretId: ID };
  const text = '[{"name":"own","command":"/bin/secret-1"}]';
  const reading = keptEvidence(settings, values(text));
  await expect(reading).rejects.toMatchObject({ kind: 'terminal', code: 'START_REFUSED' });
  await expect(reading).rejects.toThrow('own is a command, which a function does not have');
});

test.each(['opscenter', 'built-in'])(
  '%s in the secret of a webhook ends the start',
  async (word) => {
    const settings = { tickets: { kind: 'built-in' }, ticketsSecretId: ID } as const;
    const reading = keptTickets(settings, values(word));
    await expect(reading).rejects.toMatchObject({ kind: 'terminal', code: 'START_REFUSED' });
    await expect(reading).rejects.toThrow(`the secret ${ID} holds no webhook`);
  },
);
