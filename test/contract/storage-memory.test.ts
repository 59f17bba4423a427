import { createMemoryStore } from '../sim/memory-store/store.ts';
import { testClock, testRandom } from '../support/harness.ts';
import { doWriterTask } from '../support/writer-work.ts';
import {
  callOf,
  type WriterBeginning,
  type WriterLine,
  type WriterReport,
  type WriterTask,
} from '../support/writers.ts';
import { storageContract } from './storage-contract.ts';

storageContract('memory', {
  open: () => {
    const clock = testClock();
    const { open } = createMemoryStore(clock);
    const store = open();
    let ticks = 0;
    let writers = 0;
    // Nothing outside this process can see the store, so its writers take turns in here.
    const write = async (task: WriterTask): Promise<WriterReport> => {
      const said: (WriterLine | WriterBeginning)[] = [];
      const random = testRandom(`writer ${++writers}`);
      const now = (): number => ++ticks;
      await doWriterTask(task, { store, clock, random, now, say: (line) => said.push(line) });
      const lines = said.filter((line): line is WriterLine => 'call' in line);
      const calls = said.flatMap((line) =>
        'begins' in line ? [callOf(task.name, line, lines)] : [],
      );
      return { lines, calls, exitCode: 0, stderr: '' };
    };
    return Promise.resolve({
      store,
      clock,
      reopen: () => Promise.resolve(open()),
      runWriters: (tasks) => Promise.all(tasks.map(write)),
      close: () => store.close(),
    });
  },
});
