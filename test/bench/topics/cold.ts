// The first call of the bundled HTTP function in a fresh process: the module with its start (settings,
// secrets, URL, procedures), then one call. The stores it reads are on this machine, so what is measured
// is the function's own work.
import { buildBundle } from '../../support/lambda/bundle.ts';
import { deploy } from '../../support/lambda/deployed.ts';
import { startFunction } from '../../support/lambda/function-process.ts';
import { median, ms } from '../support/measure.ts';
import { withFolder } from '../support/service-on.ts';
import type { Topic } from '../support/table.ts';

/** Measures fresh processes, one after the other. */
export const cold: Topic = (size, note) =>
  withFolder(async (folder) => {
    const runs = size === 'quick' ? 5 : 21;
    const { file, bytes } = await buildBundle('lambdas/http.ts', folder);
    note(`${bytes} bytes; ${runs} processes`);
    const deployed = await deploy(file);
    try {
      const token = await deployed.token({ subject: 'ana', scopes: ['procedures:run'] });
      const call = { name: 'list_my_workflows', arguments: {} };
      const event = {
        rawPath: '/mcp',
        requestContext: { domainName: '127.0.0.1', http: { method: 'POST' } },
        headers: {
          host: '127.0.0.1',
          'content-type': 'application/json',
          authorization: `Bearer ${token}`,
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: call }),
      };
      const flags = process.execArgv.filter((flag) => flag.startsWith('--cpu-prof'));
      const loaded: number[] = [];
      const first: number[] = [];
      const both: number[] = [];
      const processor: number[] = [];
      for (let run = -1; run < runs; run++) {
        const lambda = await startFunction(file, deployed.env, run === 0 ? flags : []);
        const from = performance.now();
        const { statusCode } = await lambda.invoke(event);
        const firstMs = performance.now() - from;
        if (statusCode !== 200) throw new Error(`answered ${statusCode}: ${lambda.output()}`);
        // The first process fills the caches of files.
        if (run >= 0) {
          loaded.push(lambda.loadedMs);
          first.push(firstMs);
          both.push(lambda.loadedMs + firstMs);
          processor.push(lambda.processorMs());
        }
        await lambda.end();
      }
      return {
        title: 'A cold start of the HTTP function',
        head: ['medians', 'loaded and started', 'first call', 'both', 'processor time until then'],
        rows: [
          [
            `${(bytes / 1_000).toFixed(0)} kB, ${runs} processes`,
            ms(median(loaded)),
            ms(median(first)),
            ms(median(both)),
            ms(median(processor)),
          ],
        ],
        targets: [
          {
            name: 'import and first call of the bundled function in a fresh process',
            measured: ms(median(both)),
            target: 'less than 250 ms',
            met: median(both) < 250,
          },
        ],
      };
    } finally {
      await deployed.close();
    }
  });
