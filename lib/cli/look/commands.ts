// The commands that look at a data folder: `status` and `why`. They open it for reading only.
import { visibleJson } from '../../core/display.ts';
import { isRunId } from '../../core/model/aggregate.ts';
import { timelineOf } from '../../core/timeline.ts';
import type { Commands } from '../commands.ts';
import { reading } from '../data-folder.ts';
import { CliProblem } from '../failure.ts';
import { runStory, storedRun } from '../run/stored.ts';
import { findWorkflow } from './find.ts';
import { statusLines } from './status.ts';
import { whyJson, whyLines } from './why.ts';

interface Flags {
  readonly data?: string;
  readonly tenant?: string;
}

/** Adds the commands. */
export function addLookCommands({ program, out, settings }: Commands): void {
  program
    .command('status')
    .description(
      'workflows by state, locks, what is blocked, what waits to be sent, runs that are not over',
    )
    .option('--tenant <tenant>', 'only one tenant')
    .option('--data <folder>', 'data folder (CHECKPOINT_DATA)')
    .action((flags: Flags) =>
      reading(settings(flags), async (store) => {
        for await (const line of statusLines(store, flags.tenant, Date.now())) out(line);
      }),
    );
  program
    .command('why')
    .description('the story of one workflow or run: every event, its lock, its trail')
    .argument('<workflow>', 'its id, the asset it is on, or the id of a run')
    .option('--tenant <tenant>', 'only in one tenant')
    .option('--requests', 'name the request behind each event')
    .option('--json', 'as JSON')
    .option('--data <folder>', 'data folder (CHECKPOINT_DATA)')
    .action((text: string, flags: Flags & { json?: boolean; requests?: boolean }) =>
      reading(settings(flags), async (store) => {
        if (isRunId(text)) {
          const story = await runStory(store, await storedRun(store, text, flags.tenant));
          if (flags.json === true) out(visibleJson(JSON.stringify(story.data, null, 2)));
          else for (const line of story.lines) out(line);
          return;
        }
        const { tenant, id } = await findWorkflow(store, text, flags.tenant);
        const timeline = await timelineOf(store, tenant, id);
        if (timeline === undefined) throw new CliProblem(`There is no workflow ${text}.`);
        if (flags.json === true) out(whyJson(timeline));
        else for (const line of whyLines(timeline, Date.now(), flags.requests === true)) out(line);
      }),
    );
}
