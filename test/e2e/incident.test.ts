// An incident on a server as `npm start` runs it, with each ticket provider.
import { afterAll, describe, expect, jest, test } from '@jest/globals';
import { inProcess } from '../support/command-line.ts';
import { dataFolder, serve, serveInChild, tokenFor } from '../support/e2e.ts';
import { rest, runUntil } from '../support/rest-client.ts';
import {
  DESK_SECRET,
  startOpsCenter,
  startWebhookDesk,
  type TicketDesk,
} from '../support/ticket-desks.ts';
import { onDataFile } from '../support/trail.ts';

jest.setTimeout(120_000);

const INCIDENT = { service: 'payments', symptom: 'card payments time out' };
const desks: TicketDesk[] = [];
afterAll(() => Promise.all(desks.map((desk) => desk.close())));

const deskOf = async (start: () => Promise<TicketDesk>): Promise<TicketDesk> => {
  const desk = await start();
  desks.push(desk);
  return desk;
};

/** People of a data folder. */
async function peopleOf(folder: string) {
  const [ana, cara] = await Promise.all([
    tokenFor(folder, 'ana', 'runs:create,approvals:decide,audit:read'),
    tokenFor(folder, 'cara', 'approvals:decide'),
  ]);
  return { ana, cara };
}

describe('an incident', () => {
  test.each<readonly [string, () => Promise<readonly [Record<string, string>, TicketDesk?]>]>([
    ['built-in', () => Promise.resolve([{}])],
    [
      'webhook',
      async () => {
        const desk = await deskOf(startWebhookDesk);
        const webhook = { url: `${desk.url}/tickets`, secrets: [DESK_SECRET] };
        return [{ CHECKPOINT_TICKETS: JSON.stringify({ webhook }) }, desk];
      },
    ],
    [
      'opscenter',
      async () => {
        const desk = await deskOf(startOpsCenter);
        const aws = { AWS_ACCESS_KEY_ID: 'x', AWS_SECRET_ACCESS_KEY: 'x', AWS_REGION: 'eu-west-1' };
        const settings = { CHECKPOINT_TICKETS: 'opscenter', AWS_ENDPOINT_URL_SSM: desk.url };
        return [{ ...settings, ...aws }, desk];
      },
    ],
  ])('ends with one verified ticket of the provider %s', async (provider, prepare) => {
    const [settings, desk] = await prepare();
    const folder = await dataFolder();
    const server = await serveInChild(folder, settings);
    const { ana, cara } = await peopleOf(folder);
    const asAna = { url: server.url, token: ana };
    const asCara = { url: server.url, token: cara };

    const created = await rest(asAna, '/runs', INCIDENT);
    expect(created).toMatchObject({
      status: 201,
      body: {
        status: 'awaiting_approval',
        proposed_action: { type: 'ticket.create', target: 'payments' },
      },
    });
    const { run_id, action_hash } = created.body;
    const decision = { approved: true, action_hash };
    const own = await rest(asAna, `/runs/${String(run_id)}/approval`, decision);
    expect([own.status, own.body['code']]).toEqual([403, 'FORBIDDEN']);
    expect(desk?.tickets ?? []).toEqual([]);
    expect((await rest(asCara, `/runs/${String(run_id)}/approval`, decision)).status).toBe(200);
    const run = await runUntil(asCara, String(run_id), ['completed', 'failed']);
    expect(run).toMatchObject({ status: 'completed', result: { provider } });

    if (desk === undefined) {
      const kept = onDataFile(folder, (db) => db.prepare('SELECT body FROM tickets').all());
      const tickets = kept.map(({ body }) => JSON.parse(String(body)) as object);
      expect(tickets).toMatchObject([{ action_hash, target: 'payments' }]);
    } else {
      expect(desk.tickets.map(({ content }) => content['action_hash'])).toEqual([action_hash]);
    }
    const trail = await rest(asAna, `/runs/${String(run_id)}/events`);
    expect((trail.body['items'] as { type: string }[]).map(({ type }) => type)).toEqual([
      'run_created',
      'gathering_started',
      'observation_recorded',
      'observation_recorded',
      'observation_recorded',
      'action_proposed',
      'action_approved',
      'write_intended',
      'write_made',
      'run_completed',
    ]);
    await server.stop();
    expect(await server.exited).toBe(0);
    expect((await inProcess(['audit', 'verify', '--data', folder])).code).toBe(0);
  });

  test('says what its evidence servers offer', async () => {
    const folder = await dataFolder();
    const server = await serve(folder);
    const { ana } = await peopleOf(folder);
    const { status, body } = await rest({ url: server.url, token: ana }, '/tools');
    expect(status).toBe(200);
    expect(body['tools']).toMatchObject([
      { name: 'service_status', allowed: true, pinned: true },
      { name: 'runbook_search', allowed: true, pinned: true },
    ]);
  });

  test('without evidence fails, and goes on once its servers are there', async () => {
    const folder = await dataFolder();
    const broken = [{ name: 'bundled', command: process.execPath, args: ['--eval', ''] }];
    const first = await serve(folder, { CHECKPOINT_EVIDENCE_SERVERS: JSON.stringify(broken) });
    const { ana } = await peopleOf(folder);
    const created = await rest({ url: first.url, token: ana }, '/runs', INCIDENT);
    expect(created).toMatchObject({ status: 201, body: { ended: { code: 'NO_EVIDENCE' } } });
    await first.stop();
    const second = await serve(folder);
    const by = { url: second.url, token: ana };
    const id = String(created.body['run_id']);
    expect((await rest(by, `/runs/${id}/resume`, {})).status).toBe(200);
    expect(await runUntil(by, id, ['awaiting_approval', 'failed'])).toMatchObject({
      status: 'awaiting_approval',
      attempt: 2,
    });
  });

  test('whose budget is one step proposes with what it has, and says what is missing', async () => {
    const folder = await dataFolder();
    const server = await serve(folder, { CHECKPOINT_EVIDENCE_STEPS: '1' });
    const { ana } = await peopleOf(folder);
    const { body } = await rest({ url: server.url, token: ana }, '/runs', INCIDENT);
    expect(body).toMatchObject({
      status: 'awaiting_approval',
      missing: expect.stringContaining('the step budget was spent before runbook_search answered'),
    });
  });
});
