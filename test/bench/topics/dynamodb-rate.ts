// Commands per second of the service over a DynamoDB engine on this machine. It says what the client side
// costs; the service itself answers from another machine, in milliseconds, and scales out.
import { createDynamoClient } from '../../../lib/adapters/dynamodb/client.ts';
import { createDynamoStore } from '../../../lib/adapters/dynamodb/store.ts';
import { systemClock, systemRandom } from '../../../lib/adapters/runtime/system.ts';
import { complete, person, start, threeSteps } from '../support/domain.ts';
import { withTable } from '../support/dynamo-session.ts';
import { ms, perSecond, spread, timed } from '../support/measure.ts';
import { serviceOn, type BenchService } from '../support/service-on.ts';
import type { Topic } from '../support/table.ts';

/** Whole workflows one after the other, as one person does them. */
async function play(
  { ok }: BenchService,
  samples: number[],
  name: string,
  workflows: number,
): Promise<void> {
  const who = person('acme', name);
  for (let i = 0; i < workflows; i++) {
    const asset = `VALVE-${name.replace(/\D/gu, '')}${String(i).padStart(5, '0')}`;
    const { receipt } = await timed(samples, () => ok(who, start(asset)));
    for (const step of threeSteps(receipt.workflow)) await timed(samples, () => ok(who, step));
    await timed(samples, () => ok(who, complete(receipt.workflow)));
  }
}

/** Measures one caller, and several at once. */
export const dynamodbRate: Topic = (size, note) =>
  withTable(async (tableName, options, engine) => {
    const client = createDynamoClient(options);
    const parts = { client, tableName, clock: systemClock, random: systemRandom };
    const store = createDynamoStore(parts);
    const service = serviceOn(store);
    const workflows = size === 'quick' ? 20 : 100;
    await play(service, [], 'warm-9', 5);
    const rows: string[][] = [];
    for (const callers of [1, 8]) {
      note(`${callers} callers`);
      const samples: number[] = [];
      const from = performance.now();
      await Promise.all(
        Array.from({ length: callers }, (_, i) =>
          play(service, samples, `caller-${callers}${i}`, Math.ceil(workflows / callers)),
        ),
      );
      const rate = (samples.length * 1_000) / (performance.now() - from);
      const { p50, p99 } = spread(samples);
      rows.push([`${callers} at a time`, perSecond(rate), ms(p50), ms(p99)]);
    }
    await store.close();
    return {
      title: `Commands per second on ${engine}`,
      head: ['whole workflows of three steps, one commit each', 'commits', 'p50', 'p99'],
      rows,
      targets: [],
    };
  });
