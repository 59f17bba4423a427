// Commands per second of the service on the embedded store at `synchronous=FULL`, beside the bare engine
// writing the same rows. Both take turns in blocks, so that a busy moment of the machine meets both.
import { join } from 'node:path';
import { complete, person, start, threeSteps } from '../support/domain.ts';
import { median, ms, perSecond, times } from '../support/measure.ts';
import { openRaw, recording, type RowWrite } from '../support/raw-engine.ts';
import { openStore, serviceOn, withFolder, type BenchService } from '../support/service-on.ts';
import type { Topic } from '../support/table.ts';

const COMMANDS_PER_WORKFLOW = 5;

/** One block: whole workflows one after the other, as one person does them. */
async function playBlock({ ok }: BenchService, block: number, workflows: number): Promise<void> {
  for (let i = 0; i < workflows; i++) {
    const who = person(`tenant-${i % 10}`, `worker-${i % 50}`);
    const { receipt } = await ok(who, start(`VALVE-${block * workflows + i}`));
    for (const step of threeSteps(receipt.workflow)) await ok(who, step);
    await ok(who, complete(receipt.workflow));
  }
}

/** Measures whole workflows (start, three steps, completion). */
export const commands: Topic = (size, note) =>
  withFolder(async (folder) => {
    const blocks = size === 'quick' ? 6 : 24;
    const workflows = size === 'quick' ? 40 : 100;
    const perBlock = workflows * COMMANDS_PER_WORKFLOW;
    note(`${blocks} blocks of ${perBlock} commands`);

    const rows: (readonly RowWrite[])[] = [];
    const recorder = await openStore(join(folder, 'recorded.sqlite'));
    for (let block = -1; block < blocks; block++) {
      await playBlock(serviceOn(recording(recorder, rows)), block + 1, workflows);
    }
    await recorder.close();

    const store = await openStore(join(folder, 'service.sqlite'));
    const service = serviceOn(store);
    const raw = await openRaw(join(folder, 'raw.sqlite'));
    const rates = { service: [] as number[], raw: [] as number[], ratio: [] as number[] };
    const cpu = { service: [] as number[], raw: [] as number[] };
    const perCommand = (from: NodeJS.CpuUsage): number => {
      const { user, system } = process.cpuUsage(from);
      return (user + system) / 1_000 / perBlock;
    };
    for (let block = -1; block < blocks; block++) {
      const transactions = rows.slice((block + 1) * perBlock, (block + 2) * perBlock);
      const byService = async (): Promise<number> => {
        const used = process.cpuUsage();
        const from = performance.now();
        await playBlock(service, block + 1, workflows);
        if (block >= 0) cpu.service.push(perCommand(used));
        return (perBlock * 1_000) / (performance.now() - from);
      };
      const byEngine = (): number => {
        const used = process.cpuUsage();
        const from = performance.now();
        for (const transaction of transactions) raw.write(transaction);
        if (block >= 0) cpu.raw.push(perCommand(used));
        return (perBlock * 1_000) / (performance.now() - from);
      };
      const engineFirst = block % 2 === 0;
      const early = engineFirst ? byEngine() : 0;
      const served = await byService();
      const wrote = engineFirst ? early : byEngine();
      // The first block warms both up.
      if (block < 0) continue;
      rates.service.push(served);
      rates.raw.push(wrote);
      rates.ratio.push(served / wrote);
    }
    await store.close();
    raw.close();

    const ratio = median(rates.ratio);
    const row = (what: string, values: readonly number[], show: (value: number) => string) => [
      what,
      show(median(values)),
      show(Math.min(...values)),
      show(Math.max(...values)),
    ];
    return {
      title: 'Commands per second at synchronous=FULL',
      head: ['whole workflows of three steps, five commands each', 'median', 'least', 'most'],
      rows: [
        row('service on the embedded store', rates.service, perSecond),
        row('bare engine, same rows, prepared statements', rates.raw, perSecond),
        row('ratio, block by block', rates.ratio, times),
        row('processor time per command, service', cpu.service, ms),
        row('processor time per command, bare engine', cpu.raw, ms),
      ],
      targets: [
        {
          name: 'service to bare engine, same rows',
          measured: times(ratio),
          target: 'at least 0.50×',
          met: ratio >= 0.5,
        },
      ],
    };
  });
