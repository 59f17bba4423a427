import { expect, test } from '@jest/globals';
import { killedEffects } from '../support/killed-effects.ts';
import { sqliteFiles } from '../support/sqlite-files.ts';

test('a process that is killed again and again loses no effect and doubles none', async () => {
  const files = sqliteFiles();
  try {
    const report = await killedEffects({
      opener: { module: './open-sqlite.ts', options: { path: files.path } },
      store: await files.open(),
      tenant: 'acme',
      workflows: 400,
      kills: 20,
    });
    console.info(`killed while delivering (sqlite): ${JSON.stringify(report)}`);
    expect(report).toMatchObject({
      expected: 1_200,
      kills: 20,
      lost: 0,
      doubled: 0,
      left: 0,
      trailsVerify: true,
    });
    expect(report.killedUnanswered).toBe(10);
    expect(report.deliveries).toBeGreaterThan(1_200);
  } finally {
    await files.remove();
  }
}, 300_000);
